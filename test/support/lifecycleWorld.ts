/**
 * Random lives of the machine of one server, in a model world without clocks: the generator answers the commands, and
 * each step is compared with what the world knows.
 */
import * as Duration from "effect/Duration"
import * as McpError from "../../src/McpError.ts"
import type * as Lifecycle from "../../src/runtime/lifecycle.ts"
import * as ServerStatus from "../../src/runtime/ServerStatus.ts"

export type Module = Pick<typeof Lifecycle, "start" | "transition" | "timerOf" | "statusOf" | "statusesOf">

/** What a life has led through: from the state, by the event, to the state. */
export type Edges = Map<string, Set<string>>

type Random = (below: number) => number

const random = (seed: number): Random => {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const policy: Lifecycle.Policy = {
  stableAfter: Duration.millis(1_000),
  storm: { reconnects: 3, within: Duration.millis(2_000) }
}

const errors = Array.from(
  { length: 3 },
  (_, n) => new McpError.NetworkError({ server: "s", code: `E${n}`, detail: "refused", outcome: "not-sent" })
)

const must = (holds: boolean, rule: string): void => {
  if (!holds) throw new Error(rule)
}

interface Entry {
  readonly now: number
  readonly before: Lifecycle.Machine
  readonly event: Lifecycle.Event
  readonly after: Lifecycle.Machine
  readonly commands: ReadonlyArray<Lifecycle.Command>
}

const show = ({ after, before, commands, event, now }: Entry): string =>
  `${now}: ${before.state._tag} ${
    JSON.stringify(event, ["_tag", "gen", "why", "next", "lane"])
  } -> ${after.state._tag} ${commands.map(({ _tag }) => _tag).join()}`

class World {
  readonly log: Array<Entry> = []
  now = 1
  machine: Lifecycle.Machine
  status: ServerStatus.ServerStatus
  waiters = 0
  first = 0
  timer: { readonly gen: number; readonly at: number } | undefined
  /** The connections by the numbers of their attempts. */
  readonly connections = new Map<number, "opening" | "open" | "failed" | "released">()
  /** The numbers of the commands that have no answer yet. */
  releases: Array<number> = []
  plans: Array<number> = []
  readonly drained = new Set<number>()
  /** An attempt may be made: a request or the configuration asks for it. */
  isNeeded: boolean
  /** Short lives of many attempts meet the storm rule. */
  readonly pace: number
  isFailing = false
  /** It was switched off, which is not published yet. */
  isStopped = false
  isClosing = false
  notBefore = 0
  attempts: Array<number> = []
  planned = 0
  readonly module: Module
  readonly edges: Edges | undefined

  constructor(module: Module, pick: Random, edges?: Edges) {
    this.module = module
    this.edges = edges
    this.pace = pick(2) === 0 ? 4 : 7
    const eager = pick(2) === 0
    const blocked = pick(8) === 0 ? "untrusted" : undefined
    const down = pick(6) === 0 ? (["configuration", "disabled", "disconnected"] as const)[pick(3)] : undefined
    const [machine, commands] = module.start({ server: "s", blocked, down, eager })
    this.machine = machine
    this.isNeeded = eager && (blocked ?? down) === undefined
    this.status = module.statusOf(machine, ServerStatus.ServerStatus.Closed())
    for (const command of commands) this.#run(command, undefined, machine)
    this.#check()
  }

  is(...tags: ReadonlyArray<Lifecycle.State["_tag"]>): boolean {
    return tags.includes(this.machine.state._tag)
  }

  isOff(): boolean {
    return (this.machine.blocked ?? this.machine.down) !== undefined
  }

  /** One event, and what the machine makes of it. */
  dispatch(event: Lifecycle.Event, isStale = false): void {
    const before = this.machine
    const [after, commands] = this.module.transition(before, event, policy, this.now)
    this.machine = after
    this.log.push({ now: this.now, before, event, after, commands })
    if (isStale) {
      must(after === before && commands.length === 0, "an answer of an earlier generation changes nothing")
      return
    }
    this.#expect(event, before)
    if (commands.length > 0 || before.state._tag !== after.state._tag) {
      const from = `${kind(before.state)} --> ${kind(after.state)}`
      if (this.edges !== undefined && kind(before.state) !== kind(after.state)) {
        this.edges.set(from, (this.edges.get(from) ?? new Set()).add(event._tag))
      }
    }
    for (const status of this.module.statusesOf(before, after, this.status)) this.#become(status)
    for (const command of commands) this.#run(command, event, before)
    if (event._tag === "OpenFailed") must(this.first === 0, "a failed attempt answers those who wait for it only")
    this.#check()
  }

  /** What the world knows of an event, before it looks at the commands. */
  #expect(event: Lifecycle.Event, before: Lifecycle.Machine): void {
    const { state } = before
    const isEnding = state._tag === "Closed" || (state._tag === "Releasing" && state.next === "Closed")
    if (isEnding) must(this.is("Closed", "Releasing"), "nothing follows the end")
    switch (event._tag) {
      case "Connect":
      case "Reconnect":
        if (before.down === "disconnected") {
          must(this.machine.down === undefined || isEnding, "connect undoes disconnected")
        } else must(this.machine.down === before.down, "connect undoes disconnected only")
        if (this.isOff() || isEnding || state._tag === "Retired") return
        this.isNeeded = true
        if (state._tag === "Ready" && event._tag === "Connect") must(this.is("Ready"), "connect keeps a connection")
        if ((state._tag === "Ready" || state._tag === "Opening") && event._tag === "Connect") return
        this.#forget()
        must(this.is("Opening", "Releasing"), "connect leads to an attempt")
        return
      case "Wanted":
        if (state._tag === "Idle" || (state._tag === "Releasing" && state.next === "Idle")) this.isNeeded = true
        if (state._tag === "Idle") must(this.is("Opening"), "an idle server connects when it is wanted")
        if (state._tag === "Failed" || (state._tag === "Waiting" && state.lane === "slow")) {
          const isAllowed = this.now >= this.notBefore && this.#stormWait() === 0
          must(this.is("Opening") === isAllowed, "a wanted server is tried once unless it is too early")
          if (isAllowed) this.isNeeded = true
        }
        return
      case "Disable":
        if (isEnding) return
        must(!this.is("Opening", "Ready", "Planning", "Waiting", "Idle"), "disable stops at once")
        if (state._tag !== "Retired") {
          this.isStopped = true
          const wins = before.down === undefined || event.why === "disabled"
          must(this.machine.down === (wins ? event.why : before.down), "disabled beats disconnected")
          this.#forget()
          this.isNeeded = false
        }
        return
      case "Enable":
        if (before.down === undefined || isEnding) return
        must(this.machine.down === undefined, "enable undoes what was switched off")
        this.isNeeded = before.eager && before.blocked === undefined
        if (this.isNeeded) must(this.is("Opening", "Releasing"), "an eager server connects when it is enabled")
        return
      case "Retire":
        if (state._tag === "Retired") must(this.machine === before, "a second retire changes nothing")
        else if (state._tag === "Ready") must(this.is("Retired"), "a connection in use is drained")
        else must(this.is("Releasing", "Closed"), "what has no connection ends at once")
        this.isNeeded = false
        return
      case "Close":
        must(this.is("Releasing", "Closed"), "close ends at once")
        this.isClosing = true
        this.isNeeded = false
        return
      case "Opened":
        must(this.is("Ready"), "an opened connection is used")
        this.notBefore = 0
        return
      case "OpenFailed":
      case "Lost":
        if (state._tag === "Retired") return
        if (state._tag === "Ready" && this.now - state.since >= 1_000) this.planned = 0
        must(
          this.is(({ retry: "Planning", login: "NeedsLogin", final: "Failed" } as const)[event.next]),
          "the error decides"
        )
        if (event.next === "retry") this.isFailing = true
        else this.#end()
        return
      case "Quiet":
        if (state._tag === "Retired") return
        must(this.is("Releasing"), "an idle connection is released")
        this.isNeeded = false
        this.isFailing = false
        this.planned = 0
        return
      case "Paused":
        if (state._tag === "Ready") must(this.is("Ready"), "a pause keeps the connection")
        return
      case "Planned":
        if (event.at === undefined) this.#end()
        this.notBefore = event.notBefore
        must(this.is(event.at === undefined ? "Failed" : "Waiting"), "a plan is kept, or the series is over")
        return
      case "Timer":
        if (state._tag !== "Waiting") return
        if (this.#stormWait() === 0) must(this.is("Opening"), "the attempt is made at its time")
        else {
          must(this.is(state.lane === "slow" ? "Waiting" : "Failed"), "the storm rule holds")
          if (state.lane === "fast") {
            this.#end()
            this.notBefore = this.now + this.#stormWait()
          }
        }
        return
      case "Released":
        return
    }
  }

  #forget(): void {
    this.isFailing = false
    this.attempts = []
    this.planned = 0
    this.notBefore = 0
  }

  /** The series is over: only a request leads to another attempt. */
  #end(): void {
    this.planned = 0
    this.isNeeded = false
    this.notBefore = 0
  }

  #stormWait(): number {
    if (!this.isFailing) return 0
    const recent = this.attempts.filter((at) => at > this.now - 2_000)
    return recent.length < 3 ? 0 : recent[recent.length - 3]! + 2_000 - this.now
  }

  #run(command: Lifecycle.Command, event: Lifecycle.Event | undefined, before: Lifecycle.Machine): void {
    switch (command._tag) {
      case "Open": {
        const usable = [...this.connections.values()].filter((state) => state === "opening" || state === "open")
        must(usable.length === 0, "one usable connection at most")
        must(this.releases.length === 0, "an attempt waits for the release of a good connection")
        must(Math.max(0, ...this.connections.keys()) < command.gen, "the number of an attempt is new")
        must(!this.isOff() && !this.isClosing, "what is off makes no attempt")
        must(this.isNeeded, "an attempt is needed")
        must(
          event === undefined || event._tag === "Released" || this.now >= this.notBefore,
          "an attempt waits for Retry-After"
        )
        if (this.isFailing) {
          must(this.#stormWait() === 0, "the storm rule holds back an attempt")
          this.attempts.push(this.now)
        }
        this.connections.set(command.gen, "opening")
        return
      }
      case "Release": {
        const connection = this.connections.get(command.gen)
        if (event?._tag === "Lost" || event?._tag === "OpenFailed") this.connections.set(command.gen, "failed")
        if (command.beside) {
          must(
            event?._tag === "Lost" || event?._tag === "OpenFailed",
            "only what has failed is released beside the backoff"
          )
          must(connection === "open" || connection === "opening", "what is released beside was there")
        } else {
          must(this.releases.length === 0, "one release at a time")
          this.releases.push(command.gen)
        }
        if (connection !== undefined) this.connections.set(command.gen, "released")
        return
      }
      case "Drain":
        must(this.connections.get(command.gen) === "open", "what is drained is open")
        must(!this.drained.has(command.gen), "a connection is drained once")
        this.drained.add(command.gen)
        return
      case "Plan":
        this.planned++
        must(command.attempt === this.planned, "the attempts of a series are counted from one")
        must(command.wasConnected === [...this.connections.keys()].some((gen) => this.#opened.has(gen)), "wasConnected")
        this.plans = [command.gen]
        return
      case "SetTimer":
        this.timer = command
        return
      case "ClearTimer":
        this.timer = undefined
        return
      case "Admit":
        must(this.is("Ready"), "only a connection admits")
        this.waiters = this.first = 0
        return
      case "Reject": {
        this.waiters = this.first = 0
        must(!this.is("Ready", "Idle", "Opening"), "a server that can be used rejects nothing")
        const { error } = command
        const isEnding = this.isClosing || before.state._tag === "Retired" || event?._tag === "Retire"
        must(error.outcome === "not-sent", "what is rejected was not sent")
        if (error._tag === "Closed") {
          must(isEnding || this.is("Closed", "Releasing", "Retired"), "what has ended says so")
        }
        if (error._tag !== "ServerUnavailable") return
        if (error.why === "storm") must(Duration.toMillis(error.retryAfter ?? 0) > 0, "a storm has an end")
        else must(this.isOff() && error.why === (this.machine.blocked ?? error.why), "what is off says why")
        return
      }
      case "RejectFirst":
        this.first = 0
    }
  }

  readonly #opened = new Set<number>()

  opened(gen: number): void {
    this.#opened.add(gen)
    this.connections.set(gen, "open")
  }

  #become(next: ServerStatus.ServerStatus): void {
    if (next === this.status) return
    const isOff = next._tag === "Disabled" || next._tag === "Blocked" || next._tag === "Closed"
    must(isOff || !this.isStopped, "a switch-off is published before what follows it")
    if (isOff) this.isStopped = false
    if (next._tag !== this.status._tag) {
      must(ServerStatus.mayFollow(this.status, next), `${next._tag} may follow ${this.status._tag}`)
      if (isOff || next._tag === "Idle") {
        must(
          [...this.connections.values()].every((state) => state === "released"),
          "what is off has released everything"
        )
        must(this.releases.length === 0, "what is off has ended its processes")
      }
    }
    this.status = next
  }

  #check(): void {
    const { gen, state } = this.machine
    const { timerOf } = this.module
    const usable = [...this.connections].filter(([, connection]) => connection === "opening" || connection === "open")
    const [only] = usable
    const isAwaited = state._tag === "Opening" || state._tag === "Planning" ||
      (state._tag === "Waiting" && state.lane === "fast") ||
      (state._tag === "Releasing" && state.next === "Opening")
    must(this.waiters + this.first === 0 || isAwaited, "callers wait only for what comes soon")
    if (state._tag === "Waiting" && this.waiters + this.first > 0) {
      must(state.until - this.now <= (state.until === state.notBefore ? 60_000 : 15_000), "no caller waits for long")
    }
    const at = state._tag === "Waiting" ? state.until : state._tag === "Ready" ? state.pausedUntil : undefined
    must(at === timerOf(state) && this.timer?.at === at, "the timer is set for the state, and only then")
    must(this.timer === undefined || this.timer.gen === gen, "the timer is of this state")
    switch (state._tag) {
      case "Opening":
        return must(only?.[0] === gen && only[1] === "opening", "an attempt is under way")
      case "Ready":
      case "Retired":
        must(only?.[0] === gen && only[1] === "open", "the connection is there")
        return must(state._tag === "Ready" || this.drained.has(gen), "a retired connection is drained")
    }
    must(usable.length === 0, "every other state has released its connection")
    if (state._tag === "Releasing") must(this.releases.includes(gen), "a release has an answer")
    else must(this.releases.length === 0 || state._tag === "Closed", "a state that waits for no release has none")
    if (state._tag === "Planning") must(this.plans.includes(gen), "a plan has an answer")
    if (this.isOff()) must(this.is("Disabled", "Releasing", "Closed"), "what is off stays off")
    else must(state._tag !== "Disabled", "what is not off is not disabled")
  }
}

