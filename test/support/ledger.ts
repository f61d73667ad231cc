/** An HTTP server with sessions that counts what it executes, and in which session each message came. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Http from "node:http"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as Peer from "../fixtures/httpPeer.ts"
import * as Configs from "./configs.ts"

export interface Tool {
  readonly name: string
  readonly annotations?: Readonly<Record<string, boolean>>
  readonly execution?: { readonly taskSupport: "required" }
}

export interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly [key: string]: unknown }
}

export interface Request {
  readonly hit: Peer.Hit
  readonly message: Message
  readonly method: string
  /** The tool, for a call. */
  readonly tool: string | undefined
  readonly session: string | undefined
  /** The behaviour without a script. */
  readonly standard: () => void
  readonly status: (status: number, headers?: Http.OutgoingHttpHeaders) => void
  readonly result: (result: unknown) => void
}

export interface Options {
  readonly tools?: ReadonlyArray<Tool>
  readonly capabilities?: Readonly<Record<string, unknown>>
}

export interface Ledger {
  readonly url: string
  /** How often a tool was executed. */
  readonly executions: (tool: string) => number
  /** The sessions in which requests of a method came, in order; `undefined` for a request without a session id. */
  readonly sessions: (method: string) => ReadonlyArray<string | undefined>
  /** The methods of messages that came without a session id, `initialize` and `server/discover` left out. */
  readonly withoutSession: () => ReadonlyArray<string>
  readonly count: (method: string) => number
  readonly until: Peer.HttpPeer["until"]
  /** Answers requests instead of the standard behaviour; `standard` can be called from it. */
  script: (request: Request) => void
  /** The server forgets its sessions. */
  readonly expire: () => void
  readonly config: (more?: Partial<ServerConfig.HttpInput>) => ServerConfig.ServerConfig
}

const text = (value: string) => ({ content: [{ type: "text", text: value }] })

export const serve = (options: Options = {}): Effect.Effect<Ledger, never, Scope.Scope> =>
  Effect.gen(function*() {
    const executed = new Map<string, number>()
    const seen: Array<{ readonly method: string; readonly session: string | undefined }> = []
    const open = new Set<string>()
    let begun = 0

    const result = (hit: Peer.Hit, value: unknown) => Peer.json(hit, Peer.answer(hit, value))

    const standard = ({ hit, method, session, status, tool }: Omit<Request, "standard">): void => {
      if (method === "server/discover") {
        return Peer.json(hit, {
          jsonrpc: "2.0",
          id: hit.message?.id,
          error: { code: -32601, message: "Method not found" }
        })
      }
      if (method === "initialize") {
        const id = `session-${++begun}`
        open.add(id)
        return Peer.json(
          hit,
          Peer.answer(hit, {
            protocolVersion: "2025-11-25",
            capabilities: options.capabilities ?? { tools: {}, resources: {}, prompts: {} },
            serverInfo: { name: "ledger", version: "1" }
          }),
          { "mcp-session-id": id }
        )
      }
      if (session === undefined) return status(400)
      if (!open.has(session)) return status(404)
      if (hit.message?.id === undefined) return status(202)
      switch (method) {
        case "ping":
          return result(hit, {})
        case "tools/list":
          return result(hit, {
            tools: (options.tools ?? []).map((tool) => ({ inputSchema: { type: "object" }, ...tool }))
          })
        case "tools/call":
          return result(hit, text(`${tool} in ${session}`))
        case "resources/list":
          return result(hit, { resources: [{ uri: "file:///a", name: "a" }] })
        case "resources/templates/list":
          return result(hit, { resourceTemplates: [] })
        case "resources/read":
          return result(hit, { contents: [{ uri: "file:///a", text: `read in ${session}` }] })
        case "prompts/list":
          return result(hit, { prompts: [{ name: "p" }] })
        case "prompts/get":
          return result(hit, { messages: [{ role: "user", content: { type: "text", text: `got in ${session}` } }] })
        default:
          return Peer.json(hit, {
            jsonrpc: "2.0",
            id: hit.message.id,
            error: { code: -32601, message: "Method not found" }
          })
      }
    }

    const peer = yield* Peer.serve((hit) => {
      if (hit.verb !== "POST") return void hit.response.writeHead(hit.verb === "DELETE" ? 200 : 405).end()
      // the cast: the client under test is trusted to send JSON-RPC
      const message = (hit.message ?? {}) as Message
      const method = message.method ?? "an answer"
      const id = hit.headers["mcp-session-id"]
      const session = typeof id === "string" ? id : undefined
      const name = method === "tools/call" ? message.params?.["name"] : undefined
      const tool = typeof name === "string" ? name : undefined
      seen.push({ method, session })
      const given: Omit<Request, "standard"> = {
        hit,
        message,
        method,
        tool,
        session,
        status: (status, headers = {}) => void hit.response.writeHead(status, headers).end(),
        result: (value) => result(hit, value)
      }
      if (tool !== undefined) executed.set(tool, (executed.get(tool) ?? 0) + 1)
      ledger.script({ ...given, standard: () => standard(given) })
    })

    const ledger: Ledger = {
      url: peer.url,
      executions: (tool) => executed.get(tool) ?? 0,
      sessions: (method) => seen.filter((one) => one.method === method).map(({ session }) => session),
      withoutSession: () =>
        seen.filter(({ method, session }) =>
          session === undefined && method !== "initialize" && method !== "server/discover"
        ).map(({ method }) => method),
      count: (method) => seen.filter((one) => one.method === method).length,
      until: peer.until,
      script: ({ standard }) => standard(),
      expire: () => open.clear(),
      config: (more) => Configs.http({ name: "ledger", url: peer.url, sseFallback: false, ...more })
    }
    return ledger
  })
