/** The servers at the other end: what they offer, what was done by them, and how they go wrong. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fingerprint from "../../src/config/Fingerprint.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpError from "../../src/McpError.ts"
import * as Faults from "../../src/testing/Faults.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as Configs from "../support/configs.ts"
import * as Script from "./script.ts"

export interface Host {
  readonly plan: Script.HostPlan
  readonly peer: MemoryServer.Server
  /** Grows with each change of what it offers. */
  version: number
  offered: ReadonlyArray<string>
}

export interface World {
  readonly hosts: ReadonlyMap<string, Host>
  /** How often the call that carries a token was started, and where. */
  readonly executions: ReadonlyMap<number, number>
  /** How often it has reached a server. */
  readonly arrivals: () => ReadonlyMap<number, number>
  readonly afflict: (host: string, fault: Script.Fault) => Effect.Effect<void>
  readonly heal: Effect.Effect<void>
}

const numberIn = (args: object, key: string): number => {
  const value: unknown = new Map<string, unknown>(Object.entries(args)).get(key)
  return typeof value === "number" ? value : 0
}

const hints = new Map<string, { readonly readOnlyHint: boolean }>([["read", { readOnlyHint: true }]])

/** Whether a trusted server says that it does no harm to run it twice. */
export const isHarmless = (tool: string): boolean => hints.has(tool)

const behaviours = new Map<string, MemoryServer.Tool["call"]>([
  ["fail", () => Effect.fail(new MemoryServer.Refused({ code: -32603, message: "refused" }))],
  ["never", (_, { cancelled }) => Effect.as(cancelled, "cancelled")],
  ["echo", (args) => Effect.succeed(`done ${numberIn(args, "token")}`)],
  [
    "wrong",
    (args) => Effect.succeed({ content: [{ type: "text", text: `done ${numberIn(args, "token")}` }], isError: true })
  ],
  ["progress", (args, { progress }) =>
    Effect.as(
      Effect.forEach([1, 2, 3, 4], (step) => Effect.delay(progress(step, 4), Math.ceil(numberIn(args, "works") / 4)), {
        discard: true
      }),
      `done ${numberIn(args, "token")}`
    )]
])

const slow: MemoryServer.Tool["call"] = (args) =>
  Effect.delay(Effect.succeed(`done ${numberIn(args, "token")}`), numberIn(args, "works"))

const toolOf = (
  executions: Map<number, number>,
  version: number
) =>
(name: string): MemoryServer.Tool => ({
  name,
  description: `v${version}`,
  annotations: hints.get(name),
  call: (args, context) =>
    Effect.suspend(() => {
      const token = numberIn(args, "token")
      executions.set(token, (executions.get(token) ?? 0) + 1)
      return (behaviours.get(name) ?? slow)(args, context)
    })
})

const makeHost = (plan: Script.HostPlan, executions: Map<number, number>): Effect.Effect<Host> =>
  Effect.map(
    MemoryServer.make({
      era: plan.era,
      streamPerRequest: plan.streamPerRequest,
      pageSize: plan.pageSize,
      ignoresCancellation: plan.ignoresCancellation,
      ttlMs: plan.ttlMs,
      tools: Script.tools.map(toolOf(executions, 1)),
      resources: [
        { uri: "file:///a", name: "a", read: () => Effect.succeed("a") },
        { uri: "file:///slow", name: "slow", read: () => Effect.delay(Effect.succeed("slow"), "4 seconds") }
      ],
      prompts: [{ name: "p", get: () => Effect.succeed("prompt") }]
    }),
    (peer): Host => ({ plan, peer, version: 1, offered: Script.tools })
  )

const network: Faults.End = (server, outcome) =>
  new McpError.NetworkError({ server, code: "ECONNREFUSED", detail: "refused", outcome })

const refusals: { readonly [R in Script.Refusal]: Faults.End } = {
  network,
  spawn: (server) => new McpError.SpawnFailed({ server, errno: "ENOENT", command: server, detail: "not found" }),
  unauthorized: (server) => new McpError.AuthorizationFailed({ server, reason: "unauthorized" }),
  limited: (server) =>
    new McpError.HttpError({
      server,
      reason: "rate-limited",
      outcome: "not-sent",
      detail: "later",
      retryAfter: Duration.seconds(7)
    }),
  lost: Faults.lost("reset")
}

const ends = {
  lost: Faults.lost(),
  killed: Faults.killed(),
  exited: Faults.exited(1)
}