const kind = (state: Lifecycle.State): string => state._tag

/** One random event of a life. */
const step = (world: World, pick: Random): void => {
  world.now += [0, 0, 1, 50, 400, 2_500, 20_000][pick(world.pace)]!
  const { gen, state } = world.machine
  const choice = pick(100)
  const error = errors[pick(3)]!
  const next = (["retry", "retry", "retry", "login", "final"] as const)[pick(5)]!
  const era = "session"
  if (choice < 8) {
    // an answer that comes too late, of a command or a connection of before
    const late = gen - 1 - pick(Math.max(1, Math.min(gen, 4)))
    if (late < 1) return
    const stale: ReadonlyArray<Lifecycle.Event> = [
      { _tag: "Opened", gen: late, era },
      { _tag: "OpenFailed", gen: late, error, next },
      { _tag: "Lost", gen: late, error, next },
      { _tag: "Quiet", gen: late },
      { _tag: "Paused", gen: late, until: world.now + 10 },
      { _tag: "Planned", gen: late, at: world.now, lane: "fast", notBefore: 0 },
      { _tag: "Timer", gen: late },
      { _tag: "Released", gen: late }
    ]
    return world.dispatch(stale[pick(stale.length)]!, true)
  }
  if (choice < 40) {
    // what callers and the owner of the link do
    const asked = pick(24)
    const isFirst = pick(2) === 0
    const request = asked < 9 ? "Wanted" : asked < 12 ? "Connect" : asked < 14 ? "Reconnect" : undefined
    if (request !== undefined) {
      if (isFirst) world.first++
      else world.waiters++
      return world.dispatch({ _tag: request })
    }
    if (asked < 17) return world.dispatch({ _tag: "Disable", why: pick(2) === 0 ? "disabled" : "disconnected" })
    if (asked < 20) return world.dispatch({ _tag: "Enable" })
    return world.dispatch({ _tag: asked < 23 && state._tag !== "Retired" || pick(2) === 0 ? "Retire" : "Close" })
  }
  switch (state._tag) {
    case "Opening": {
      if (pick(3) > 0) {
        world.opened(gen)
        return world.dispatch({ _tag: "Opened", gen, era })
      }
      return world.dispatch({ _tag: "OpenFailed", gen, error, next })
    }
    case "Planning": {
      const isOver = pick(6) === 0
      const lane = world.machine.wasConnected && pick(3) === 0 ? "slow" : "fast"
      const delay = [0, 500, 4_000, 16_000, 200_000][pick(5)]!
      const pause = pick(4) === 0 ? [1_000, 30_000, 90_000][pick(3)]! : undefined
      const notBefore = pause === undefined ? 0 : world.now + pause
      return world.dispatch({
        _tag: "Planned",
        gen,
        at: isOver ? undefined : Math.max(world.now + delay, notBefore),
        lane,
        notBefore
      })
    }
    case "Waiting":
    case "Ready":
    case "Retired": {
      if (world.timer !== undefined && pick(2) === 0) {
        const { at, gen } = world.timer
        world.now = Math.max(world.now, at)
        return world.dispatch({ _tag: "Timer", gen })
      }
      if (state._tag === "Waiting") return
      const happened = pick(6)
      if (happened < 3) return world.dispatch({ _tag: "Lost", gen, error, next })
      if (happened < 5) return world.dispatch({ _tag: "Quiet", gen })
      return world.dispatch({ _tag: "Paused", gen, until: world.now + pick(100) - 5 })
    }
    case "Releasing": {
      world.releases = world.releases.filter((one) => one !== gen)
      return world.dispatch({ _tag: "Released", gen })
    }
  }
}

