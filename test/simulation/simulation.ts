/**
 * One history of the whole runtime, on a clock that only the script moves. The same script gives the same history, down
 * to the last line of its trace.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import type * as McpError from "../../src/McpError.ts"
import type * as McpRuntime from "../../src/McpRuntime.ts"
import * as ToolFilter from "../../src/tools/ToolFilter.ts"
import * as ManualClock from "../support/manualClock.ts"
import * as Ledger from "./ledger.ts"
import type * as Script from "./script.ts"
import * as Stage from "./stage.ts"
import { Witness } from "./witness.ts"
import * as World from "./world.ts"

export interface Report {
  readonly script: Script.Script
  readonly violations: ReadonlyArray<string>
  readonly trace: ReadonlyArray<string>
  /** How much time went by on the clock. */
  readonly millis: number
  readonly calls: number
  readonly outcomes: ReadonlyArray<string>
}

const seconds = 1_000
const minutes = 60 * seconds

/** Until nothing moves any more but the clock: everything in memory happens in microtasks. */
const quiescence = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** What makes a connection another one: all but what only names, filters and bounds. */
const essence = ({ concurrency: _c, disabledTools: _d, name: _n, trusted: _t, ...plan }: Script.ServerPlan): string =>
  JSON.stringify(plan)

/** A server that has been changed as the script says. */
const changed = (plan: Script.ServerPlan, change: Script.Change, by: number): Script.ServerPlan => {
  switch (change) {
    case "essence":
      return { ...plan, variant: plan.variant + 1 }
    case "timeout":
      return { ...plan, requestTimeout: plan.requestTimeout + 1 + by }
    case "filters":
      return { ...plan, disabledTools: by % 2 === 0 ? [] : ["s*"] }
    case "concurrency":
      return { ...plan, concurrency: by % 3 === 0 ? undefined : by % 3 }
    case "trusted":
      return { ...plan, trusted: !plan.trusted }
    case "toggle":
      return { ...plan, enabled: !plan.enabled }
    case "block":
      return { ...plan, blocked: plan.blocked === undefined ? by % 2 === 0 ? "denied" : "untrusted" : undefined }
    case "lazy":
      return { ...plan, lazy: !plan.lazy }
    default:
      return plan
  }
}

export const run = (script: Script.Script): Effect.Effect<Report> =>
  Effect.gen(function*() {
    let observe: () => void = () => undefined
    const time = ManualClock.make({
      settled: Effect.zipRight(quiescence, Effect.sync(() => observe())),
      whole: true
    })
    const witness = new Witness(script, time.now)
    const ledger = new Ledger.Ledger(witness)
    yield* Effect.withRandom(
      Effect.withClock(perform(script, time, witness, ledger, (look) => observe = look), time.clock),
      Random.make(script.seed)
    )
    return {
      script,
      violations: witness.violations,
      trace: witness.trace,
      millis: time.now(),
      calls: ledger.calls.length,
      outcomes: ledger.calls.map(({ outcome }) => outcome ?? "never")
    }
  })

