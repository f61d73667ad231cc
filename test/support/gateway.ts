/** A gateway over peers in memory, and callers of it. */
import { Context, Effect, Layer } from "effect"
import * as InputHandlers from "../../src/client/InputHandlers.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as Approval from "../../src/safety/Approval.ts"
import * as Grants from "../../src/safety/Grants.ts"
import * as OutputGuard from "../../src/safety/OutputGuard.ts"
import * as Spill from "../../src/safety/Spill.ts"
import * as Tokens from "../../src/safety/Tokens.ts"
import * as McpServe from "../../src/server/McpServe.ts"
import * as McpServer from "../../src/server/McpServer.ts"
import type * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as ToolCache from "../../src/tools/ToolCache.ts"
import * as ToolPins from "../../src/tools/ToolPins.ts"
import * as ToolSearch from "../../src/tools/ToolSearch.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as Runtime from "./runtime.ts"

type Peers = Parameters<typeof MemoryTransport.layer>[0]

export interface Options extends Omit<Runtime.Options, "servers"> {
  readonly serve?: Partial<McpServe.Options>
  readonly guard?: Partial<OutputGuard.Options>
}

const open = { model: "allow", program: "allow", person: "allow" } as const

const runtimes = (
  peers: Peers,
  servers: ReadonlyArray<ServerConfig.ServerConfig>,
  options: Options,
  kept: Context.Context<Grants.Grants | ToolCache.ToolCache | ToolPins.ToolPins>
): McpServe.Runtimes["Type"] => ({
  open: ({ approval, handlers, lazy }) =>
    Layer.build(
      Runtime.layer(peers, {
        permissions: { otherwise: open },
        cache: Layer.succeed(ToolCache.ToolCache, Context.get(kept, ToolCache.ToolCache)),
        grants: Layer.succeed(Grants.Grants, Context.get(kept, Grants.Grants)),
        pins: Layer.succeed(ToolPins.ToolPins, Context.get(kept, ToolPins.ToolPins)),
        ...(approval === undefined ? {} : { approval: Layer.succeed(Approval.Approval, approval) }),
        ...options,
        servers: lazy ? servers.map((server) => ({ ...server, lazy })) : servers
      }).pipe(Layer.provide(InputHandlers.layer(handlers ?? {})))
    )
})

export const make = (peers: Peers, servers: ReadonlyArray<ServerConfig.ServerConfig>, options: Options = {}) =>
  Effect.gen(function*() {
    const kept = yield* Layer.build(
      Layer.mergeAll(Grants.layerMemory, ToolCache.layer(), ToolPins.layerMemory()).pipe(Layer.provide(McpEvent.layer))
    )
    const needed = yield* Layer.build(Layer.mergeAll(
      Layer.succeed(McpServe.Runtimes, runtimes(peers, servers, options, kept)),
      Layer.provide(OutputGuard.layer({ readTool: "mcp_read_output", ...options.guard }), [
        Spill.layerMemory(),
        Tokens.layerEstimate,
        McpEvent.layer
      ]),
      ToolSearch.layer()
    ))
    return yield* Effect.provide(McpServe.make(options.serve), needed)
  })

export interface Asked {
  readonly method: string
  readonly params: JsonRpc.JsonObject | undefined
}

export interface Caller {
  readonly call: (
    method: string,
    params?: JsonRpc.JsonObject,
    headers?: Readonly<Record<string, string>>
  ) => Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal>
  /** What it was asked, in order. */
  readonly asked: ReadonlyArray<Asked>
  /** What it was told outside of requests. */
  readonly told: ReadonlyArray<string>
  readonly logged: ReadonlyArray<McpServer.LogMessage>
  readonly progress: ReadonlyArray<number>
  /** Succeeds once it was told this. */
  readonly hears: (method: string) => Effect.Effect<void>
  readonly service: McpServer.Service
}

export interface CallerOptions {
  readonly era?: McpServer.Caller["era"]
  readonly link?: McpServer.Caller["link"]
  readonly principal?: string
  readonly capabilities?: JsonRpc.JsonObject
  /** What it answers when it is asked. */
  readonly answer?: (asked: Asked) => Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal>
}

/** A caller as an engine would present it. */
export const caller = (gateway: McpServer.Offer, options: CallerOptions = {}) =>
  Effect.gen(function*() {
    const { answer, capabilities = {}, era = "session", link = "http", principal } = options
    const who: McpServer.Caller = {
      era,
      link,
      protocolVersion: era === "session" ? "2025-11-25" : "2026-07-28",
      clientInfo: undefined,
      capabilities,
      principal
    }
    const asked: Array<Asked> = []
    const told: Array<string> = []
    const logged: Array<McpServer.LogMessage> = []
    const progress: Array<number> = []
    const listeners = new Set<() => void>()
    const ask: McpServer.Peer["ask"] = (method, params) =>
      Effect.suspend(() => {
        asked.push({ method, params })
        return answer?.({ method, params }) ??
          Effect.fail(new McpServer.Refusal({ code: McpServer.codes.internal, message: "nobody" }))
      })
    const peer: McpServer.Peer = {
      // without a session nobody is known before a request comes
      caller: era === "session" ? who : { ...who, capabilities: {} },
      notify: (method) => {
        told.push(method)
        for (const listener of listeners) listener()
      },
      log: (message) => {
        logged.push(message)
        for (const listener of listeners) listener()
      },
      ask: era === "session" ? ask : () => Effect.die("nobody is asked outside of a request")
    }
    const service = yield* gateway.open(peer)
    const call: Caller["call"] = (method, params = {}, headers = {}) =>
      Effect.suspend(() =>
        service.handlers.get(method)?.({
          caller: who,
          method,
          params,
          header: (name) => headers[name.toLowerCase()],
          progress: (one) => progress.push(one.progress),
          log: peer.log,
          notify: peer.notify,
          ask
        }) ?? Effect.die(`no handler for ${method}`)
      )
    const made: Caller = {
      call,
      asked,
      told,
      logged,
      progress,
      hears: (method) =>
        Effect.async<void>((resume) => {
          const look = (): void => {
            if (!told.includes(method) && !(method === "log" && logged.length > 0)) return
            listeners.delete(look)
            resume(Effect.void)
          }
          listeners.add(look)
          look()
        }),
      service
    }
    return made
  })

export const named = (result: JsonRpc.JsonObject, list: "tools" | "prompts"): ReadonlyArray<unknown> => {
  const items = result[list]
  return Array.isArray(items) ? items.map((item: JsonRpc.JsonObject) => item["name"]) : []
}

export const textOf = (result: JsonRpc.JsonObject): string => {
  const content = result["content"]
  return Array.isArray(content) ? content.map((part: JsonRpc.JsonObject) => part["text"]).join("") : ""
}