/** Ends a life, and looks at what it has left. */
const finish = (world: World): void => {
  world.dispatch({ _tag: "Close" })
  if (world.is("Releasing")) {
    world.releases = []
    world.dispatch({ _tag: "Released", gen: world.machine.gen })
  }
  must(world.is("Closed"), "every life ends")
  must([...world.connections.values()].every((state) => state === "released"), "a life leaves no connection behind")
  must(world.waiters + world.first === 0 && world.timer === undefined, "a life leaves no caller and no timer behind")
  must(world.status._tag === "Closed", "the end is published")
}

/** Runs random lives for this many events. Throws with the seed and the history of the first life that breaks a rule. */
export const run = (module: Module, events: number, edges?: Edges): void => {
  let count = 0
  for (let seed = 1; count < events; seed++) {
    const pick = random(seed)
    let world: World | undefined = undefined
    try {
      world = new World(module, pick, edges)
      const length = 5 + pick(60)
      for (let n = 0; n < length && !world.is("Closed"); n++) step(world, pick)
      count += world.log.length
      finish(world)
    } catch (error) {
      throw new Error(
        `seed ${seed}: ${error instanceof Error ? error.message : error}\n${
          world?.log.slice(-12).map(show).join("\n")
        }`,
        { cause: error }
      )
    }
  }
}
