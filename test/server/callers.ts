/** Clients that nobody here wrote, each with what it can, in the same words. */
import { createMCPClient, ElicitationRequestSchema } from "@ai-sdk/mcp"
import * as AiStdio from "@ai-sdk/mcp/mcp-stdio"
import * as Two from "@modelcontextprotocol/client"
import * as TwoStdio from "@modelcontextprotocol/client/stdio"
import * as One from "@modelcontextprotocol/sdk/client/index.js"
import * as OneStdio from "@modelcontextprotocol/sdk/client/stdio.js"
import * as OneHttp from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import * as Schemas from "@modelcontextprotocol/sdk/types.js"
import type * as Serving from "./serving.ts"

export type Kind = "SDK 1.x" | "SDK 2.x" | "SDK 2.x, which looks for itself" | "SDK 2.x, stateless" | "AI SDK"

export type Target = Serving.Command | Serving.Listening

export interface Note {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

export interface CallOptions {
  readonly onprogress?: (progress: { readonly progress: number }) => void
  readonly signal?: AbortSignal
  /** What is said beside the protocol. */
  readonly meta?: Readonly<Record<string, unknown>>
}

export interface Result {
  readonly content: ReadonlyArray<{ readonly type: string; readonly text?: string; readonly data?: string }>
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly isError?: boolean
}

type Fields = Readonly<Record<string, unknown>>

/** A result of which nothing is decoded, by the fields that tests look at. */
export interface Raw {
  readonly content?: ReadonlyArray<Fields>
  readonly contents?: ReadonlyArray<Fields>
  readonly messages?: ReadonlyArray<unknown>
  readonly structuredContent?: unknown
  readonly tools?: ReadonlyArray<Fields>
  readonly _meta?: Fields
}

export interface Caller {
  readonly isStateless: boolean
  readonly tools: () => Promise<ReadonlyArray<string>>
  readonly call: (name: string, args?: Record<string, unknown>, options?: CallOptions) => Promise<Result>
  readonly prompts: () => Promise<ReadonlyArray<string>>
  readonly prompt: (name: string, args: Record<string, string>) => Promise<unknown>
  readonly resources: () => Promise<ReadonlyArray<string>>
  readonly read: (uri: string) => Promise<unknown>
  /** `capabilities.extensions` of the server. */
  readonly extensions: () => unknown
  /** The result of any request, as it came. */
  readonly raw: (method: string, params?: Record<string, unknown>) => Promise<Raw>
  /** The first notification of which this holds, also one that came before. */
  readonly heard: (holds: (note: Note) => boolean) => Promise<Note>
  /** Asks to be told of lists that change, where that has to be asked for. */
  readonly listen: () => Promise<unknown>
  readonly setLevel: (level: "warning") => Promise<unknown>
  readonly close: () => Promise<void>
}

/** The capabilities that a client declares, which are all that it answers. */
export interface Capabilities {
  readonly elicitation?: { form: {} }
  readonly sampling?: {}
  readonly roots?: {}
  readonly extensions?: Record<string, {}>
}

const everything: Capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} }

/** What a person and a model say, whatever they are asked. */
const answers = {
  elicit: (message: string) => ({ action: "accept" as const, content: { answer: `to ${message}` } }),
  sample: { role: "assistant" as const, model: "none", content: { type: "text" as const, text: "a sample" } },
  roots: { roots: [{ uri: "file:///root", name: "root" }] }
}

const hearing = () => {
  const notes: Array<Note> = []
  const listeners = new Set<(note: Note) => void>()
  return {
    tell: ({ method, params }: { readonly method: string; readonly params?: unknown }): void => {
      // the cast: what a client has decoded
      const note = { method, params: (params ?? {}) as Note["params"] }
      notes.push(note)
      for (const listener of listeners) listener(note)
    },
    heard: (holds: (note: Note) => boolean): Promise<Note> =>
      new Promise((resolve) => {
        const before = notes.find(holds)
        if (before !== undefined) return resolve(before)
        const listener = (note: Note): void => {
          if (!holds(note)) return
          listeners.delete(listener)
          resolve(note)
        }
        listeners.add(listener)
      })
  }
}

const isCommand = (target: Target): target is Serving.Command => "command" in target

const process = ({ args, command, env }: Serving.Command) => ({ command, args: [...args], env: { ...env } })

const nothing = () => Promise.resolve()

/** Accepts every result. */
const anything = {
  "~standard": {
    version: 1,
    vendor: "callers",
    // the cast: what a client has decoded
    validate: (value: unknown) => ({ value: value as Raw })
  }
} as const

const one = async (target: Target, capabilities = everything): Promise<Caller> => {
  const { heard, tell } = hearing()
  const client = new One.Client({ name: "one", version: "1" }, { capabilities })
  if (capabilities.elicitation) {
    client.setRequestHandler(Schemas.ElicitRequestSchema, ({ params }) => answers.elicit(params.message))
  }
  if (capabilities.sampling) client.setRequestHandler(Schemas.CreateMessageRequestSchema, () => answers.sample)
  if (capabilities.roots) client.setRequestHandler(Schemas.ListRootsRequestSchema, () => answers.roots)
  client.fallbackNotificationHandler = async (note) => tell(note)
  await client.connect(
    isCommand(target)
      ? new OneStdio.StdioClientTransport({ ...process(target), stderr: "ignore" })
      // the cast: it says of its session that it may be undefined, and of transports that they may have none
      : new OneHttp.StreamableHTTPClientTransport(new URL(target.url), {
        requestInit: { headers: { ...target.headers } }
      }) as Parameters<typeof client.connect>[0]
  )
  return {
    isStateless: false,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    // the cast: the old form of a result is not among what servers send any more
    call: async (name, args = {}, { meta: _meta, ...options } = {}) =>
      await client.callTool({ name, arguments: args, _meta }, undefined, options) as Result,
    prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    prompt: async (name, args) => (await client.getPrompt({ name, arguments: args })).messages[0]?.content,
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    read: async (uri) => (await client.readResource({ uri })).contents[0],
    extensions: () => client.getServerCapabilities()?.extensions,
    // the cast: the fields are those of the protocol
    raw: (method, params = {}) => client.request({ method, params }, Schemas.ResultSchema) as Promise<Raw>,
    heard,
    listen: nothing,
    setLevel: (level) => client.setLoggingLevel(level),
    close: () => client.close()
  }
}

