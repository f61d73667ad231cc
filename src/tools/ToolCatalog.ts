/** The tools of all servers: the index over their lists, how long a list is waited for, and which tools may be called. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Limits from "../config/Limits.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as RuntimeMetrics from "../observability/RuntimeMetrics.ts"
import type * as Link from "../runtime/Link.ts"
import type * as Server from "../runtime/Server.ts"
import type * as Servers from "../runtime/Servers.ts"
import type * as ServerStatus from "../runtime/ServerStatus.ts"
import * as Scoped from "../scoped.ts"
import * as CachedList from "./CachedList.ts"
import type * as Tool from "./Tool.ts"
import * as ToolCache from "./ToolCache.ts"
import * as ToolIndex from "./ToolIndex.ts"
import type * as ToolName from "./ToolName.ts"
import * as ToolPins from "./ToolPins.ts"

export interface Options {
  /** How names of tools are written. */
  readonly style: ToolName.Style
  /** How long a list waits for servers whose tools are known from before. */
  readonly gate: Duration.DurationInput
  /**
   * How long a list waits for the first list of a server without a cached one. Then the server is `missing` with
   * `ServerUnavailable`, `why: "connecting"`, and keeps connecting. `"settled"`: until its first attempt ends.
   */
  readonly firstListWait: Duration.DurationInput | "settled"
}

export const defaults: Options = {
  style: "double",
  gate: Duration.millis(250),
  firstListWait: Duration.seconds(10)
}

/** A tool that is offered. `Deferred`: its server is not connected, and a call waits for it. */
export interface Offered extends ToolIndex.Entry {
  readonly _tag: "Ready" | "Deferred"
}

/** A server without tools, and why; `ServerUnavailable` with `why: "connecting"` until its first list arrives. */
export interface Missing {
  readonly server: string
  readonly status: ServerStatus.ServerStatus
  readonly error: McpError.RuntimeError | undefined
}

export interface Listing {
  readonly tools: ReadonlyArray<Offered>
  readonly missing: ReadonlyArray<Missing>
  /** Tools with malformed definitions. */
  readonly rejected: ReadonlyArray<Tool.RejectedTool & { readonly server: string }>
  /** Tools whose definitions differ from the pinned ones, until a person approves them. */
  readonly quarantined: ReadonlyArray<ToolPins.Quarantined>
}

export class ToolCatalog extends Context.Tag("effect-mcp-runtime/tools/ToolCatalog")<ToolCatalog, {
  /**
   * The tools of every server. Waits for each server's first list up to `firstListWait`, but no longer than the gate if
   * any list of it is known.
   */
  readonly list: Effect.Effect<Listing>
  /**
   * The same, with this wait in place of `firstListWait`, and of the gate where it is shorter. With a wait of zero it gives
   * what is known, and connects no server.
   */
  readonly listWithin: (wait: Duration.DurationInput) => Effect.Effect<Listing>
  /** `firstListWait`; `undefined` for `"settled"`. */
  readonly firstListWait: Duration.Duration | undefined
  /** Waits until the tools of a server are known, or fails with the error of its attempt. */
  readonly discover: (server: string) => Effect.Effect<void, McpError.RuntimeError>
  /** Every known tool, regardless of the state of its server. */
  readonly index: () => ToolIndex.ToolIndex
  /** Whether a list of the server is known. */
  readonly isKnown: (server: string) => boolean
  /** The definition of a tool as its server gave it in this run, with annotations; a snapshot has none. */
  readonly definition: (server: string, tool: string) => Tool.Tool | undefined
  /** Fetches the tools of a server now, and connects it if need be. */
  readonly refresh: (server: string) => Effect.Effect<void, McpError.RuntimeError>
  /** Fetches the tools over this connection, unless the list is fresh. */
  readonly learn: (live: Server.Live) => Effect.Effect<void, McpError.CallError>
  /**
   * `undefined` if a tool may be called over this connection now, because the server has listed it over this connection as
   * it was approved. Otherwise an effect that fetches the list where there is a pin to compare with, and fails with
   * `outcome: "not-sent"` if the tool may not be called.
   */
  readonly admit: (live: Server.Live, tool: string) => Effect.Effect<void, McpError.CallError> | undefined
}>() {}

