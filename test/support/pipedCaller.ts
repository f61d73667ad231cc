/**
 * A caller at the other end of two pipes in memory, driven by hand; and an offer whose handlers do what they are told.
 */
import { assert } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type * as McpServer from "../../src/server/McpServer.ts"
import * as StdioServer from "../../src/server/StdioServer.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"

/** Whatever a server has written. */
export interface Message {
  readonly jsonrpc: string
  readonly id?: JsonRpc.Id | null
  readonly method?: string
  readonly params?: { readonly [key: string]: unknown }
  readonly result?: { readonly [key: string]: unknown }
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

export const open = Effect.fnUntraced(function*(offer: McpServer.Offer, limits?: Partial<McpServer.Limits>) {
  const input = yield* Queue.unbounded<Uint8Array | undefined>()
  const messages = yield* Queue.unbounded<Message>()
  const reads = yield* Effect.makeLatch(true)
  const written: Array<string> = []
  const texts: Array<string> = []
  let isRead = true
  const link: StdioServer.StdioLink["Type"] = {
    input: Stream.repeatEffectOption(
      Effect.filterOrFail(Queue.take(input), (chunk) => chunk !== undefined, () => Option.none())
    ),
    write: (text) =>
      Effect.suspend(() => {
        texts.push(text)
        return Effect.map(reads.await, () => {
          if (!isRead) return false
          assert.isTrue(text.endsWith("\n"))
          for (const line of text.slice(0, -1).split("\n")) {
            written.push(line)
            // what is no JSON fails the test here
            messages.unsafeOffer(JSON.parse(line))
          }
          return true
        })
      })
  }
  const fiber = yield* Effect.forkScoped(
    Effect.provideService(StdioServer.serve(offer, limits), StdioServer.StdioLink, link)
  )
  const bytes = (chunk: Uint8Array): void => {
    input.unsafeOffer(chunk)
  }
  const line = (text: string): void => bytes(Buffer.from(`${text}\n`))
  const send = (message: unknown): void => line(JSON.stringify(message))
  return {
    bytes,
    line,
    send,
    request: (id: JsonRpc.Id, method: string, params?: object) =>
      send({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) }),
    notify: (method: string, params?: object) =>
      send({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) }),
    /** Writes no more. */
    end: Effect.sync(() => {
      input.unsafeOffer(undefined)
    }),
    next: Queue.take(messages),
    /** As many as there are by now. */
    taken: Queue.takeAll(messages),
    /** Reads no more, until it does again. */
    pause: reads.close,
    resume: reads.open,
    /** The pipe is broken. */
    leave: Effect.suspend(() => {
      isRead = false
      return reads.open
    }),
    written,
    /** What was handed over to be written, as it was. */
    texts,
    fiber,
    ended: Fiber.join(fiber)
  }
})

export type Caller = Effect.Effect.Success<ReturnType<typeof open>>

export const capabilities = { elicitation: {}, sampling: {}, roots: {} }

/** Introduces itself, and waits until that was answered. */
export const initialize = (caller: Caller, protocolVersion = "2025-11-25") =>
  Effect.zipRight(
    Effect.sync(() =>
      caller.request("init", "initialize", { protocolVersion, capabilities, clientInfo: { name: "t", version: "1" } })
    ),
    Effect.tap(caller.next, (answer) => Effect.sync(() => assert.strictEqual(answer.id, "init")))
  )

/** A caller that has introduced itself. */
export const initialized = (offer: McpServer.Offer, limits?: Partial<McpServer.Limits>) =>
  Effect.tap(open(offer, limits), (caller) => initialize(caller))

/** What a request of the stateless era says beside its own parameters. */
export const stateless = (params: object = {}, meta: object = {}): JsonRpc.JsonObject => ({
  ...params,
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
    ...meta
  }
})

/** An offer with these handlers. */
export const offer = (
  handlers: Readonly<Record<string, McpServer.Handler>> = {},
  more: Partial<McpServer.Offer> & { readonly service?: Partial<McpServer.Service> } = {}
): McpServer.Offer => {
  const { service, ...rest } = more
  return {
    info: { name: "test", version: "1.0.0" },
    capabilities: { tools: {}, logging: {} },
    open: () => Effect.succeed({ handlers: new Map(Object.entries(handlers)), ...service }),
    ...rest
  }
}

export const echo: McpServer.Handler = ({ params }) => Effect.succeed({ echo: params })

/** Handlers that begin, and end when they are told. */
export const held = Effect.sync(() => {
  const gates = new Map<
    string,
    {
      readonly begun: Deferred.Deferred<void>
      readonly open: Deferred.Deferred<void>
      readonly stopped: Deferred.Deferred<void>
    }
  >()
  const gate = (name: string) => {
    const known = gates.get(name)
    if (known !== undefined) return known
    const made = {
      begun: Deferred.unsafeMake<void>(FiberId.none),
      open: Deferred.unsafeMake<void>(FiberId.none),
      stopped: Deferred.unsafeMake<void>(FiberId.none)
    }
    gates.set(name, made)
    return made
  }
  const handler: McpServer.Handler = ({ params }) =>
    Effect.suspend(() => {
      const name = String(params["name"])
      const { begun, open, stopped } = gate(name)
      return Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(open)).pipe(
        Effect.onInterrupt(() => Deferred.succeed(stopped, undefined)),
        Effect.as({ name })
      )
    })
  return {
    handler,
    begun: (name: string) => Deferred.await(gate(name).begun),
    stopped: (name: string) => Deferred.await(gate(name).stopped),
    release: (name: string) => Deferred.succeed(gate(name).open, undefined)
  }
})