const perform = (
  script: Script.Script,
  time: ManualClock.ManualClock,
  witness: Witness,
  ledger: Ledger.Ledger,
  observing: (look: () => void) => void
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const world = yield* World.make(script.hosts)
    const { catalog, close, pool, releasing, runtime } = yield* Stage.make(script, world, witness)
    let plans: ReadonlyArray<Script.ServerPlan> = script.servers
    const everTrusted = new Set(plans.filter(({ trusted }) => trusted).map(({ name }) => name))
    /** Replacements under way, and the connections that they may leave open for a while. */
    const replacing = new Set<{ readonly host: string; until: number }>()
    const replacements = (server: string) => {
      const host = script.servers.find(({ name }) => name === server)?.host
      return Array.from(replacing).filter((one) => one.host === host)
    }
    witness.isReplacing = (server) => replacements(server).some(({ until }) => until === Infinity)
    witness.isDraining = (server) => replacements(server).length > 0
    let tokens = 0

    const at = (index: number): Script.ServerPlan | undefined => plans[index % Math.max(1, plans.length)]
    const nameAt = (index: number): string => at(index)?.name ?? "nobody"

    const watched = <A, E>(what: string, due: number, self: Effect.Effect<A, E>) =>
      Effect.map(Effect.forkDaemon(self), (fiber) => {
        ledger.track({ what, fiber, due })
      })

    const call = (plan: Script.CallPlan) =>
      Effect.suspend(() => {
        const target = at(plan.server)
        const server = target?.name ?? "nobody"
        const token = ++tokens
        const config = pool.get(server)?.config
        const configured = config?.toolTimeout?.value._tag === "Millis" ? config.toolTimeout.value.millis : 0
        const total = plan.total ?? configured
        const made: Ledger.Made = {
          token,
          callId: `c${token}`,
          server,
          plan,
          began: time.now(),
          // where the tool is looked up first, that may have to wait for its server
          due: time.now() + total + (plan.by === "listed" ? 10 * minutes : 0),
          isHarmless: plan.idempotent ?? (everTrusted.has(server) && World.isHarmless(plan.tool)),
          isFiltered: config !== undefined && plan.by !== "listed" && !ToolFilter.make(config)(plan.tool),
          interrupted: false,
          settled: 0,
          outcome: undefined,
          error: undefined
        }
        ledger.calls.push(made)
        const args = { token, works: plan.works }
        const options: McpRuntime.CallOptions = {
          callId: made.callId,
          ...(plan.idle === undefined ? {} : { idleTimeout: plan.idle }),
          ...(plan.total === undefined ? {} : { totalTimeout: plan.total }),
          ...(plan.idempotent === undefined ? {} : { idempotent: plan.idempotent })
        }
        const identity = { server, tool: plan.tool }
        const name = catalog.index().find(server, plan.tool)?.name
        const ref = plan.by === "name" && name !== undefined ? name : identity
        witness.note(
          `call ${token}: ${plan.tool} of ${server} by ${plan.by}, works ${plan.works}, due ${made.due / 1000}`
        )
        const running: Effect.Effect<McpRuntime.CallResult | undefined, McpError.RuntimeError> = plan.by === "stream"
          ? Effect.as(Stream.runDrain(runtime.callToolStream(ref, args, options)), undefined)
          : plan.by === "listed"
          ? Effect.flatMap(runtime.tool(ref), (tool) => tool.call(args, options))
          : runtime.callTool(ref, args, options)
        const settled = Effect.onExit(running, (exit) => Effect.sync(() => ledger.settle(made, exit)))
        return Effect.map(Effect.forkDaemon(Effect.exit(settled)), (fiber) => {
          ledger.track({
            what: `call ${token}`,
            fiber,
            due: made.due
          })
          fiber.addObserver((exit) => {
            if (Exit.isFailure(exit)) made.interrupted = true
            // interrupted before it began
            if (made.settled === 0) made.outcome = "interrupted"
          })
        })
      })

    const ask = (what: Script.Question, index: number): Effect.Effect<void> => {
      const server = nameAt(index)
      witness.note(`ask ${what} of ${server}`)
      const patience = time.now() + 10 * minutes
      // once on the way to the server, and once at it
      const bounded = time.now() + 2 * (at(index)?.listTimeout ?? 0)
      switch (what) {
        case "tools":
          return watched(what, patience, runtime.tools)
        case "refreshAll":
          return watched(what, patience, runtime.refreshTools())
        case "refresh":
          return watched(what, patience, runtime.refreshTools(server))
        case "tool":
          return watched(what, patience, runtime.tool({ server, tool: "echo" }))
        case "read":
          return watched(
            `${what} of ${server}`,
            bounded,
            runtime.readResource(server, index % 2 === 0 ? "file:///a" : "file:///slow")
          )
        case "resources":
          return watched(what, patience, runtime.resources)
        case "prompts":
          return watched(what, patience, runtime.prompts)
        case "prompt":
          return watched(`${what} of ${server}`, bounded, runtime.getPrompt(server, "p"))
        case "servers":
          return watched(what, time.now(), runtime.servers.list)
        case "session":
          return watched(what, patience, runtime.withClient(server, (session) => session.health))
        case "sandbox":
          return watched(what, patience, runtime.notifySandboxState({ at: time.now() }))
      }
    }

    const control = (what: Script.Control, index: number): Effect.Effect<void> => {
      const server = nameAt(index)
      witness.note(`${what} ${server}`)
      const host = at(index)?.host
      // in one step with what is done: an attempt just before it is not one of those that it allows anew
      const intervened = Effect.sync(() => {
        if (what !== "connect" && what !== "reconnect" && what !== "enable") return
        for (const plan of plans) if (plan.host === host) witness.intervened(plan.name)
      })
      const patience = what === "connect" || what === "reconnect" ? 10 * minutes : script.drain + 5 * seconds
      return watched<void, unknown>(
        `${what} ${server}`,
        time.now() + patience,
        Effect.zipRight(intervened, runtime.servers[what](server))
      )
    }

    const reload = (next: ReadonlyArray<Script.ServerPlan>): Effect.Effect<Fiber.RuntimeFiber<unknown, unknown>> =>
      Effect.suspend(() => {
        // what could not be changed is still what it was
        const before = new Map(pool.all().map(({ config }) => [config.name, World.planOf(config)]))
        const mine: Array<{ readonly host: string; until: number }> = []
        for (const plan of next) {
          if (plan.trusted) everTrusted.add(plan.name)
          const old = before.get(plan.name)
          if (old === undefined || essence(old) !== essence(plan)) {
            witness.intervened(plan.name)
            mine.push({ host: plan.host, until: Infinity })
          }
        }
        for (const plan of plans) {
          const old = before.get(plan.name)
          if (old !== undefined && !next.some(({ name }) => name === plan.name)) {
            mine.push({ host: plan.host, until: Infinity })
          }
        }
        for (const one of mine) {
          replacing.add(one)
        }
        for (const one of ledger.calls) if (one.settled === 0) one.isFiltered = false
        plans = next
        witness.note(`reload ${
          next.map(({ blocked, enabled, lazy, name, variant }) =>
            `${name}#${variant}${enabled ? "" : " off"}${lazy ? " lazy" : ""}${blocked ? ` ${blocked}` : ""}`
          ).join(", ")
        }`)
        const done = Effect.sync(() => {
          for (const one of mine) {
            one.until = time.now() + 2 * script.drain
          }
          for (const plan of next) {
            witness.intervened(plan.name)
          }
        })
        const self = Effect.tap(runtime.servers.reload(next.map(World.config)), (report) =>
          Effect.sync(() =>
            witness.note(`reloaded: ${
              JSON.stringify({
                ...report,
                failed: report.failed.map(({ server, error }) =>
                  `${server}: ${error._tag}`
                )
              })
            }`)
          ))
        return Effect.tap(Effect.forkDaemon(Effect.ensuring(self, done)), (fiber) => {
          ledger.track({ what: "reload", fiber, due: time.now() + 60 * minutes })
        })
      })

    const alter = (
      changes: ReadonlyArray<{ readonly server: number; readonly change: Script.Change; readonly by: number }>
    ) => {
      let next: ReadonlyArray<Script.ServerPlan> = plans
      for (const { by, change, server } of changes) {
        const all = script.servers
        if (change === "add") {
          const missing = all.find(({ name }) =>
            !next.some((plan) =>
              plan.name === name
            )
          )
          if (missing !== undefined) next = next.concat({ ...missing, variant: by })
          continue
        }
        const target = next[server % Math.max(1, next.length)]
        next = change === "remove"
          ? next.filter((plan) => plan !== target)
          : next.map((plan) => plan === target ? changed(plan, change, by) : plan)
      }
      return next
    }

    const take = (action: Script.Action): Effect.Effect<void> => {
      switch (action._tag) {
        case "call":
          return call(action.call)
        case "ask":
          return ask(action.what, action.server)
        case "subscribe":
          return watched(
            `subscription to ${nameAt(action.server)}`,
            Infinity,
            Stream.runDrain(runtime.subscribeResource(nameAt(action.server), "file:///a"))
          )
        case "interrupt":
          return Effect.suspend(() => {
            const all = Array.from(ledger.waiting)
            const one = all[action.which % Math.max(1, all.length)]
            if (one === undefined) return Effect.void
            witness.note(`interrupt ${one.what}`)
            const made = ledger.calls.find(({ token }) => `call ${token}` === one.what)
            if (made !== undefined) made.interrupted = true
            return Fiber.interruptFork(one.fiber)
          })
        case "control":
          return control(action.what, action.server)
        case "disconnectAll":
          witness.note("disconnectAll")
          return watched("disconnectAll", time.now() + script.drain + 5 * seconds, runtime.servers.disconnectAll)
        case "reload":
          return Effect.asVoid(Effect.suspend(() => reload(alter(action.changes))))
        case "fault": {
          const host = at(action.host)?.host
          if (host === undefined) return Effect.void
          witness.note(`${host}: ${JSON.stringify(action.fault)}`)
          return world.afflict(host, action.fault)
        }
        case "advance":
          return time.advance(action.millis)
      }
    }

    let seenAt = -1
    let seen = 0
    const observe = () => {
      const now = time.now()
      seen = now === seenAt ? seen + 1 : 0
      seenAt = now
      if (seen > 20_000) throw new Error(`time stands still at ${now}: ${witness.trace.slice(-20).join("\n")}`)
      for (const one of replacing) if (one.until < now) replacing.delete(one)
      for (const [name, { peer }] of world.hosts) {
        // those that differ are connected each for itself, and so are those that have become the same since
        let allowed = Math.max(1, plans.filter(({ host }) => host === name).length)
        for (const { host } of replacing) if (host === name) allowed++
        const usable = peer.connections().open - releasing(name)
        if (usable > allowed) witness.violate(`${name} has ${usable} connections, and may have ${allowed}`)
        if (releasing(name) > 2 * allowed) {
          witness.violate(`${name} has ${releasing(name)} releases, and may have ${2 * allowed}`)
        }
      }
      ledger.overdue()
    }

    /** Since when a server is said to be connected and is not: while that connection ends, which is bounded. */
    const ending = new Map<string, { readonly connectedSince: number; readonly from: number }>()

    const inspect = () => {
      for (const { config, live, status } of pool.all()) {
        const { name } = config
        const told = witness.told.get(name)
        if (told?._tag !== status._tag) {
          witness.violate(`${name} is ${status._tag}, and was told to be ${told?._tag ?? "nothing"}`)
        }
        if (status._tag !== "Connected") {
          ending.delete(name)
          if (live !== undefined) witness.violate(`${name} is ${status._tag} and has a connection`)
        } else if (live !== undefined) ending.delete(name)
        else {
          const { since: connectedSince } = status
          const known = ending.get(name)
          const from = known?.connectedSince === connectedSince ? known.from : time.now()
          ending.set(name, { connectedSince, from })
          if (time.now() > from + script.drain) witness.violate(`${name} is Connected and has no connection`)
        }
        const host = World.hostOf(config)
        if (config.blocked !== undefined && status._tag !== "Blocked") {
          witness.violate(`${name} is ${status._tag} although it is blocked`)
        }
        const isOff = status._tag === "Disabled" || status._tag === "Blocked"
        if (isOff && !script.share && !Array.from(replacing).some((one) => one.host === host)) {
          const open = world.hosts.get(host)?.peer.connections().open ?? 0
          if (open > 0) witness.violate(`${name} is ${status._tag} and has ${open} connections`)
        }
        // a list of several pages may show two versions, if it changed between them
        let version = 0
        for (const { name: tool, server, tool: { description, name: raw } } of catalog.index().ofServer(name)) {
          witness.named(tool, server, raw)
          version = Math.max(version, Number(description?.slice(1)))
        }
        if (version > 0) {
          witness.knows(`${name} at ${World.identity(config)}`, version, world.hosts.get(host)?.version ?? 0)
        }
      }
      const names = catalog.index().entries.map(({ name }) => name)
      if (new Set(names).size < names.length) witness.violate("two tools have the same name")
    }
    observing(observe)

    const look = Effect.map(runtime.servers.list, (infos) => {
      inspect()
      for (const { callsInFlight, name } of infos) {
        let begun = 0
        for (const { server } of witness.begun.values()) if (server === name) begun++
        if (begun !== callsInFlight) {
          witness.violate(`${name} has ${callsInFlight} calls in flight, and ${begun} began and did not end`)
        }
      }
    })

    /** Waits on the clock for what has to come within this time. */
    const within = <A, E>(
      what: string,
      millis: number,
      self: Effect.Effect<A, E>
    ): Effect.Effect<Exit.Exit<A, E> | undefined> =>
      Effect.gen(function*() {
        const fiber = yield* Effect.forkDaemon(self)
        yield* time.advance(0)
        const from = time.now()
        for (let at = from; at < from + millis; at += 1 + millis / 50) {
          const exit = yield* Fiber.poll(fiber)
          if (exit._tag === "Some") return exit.value
          yield* time.advance(1 + Math.floor(millis / 50))
        }
        const exit = yield* Fiber.poll(fiber)
        if (exit._tag === "Some") return exit.value
        witness.violate(`${what} did not end within ${millis} ms`)
        return undefined
      })

    const calm = Effect.gen(function*() {
      for (const { due, what } of ledger.waiting) if (due !== Infinity) witness.violate(`${what} goes on for ever`)
      for (const { callId } of witness.begun.values()) witness.violate(`${callId} goes on for ever`)
      for (const { config, status } of pool.all()) {
        const { name } = config
        const { bulkhead } = yield* Effect.orDie(runtime.servers.get(name))
        if (bulkhead.active > 0 || bulkhead.queued > 0) {
          witness.violate(`${name} has ${bulkhead.active} calls with a permit and ${bulkhead.queued} that wait for one`)
        }
        if (status._tag === "Connecting" || status._tag === "Reconnecting") {
          witness.violate(`${name} is still ${status._tag} when all has been well for long`)
        }
        const isSubscribed = Array.from(ledger.waiting).some(({ what }) => what === `subscription to ${name}`)
        if (status._tag === "Connected" && config.idleTimeout !== undefined && !script.share && !isSubscribed) {
          witness.violate(`${name} is not idle, although nobody has used it for long`)
        }
        if (status._tag === "Idle" && config.lazy !== true && config.idleTimeout === undefined) {
          witness.violate(`${name} is Idle for no reason`)
        }
      }
      const report = yield* within("the last reload", 10 * minutes, Effect.flatMap(reload(plans), Fiber.join))
      if (report?._tag === "Success") {
        const members = pool.all().map(({ config }) => World.hostOf(config) + JSON.stringify(World.identity(config)))
        const wanted = plans.map((plan) =>
          World.hostOf(World.config(plan)) + JSON.stringify(World.identity(World.config(plan)))
        )
        if (JSON.stringify(members) !== JSON.stringify(wanted)) witness.violate("the reload did not converge")
      }
      for (const plan of plans) {
        const { name: server } = plan
        const was = pool.get(server)?.status
        if (was?._tag === "NeedsAuth") {
          yield* within(`connecting ${server} with credentials`, 2 * minutes, runtime.servers.connect(server))
        }
        if (was?._tag === "Disabled" && was.why !== "configuration") {
          yield* runtime.servers.enable(server).pipe(Effect.orDie)
          yield* within(`connecting ${server} again`, 2 * minutes, runtime.servers.connect(server))
        }
        const exit = yield* within(
          `a call of ${server}`,
          2 * minutes,
          runtime.callTool({ server, tool: "echo" }, { token: ++tokens }, { totalTimeout: "2 minutes" })
        )
        const breaker = (yield* runtime.servers.get(server).pipe(Effect.orDie)).breaker._tag
        if (exit === undefined || exit._tag === "Success") {
          continue
        }
        const error = exit.cause._tag === "Fail" ? exit.cause.error._tag : exit.cause._tag
        if (error === "CircuitOpen" && breaker === "Isolated") continue
        if (error === "ServerUnavailable" && (!plan.enabled || plan.blocked !== undefined)) continue
        witness.violate(`${server} was ${was?._tag}, all is well, and a call of it fails with ${error}`)
      }
      const listed = yield* within("listing", 2 * minutes, runtime.tools)
      if (listed?._tag !== "Success") return
      for (const { config, status } of pool.all()) {
        if (status._tag !== "Connected" || (config.disabledTools ?? []).length > 0) continue
        const offered = world.hosts.get(World.hostOf(config))?.offered ?? []
        const known = listed.value.tools.filter(({ serverName }) => serverName === config.name).map(({ tool }) =>
          tool.name
        )
        if (known.toSorted().join() !== offered.toSorted().join()) {
          witness.violate(`${config.name} offers ${offered.length} tools, and ${known.length} are known`)
        }
      }
    })

    const teardown = Effect.gen(function*() {
      yield* Effect.sync(() => witness.note("teardown"))
      const server = plans[0]?.name ?? "nobody"
      yield* within("the teardown", 30 * seconds, close)
      // whoever has been about to make a call once more hears of it when it does, and what was given up ends by itself
      yield* time.advance(Math.max(1 * seconds, script.drain))
      for (const { what } of ledger.waiting) witness.violate(`${what} goes on after the teardown`)
      for (const [name, { peer }] of world.hosts) {
        const { closed, open, opened } = peer.connections()
        if (open > 0 || closed !== opened) witness.violate(`${name} has ${open} connections after the teardown`)
      }
      if (time.sleeping() > 0) witness.violate(`${time.sleeping()} fibers sleep after the teardown`)
      const late = yield* within(
        "a call after the teardown",
        1,
        runtime.callTool({ server, tool: "echo" }, { token: ++tokens })
      )
      const error = late?._tag === "Failure" && late.cause._tag === "Fail" ? late.cause.error._tag : late?._tag
      // a breaker speaks first
      if (error !== "Closed" && error !== "CircuitOpen" && !(error === "NotFound" && plans.length === 0)) {
        witness.violate(`a call after the teardown ends with ${error}`)
      }
      ledger.reckon(world.arrivals(), world.executions)
    })

    yield* watched("the status stream", Infinity, Stream.runDrain(runtime.servers.changes))
    yield* watched("the event stream", Infinity, Stream.runDrain(runtime.events))
    for (const { action, turns } of script.steps) {
      yield* take(action)
      if (turns === undefined) {
        yield* time.advance(0)
        yield* look
      } else yield* Effect.repeatN(Effect.yieldNow(), turns)
    }
    if (script.ending === "quiet") {
      yield* Effect.sync(() => witness.note("quiet"))
      yield* world.heal
      yield* time.advance(20 * minutes)
      yield* look
      yield* calm
    }
    yield* teardown
  })