type Status = ServerStatus.ServerStatus

/** Whether waiting or asking can connect the server. */
export const canConnect = ({ _tag }: Status): boolean =>
  _tag === "Idle" || _tag === "Connecting" || _tag === "Connected"

/** The error of a server without a list that can still come; `undefined` if there is another reason. */
export const stillConnecting = (server: string, { _tag }: Status): McpError.ServerUnavailable | undefined => {
  if (_tag !== "Connecting" && _tag !== "Connected") return undefined
  const detail = _tag === "Connected" ? "its first list has not come yet" : ""
  return new McpError.ServerUnavailable({ server, why: "connecting", detail })
}

/** A failed list before a call, as an error of the call, which was not sent. */
const unsent = (error: McpError.CallError): McpError.CallError => {
  const outcome = "not-sent"
  if (error._tag === "Closed") return new McpError.Closed({ ...error, outcome })
  if (error._tag === "ConnectionLost") return new McpError.ConnectionLost({ ...error, outcome })
  // the tag alone, because a message may contain text of the server
  const detail = `could not list the tools to verify the pinned definition (${error._tag})`
  return new McpError.Cancelled({ server: error.server, operation: "tools/call", detail, outcome })
}

/** The catalog of these servers. `McpRuntime.make` makes it. */
export const make = (servers: Servers.Servers, options?: Partial<Options>) =>
  Effect.gen(function*() {
    const cache = yield* ToolCache.ToolCache
    const events = yield* McpEvent.McpEvents
    const metrics = yield* RuntimeMetrics.RuntimeMetrics
    const pins = yield* ToolPins.ToolPins
    const limits = yield* Limits.CurrentLimits
    const clock = yield* Effect.clock
    const scope = yield* Effect.scope
    const { firstListWait: first, gate, style } = { ...defaults, ...options }
    const firstListWait = first === "settled" ? undefined : Duration.decode(first)

    let made: { readonly index: ToolIndex.ToolIndex; readonly of: ReadonlyArray<Server.Server> } | undefined

    /** The tools of a list that may be offered; those of a snapshot were compared with the pins when it was read. */
    const usable = (config: ServerConfig.ServerConfig, { source, tools }: ToolCache.Manifest) =>
      pins.mode === "quarantine" && source === "server" ? tools.filter((tool) => pins.mayUse(config, tool)) : tools

    const index = (): ToolIndex.ToolIndex => {
      const of = servers.all()
      if (made?.of !== of) {
        const contributions = of.map(({ config, lists, name: server }) => {
          const { disabledTools, enabledTools } = config
          const manifest = lists.tools.current()
          return { server, tools: manifest === undefined ? [] : usable(config, manifest), enabledTools, disabledTools }
        })
        made = { of, index: ToolIndex.make(contributions, style) }
      }
      return made.index
    }

    const changed = (config: ServerConfig.ServerConfig, manifest: ToolCache.Manifest): void => {
      // a reload may have replaced the server while its list was on the way
      if (manifest.source !== "server" || servers.get(config.name)?.lists.tools.current() !== manifest) return
      const counts = { tools: usable(config, manifest).length, rejected: manifest.rejected.length }
      events.publish(McpEvent.McpEvent.ToolsRefreshed({ server: config.name, ...counts }))
    }

    yield* Scoped.listen(() =>
      cache.onChange((config, manifest) => {
        made = undefined
        changed(config, manifest)
      })
    )
    yield* Scoped.listen(() =>
      pins.onChange((server) => {
        made = undefined
        const member = servers.get(server)
        const manifest = member?.lists.tools.current()
        if (member === undefined || manifest?.source !== "server") return
        member.link.setTools(index().ofServer(server).length)
        changed(member.config, manifest)
      })
    )

    /** Fetches the list, and compares it with the pins. */
    const reviewed = ({ config, session }: Server.Live) =>
      Effect.tap(session.tools, ({ tools }) =>
        Effect.map(pins.review(config, tools), () => {
          // an approval in another process changes what may be offered of an equal list
          made = undefined
        }))

    const learn = (live: Server.Live): Effect.Effect<void, McpError.CallError> =>
      Effect.suspend(() => {
        // a reload has replaced the server of this connection
        if (servers.get(live.server, live.identity)?.lists !== live.lists) return Effect.void
        return Effect.map(live.lists.tools.get(CachedList.source(live, "tools", reviewed(live))), () => {
          if (live.identity === undefined) servers.get(live.server)?.link.setTools(index().ofServer(live.server).length)
        })
      })

    /** The tools that the server has listed over this connection. */
    const listedOver = ({ generation, lists }: Server.Live): ReadonlyArray<Tool.Tool> | undefined => {
      const list = lists.tools.current()
      return list?.generation === generation ? list.tools : undefined
    }

    const admitted = Effect.fnUntraced(function*(live: Server.Live, name: string) {
      const { config, server } = live
      if (!(yield* pins.isPinned(config, name))) return
      const limit = ServerConfig.limits(config, limits).listTimeout
      const tools = yield* Effect.gen(function*() {
        if (listedOver(live) === undefined) yield* learn(live)
        // the cached list may come from a newer connection, which says nothing about this one
        return listedOver(live) ?? (yield* reviewed(live)).tools
      }).pipe(
        Effect.mapError(unsent),
        Effect.timeoutFail({
          duration: limit,
          onTimeout: () =>
            new McpError.RequestTimeout({ server, kind: "total", operation: "tools/list", limit, outcome: "not-sent" })
        })
      )
      const tool = tools.find((tool) => tool.name === name)
      if (tool === undefined) return yield* new McpError.NotFound({ server, kind: "tool", name })
      if (pins.mayUse(config, tool)) return
      const found = (yield* pins.quarantined).find((each) => each.server === server && each.tool === name)
      const reason = found === undefined ? {} : ToolPins.refusal(found)
      return yield* new McpError.PermissionDenied({ server, why: "quarantined", kind: "tool", name, ...reason })
    })

    const admit: ToolCatalog["Type"]["admit"] = (live, name) => {
      if (pins.mode !== "quarantine") return undefined
      const tool = listedOver(live)?.find((tool) => tool.name === name)
      // the pins of a removed server are read again
      const isClear = tool !== undefined && servers.get(live.server) !== undefined && pins.mayUse(live.config, tool)
      return isClear ? undefined : admitted(live, name)
    }

    /**
     * Fetches the list of a server unless it is fresh, and once more over the next connection if the first one broke, because
     * a list can safely be repeated. Waits for one attempt to connect, and never for a series of them.
     */
    const fetched = (server: string, until: Link.Until): Effect.Effect<void, McpError.RuntimeError> =>
      Effect.catchIf(
        servers.use(server, learn, { until }),
        (error) => error.countsForBreaker && error.outcome === "unknown",
        (error) =>
          Effect.mapError(
            servers.use(server, learn, { until: "first-attempt" }),
            (next) => next.outcome === "not-sent" ? error : next
          )
      )

    /** Waits until any list is known, from the server or from a snapshot. */
    const anyList = ({ current, loaded }: ToolCache.ServerTools): Effect.Effect<void> =>
      Effect.suspend(() => {
        const isKnown = Effect.suspend(() => current() === undefined ? Effect.never : Effect.void)
        return current() === undefined ? Effect.zipRight(loaded, isKnown) : Effect.void
      })

    const listing = Effect.fnUntraced(function*(wait: Duration.Duration | undefined) {
      // without a wait, nothing is asked and no server is connected
      if (wait !== undefined && Duration.toMillis(wait) === 0) return yield* gathered(new Map())
      const held = yield* pins.quarantined
      for (const { config, lists, name } of servers.all()) {
        const manifest = lists.tools.current()
        if (manifest?.source !== "server" || !held.some(({ server }) => server === name)) continue
        // another process may have stored an approval
        yield* pins.review(config, manifest.tools)
        made = undefined
      }
      const now = clock.unsafeCurrentTimeMillis()
      const gateEnd = now + Math.min(Duration.toMillis(gate), wait === undefined ? Infinity : Duration.toMillis(wait))
      const withinGate = <A>(self: Effect.Effect<A>) =>
        Effect.suspend(() => Effect.timeoutOption(self, Duration.millis(gateEnd - clock.unsafeCurrentTimeMillis())))
      const failures = new Map<string, McpError.RuntimeError>()

      const waitFor = ({ lists: { tools: list }, live, name: server, status }: Server.Server): Effect.Effect<void> => {
        if (status._tag === "Connected" && list.isFresh(live?.generation)) {
          return Effect.sync(() => metrics.for(server).cacheHit())
        }
        const ask = Effect.suspend(() => {
          const status = servers.get(server)?.status
          // an idle server is not connected for a list that is known
          if (status === undefined || !canConnect(status) || (status._tag === "Idle" && list.current() !== undefined)) {
            return Effect.void
          }
          metrics.for(server).cacheMiss()
          return fetched(server, "first-attempt").pipe(
            Effect.catchAll((error) => Effect.sync(() => void failures.set(server, error))),
            Effect.interruptible,
            // outlives this wait, because a late response belongs in the next list
            Effect.forkIn(scope),
            Effect.map(Fiber.await),
            Effect.flatMap((answered) =>
              Effect.zipRight(withinGate(answered), Effect.raceFirst(answered, anyList(list)))
            ),
            Effect.asVoid
          )
        })
        const isOnItsWay = status._tag === "Connecting" || status._tag === "Connected"
        return isOnItsWay || list.current() !== undefined ? ask : Effect.zipRight(withinGate(list.loaded), ask)
      }

      const all = Effect.forEach(servers.all(), waitFor, { concurrency: "unbounded", discard: true })
      yield* wait === undefined ? all : Effect.timeoutOption(all, wait)
      return yield* gathered(failures)
    })

    const gathered = (failures: ReadonlyMap<string, McpError.RuntimeError>) =>
      Effect.map(pins.quarantined, (held): Listing => {
        const offering = new Map<string, "Ready" | "Deferred">()
        const missing: Array<Missing> = []
        const rejected: Array<Listing["rejected"][number]> = []
        for (const { lists, name: server, status } of servers.all()) {
          const manifest = lists.tools.current()
          if (manifest === undefined || !(canConnect(status) || status._tag === "Reconnecting")) {
            const error = "error" in status ? status.error : failures.get(server) ?? stillConnecting(server, status)
            missing.push({ server, status, error })
            continue
          }
          offering.set(server, status._tag === "Connected" ? "Ready" : "Deferred")
          for (const tool of manifest.rejected) rejected.push({ server, ...tool })
        }
        const tools = index().entries.flatMap((entry): ReadonlyArray<Offered> => {
          const _tag = offering.get(entry.server)
          return _tag === undefined ? [] : [{ _tag, ...entry }]
        })
        const quarantined = pins.mode === "quarantine" ? held.filter(({ server }) => offering.has(server)) : []
        return { tools, missing, rejected, quarantined }
      })

    return ToolCatalog.of({
      list: Effect.suspend(() => listing(firstListWait)),
      listWithin: (wait) => listing(Duration.decode(wait)),
      firstListWait,
      discover: (server) =>
        Effect.suspend(() => {
          const list = servers.get(server)?.lists.tools
          return list === undefined ? Effect.void : Effect.raceFirst(anyList(list), fetched(server, "first-attempt"))
        }),
      index,
      isKnown: (server) => servers.get(server)?.lists.tools.current() !== undefined,
      definition: (server, tool) =>
        servers.get(server)?.lists.tools.current()?.source === "server" ? index().find(server, tool)?.tool : undefined,
      refresh: (server) =>
        Effect.suspend(() => {
          servers.get(server)?.lists.tools.invalidate()
          return fetched(server, "settled")
        }),
      learn,
      admit
    })
  })
