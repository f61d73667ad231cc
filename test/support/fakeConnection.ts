/** A connection whose answers are written in the test, and that remembers what it was asked. */
import { Deferred, Effect } from "effect"
import type * as McpClient from "../../src/client/McpClient.ts"
import type * as Tasks from "../../src/client/tasks.ts"
import * as Limits from "../../src/config/Limits.ts"
import * as McpError from "../../src/McpError.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"

export interface Asked {
  readonly method: string
  readonly params: JsonRpc.JsonObject | undefined
  readonly options: McpClient.RequestOptions | undefined
}

export type Answer = (asked: Asked, nth: number) => Effect.Effect<JsonRpc.JsonObject, McpError.CallError>

export interface Options {
  readonly era?: McpClient.Channel["era"]
  readonly transport?: McpClient.Channel["transport"]
  readonly capabilities?: JsonRpc.JsonObject
  readonly limits?: Partial<Limits.Limits>
  readonly tasks?: Tasks.Tasks
  /** By method; what is missing is answered with -32601. */
  readonly answers?: Readonly<Record<string, Answer | JsonRpc.JsonObject>>
}

export interface FakeConnection extends McpClient.Channel {
  readonly asked: ReadonlyArray<Asked>
  readonly askedFor: (method: string) => ReadonlyArray<Asked>
  readonly notified: ReadonlyArray<{ readonly method: string; readonly params: JsonRpc.JsonObject | undefined }>
  /** The server says something. */
  readonly say: (method: string, params?: JsonRpc.JsonObject) => void
  readonly listeners: () => number
  readonly watching: ReadonlyArray<McpClient.WatchFilter>
  readonly end: (error: McpError.ConnectError) => Effect.Effect<void>
}

export const remoteError = (code: number, data?: unknown) =>
  new McpError.RemoteError({ server: "fake", code, detail: "refused", data })

export const make = (options: Options = {}): Effect.Effect<FakeConnection> =>
  Effect.gen(function*() {
    const asked: Array<Asked> = []
    const notified: Array<{ method: string; params: JsonRpc.JsonObject | undefined }> = []
    const watching: Array<McpClient.WatchFilter> = []
    const listeners = new Set<(notification: McpClient.Notification) => void>()
    const ended = yield* Deferred.make<McpError.ConnectError>()
    const endings = new Set<(error: McpError.ConnectError) => void>()
    const answers = new Map(Object.entries(options.answers ?? {}))
    const counts = new Map<string, number>()
    return {
      server: "fake",
      transport: options.transport ?? "memory",
      limits: { ...Limits.defaults, ...options.limits },
      era: options.era ?? "session",
      protocolVersion: options.era === "stateless" ? "2026-07-28" : "2025-11-25",
      serverInfo: { name: "fake", version: "1" },
      capabilities: options.capabilities ?? { tools: {}, resources: {}, prompts: {} },
      instructions: undefined,
      request: (method, params, own) =>
        Effect.suspend(() => {
          const one: Asked = { method, params, options: own }
          asked.push(one)
          const nth = counts.get(method) ?? 0
          counts.set(method, nth + 1)
          const answer = answers.get(method)
          if (answer === undefined) return Effect.fail(remoteError(-32601))
          return typeof answer === "function" ? answer(one, nth) : Effect.succeed(answer)
        }),
      notify: (method, params) =>
        Effect.sync(() => {
          notified.push({ method, params })
        }),
      onNotification: (listener) => {
        listeners.add(listener)
        return () => {
          listeners.delete(listener)
        }
      },
      watch: (filter) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            watching.push(filter)
          }),
          () => Effect.sync(() => watching.splice(watching.indexOf(filter), 1))
        ),
      setLogLevel: () => Effect.void,
      health: Effect.void,
      ended: Deferred.await(ended),
      onEnded: (listener) => {
        endings.add(listener)
        return () => {
          endings.delete(listener)
        }
      },
      onPaused: () => () => undefined,
      stderrTail: Effect.as(Effect.void, undefined),
      tasks: options.tasks,
      asked,
      askedFor: (method) => asked.filter((one) => one.method === method),
      notified,
      say: (method, params = {}) => {
        for (const listener of listeners) listener({ method, params })
      },
      listeners: () => listeners.size,
      watching,
      end: (error) =>
        Effect.suspend(() => {
          for (const listener of endings) listener(error)
          return Effect.asVoid(Deferred.succeed(ended, error))
        })
    }
  })