const two =
  (mode: "auto" | { readonly pin: string } | undefined) =>
  async (target: Target, capabilities = everything): Promise<Caller> => {
    const { heard, tell } = hearing()
    const client = new Two.Client(
      { name: "two", version: "1" },
      mode === undefined ? { capabilities } : { capabilities, versionNegotiation: { mode } }
    )
    if (capabilities.elicitation) {
      client.setRequestHandler("elicitation/create", ({ params }) => answers.elicit(params.message))
    }
    if (capabilities.sampling) client.setRequestHandler("sampling/createMessage", () => answers.sample)
    if (capabilities.roots) client.setRequestHandler("roots/list", () => answers.roots)
    client.setNotificationHandler("notifications/message", tell)
    client.fallbackNotificationHandler = async (note) => tell(note)
    await client.connect(
      isCommand(target)
        ? new TwoStdio.StdioClientTransport({ ...process(target), stderr: "ignore" })
        : new Two.StreamableHTTPClientTransport(new URL(target.url), {
          requestInit: { headers: { ...target.headers } }
        })
    )
    const isStateless = client.getNegotiatedProtocolVersion() === "2026-07-28"
    const now = { cacheMode: "refresh" } as const
    return {
      isStateless,
      tools: async () => (await client.listTools(undefined, now)).tools.map(({ name }) => name),
      // the cast: contents of any kind, of which only these fields are looked at
      call: async (name, args = {}, { meta: _meta, ...options } = {}) =>
        await client.callTool({ name, arguments: args, _meta }, options) as Result,
      prompts: async () => (await client.listPrompts(undefined, now)).prompts.map(({ name }) => name),
      prompt: async (name, args) => (await client.getPrompt({ name, arguments: args })).messages[0]?.content,
      resources: async () => (await client.listResources(undefined, now)).resources.map(({ uri }) => uri),
      read: async (uri) => (await client.readResource({ uri }, now)).contents[0],
      extensions: () => client.getServerCapabilities()?.extensions,
      raw: async (method, params = {}) => await client.request({ method, params }, anything) as Raw,
      heard,
      listen: () => isStateless ? client.listen({ toolsListChanged: true }) : Promise.resolve(),
      setLevel: (level) => isStateless ? Promise.resolve() : client.setLoggingLevel(level),
      close: () => client.close()
    }
  }

const ai = async (target: Target, { elicitation }: Capabilities = everything): Promise<Caller> => {
  const { heard } = hearing()
  const client = await createMCPClient({
    capabilities: elicitation === undefined ? {} : { elicitation: {} },
    transport: isCommand(target)
      ? new AiStdio.Experimental_StdioMCPTransport({ ...process(target), stderr: "ignore" })
      : { type: "http", url: target.url, headers: { ...target.headers } }
  })
  if (elicitation !== undefined) {
    client.onElicitationRequest(ElicitationRequestSchema, ({ params }) => answers.elicit(params.message))
  }
  const options = (signal: AbortSignal | undefined) => ({
    messages: [],
    toolCallId: "1",
    context: {},
    ...(signal === undefined ? {} : { abortSignal: signal })
  })
  return {
    isStateless: false,
    tools: async () => Object.keys(await client.tools()),
    call: async (name, args = {}, { signal } = {}) => {
      const tools = await client.tools()
      // the cast: of tools that are found nothing is known of their results
      return await tools[name]!.execute(args, options(signal)) as Result
    },
    prompts: async () => (await client.experimental_listPrompts()).prompts.map(({ name }) => name),
    prompt: async (name, args) => (await client.experimental_getPrompt({ name, arguments: args })).messages[0]?.content,
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    read: async (uri) => (await client.readResource({ uri })).contents[0],
    extensions: () => undefined,
    raw: () => Promise.reject(new Error("this client has no requests of its own")),
    heard,
    listen: nothing,
    setLevel: nothing,
    close: () => client.close()
  }
}

export const connect: Readonly<Record<Kind, (target: Target, capabilities?: Capabilities) => Promise<Caller>>> = {
  "SDK 1.x": one,
  "SDK 2.x": two(undefined),
  "SDK 2.x, which looks for itself": two("auto"),
  "SDK 2.x, stateless": two({ pin: "2026-07-28" }),
  "AI SDK": ai
}

/** Waits until all of these tools are there, once the caller listens: servers that have not come yet are not waited for by a list. */
export const whenOffered = async (caller: Caller, names: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const seen = new Set<Note>()
  for (;;) {
    const there = await caller.tools()
    if (names.every((name) => there.includes(name))) return there
    seen.add(await caller.heard((note) => note.method === "notifications/tools/list_changed" && !seen.has(note)))
  }
}