const rates = (wild: number): Faults.Rates => ({
  refuse: 0.1 * wild,
  drop: 0.01 * wild,
  discard: 0.5,
  lose: 0.03 * wild,
  duplicate: 0.05 * wild,
  stray: 0.05 * wild,
  garbage: 0.05 * wild,
  delay: 0.15 * wild,
  maxDelay: Duration.millis(400 * wild)
})

export const make = (plans: ReadonlyArray<Script.HostPlan>): Effect.Effect<World> =>
  Effect.gen(function*() {
    const executions = new Map<number, number>()
    const hosts = new Map<string, Host>()
    for (const plan of plans) hosts.set(plan.host, yield* makeHost(plan, executions))

    const afflict = (name: string, fault: Script.Fault): Effect.Effect<void> => {
      const host = hosts.get(name)
      if (host === undefined) return Effect.void
      const { peer } = host
      switch (fault._tag) {
        case "drop":
          return peer.drop(ends[fault.how], { discard: fault.discard })
        case "hang":
          return peer.hang
        case "unhang":
          return peer.unhang
        case "halfClose":
          return peer.halfClose
        case "garbage":
          return peer.garbage("{ this is no message")
        case "stray":
          return peer.broadcast({ jsonrpc: "2.0", id: 1, result: {} })
        case "delay":
          return peer.delay(fault.millis)
        case "duplicate":
          return peer.duplicate(fault.copies)
        case "refuse":
          return peer.refuseConnect(refusals[fault.how], fault.times)
        case "slow":
          return peer.slowConnect(fault.millis)
        case "chaos":
          return peer.chaos(fault.seed, rates(fault.wild))
        case "heal":
          return peer.heal
        case "update":
          return Effect.suspend(() => {
            host.version++
            host.offered = Script.tools.slice(0, fault.tools)
            return peer.update({ tools: host.offered.map(toolOf(executions, host.version)) })
          })
        case "storm":
          return Effect.forEach(
            Array.from({ length: fault.times }),
            () => peer.notify("notifications/tools/list_changed"),
            { discard: true }
          )
        case "updated":
          return peer.resourceUpdated("file:///a")
        case "endSubscriptions":
          return peer.endSubscriptions
      }
    }

    return {
      hosts,
      executions,
      arrivals: () => {
        const arrived = new Map<number, number>()
        for (const { peer } of hosts.values()) {
          for (const message of peer.received("tools/call")) {
            // the cast: these are the calls of this simulation, whose arguments are its own
            const { params } = message as unknown as { readonly params: { readonly arguments?: object } }
            const token = numberIn(params.arguments ?? {}, "token")
            arrived.set(token, (arrived.get(token) ?? 0) + 1)
          }
        }
        return arrived
      },
      afflict,
      heal: Effect.forEach(hosts.values(), ({ peer }) => peer.heal, { discard: true })
    }
  })

const planned = new WeakMap<ServerConfig.ServerConfig, Script.ServerPlan>()

/** The plan of which a configuration was made. */
export const planOf = (config: ServerConfig.ServerConfig): Script.ServerPlan | undefined => planned.get(config)

/** What a plan is to the runtime. */
export const config = (plan: Script.ServerPlan): ServerConfig.ServerConfig => {
  const made = configOf(plan)
  planned.set(made, plan)
  return made
}

const configOf = (plan: Script.ServerPlan): ServerConfig.ServerConfig => {
  const common = {
    name: plan.name,
    lazy: plan.lazy,
    enabled: plan.enabled,
    blocked: plan.blocked,
    trusted: plan.trusted,
    idleTimeout: plan.idleTimeout,
    concurrency: plan.concurrency,
    disabledTools: plan.disabledTools,
    startupTimeout: plan.startupTimeout,
    requestTimeout: plan.requestTimeout,
    toolTimeout: plan.toolTimeout,
    listTimeout: plan.listTimeout,
    stallTimeout: plan.stallTimeout
  }
  return plan.transport === "stdio"
    ? Configs.stdio({ ...common, command: plan.host, args: [String(plan.variant)] })
    : Configs.http({ ...common, url: `http://${plan.host}.test/${plan.variant}` })
}

/** The host that a configuration names. */
export const hostOf = (config: ServerConfig.ServerConfig): string => {
  switch (config.transport) {
    case "stdio":
      return config.command
    case "streamable-http":
    case "sse":
      return new URL(config.url).hostname.replace(/\.test$/, "")
    default:
      return config.name
  }
}

/** What makes a list of tools another server's. */
export const identity = (config: ServerConfig.ServerConfig): string => Fingerprint.of(config).slice(0, 8)
