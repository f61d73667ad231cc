/** The calling nodes that a home serves: what each is to be sent, what it is asked, and which of its calls have begun. */
import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Scope from "effect/Scope"
import type * as InputHandlers from "../client/InputHandlers.ts"
import { objectOf, textOf } from "../client/messages.ts"
import * as ServerRequests from "../client/serverRequests.ts"
import type * as McpError from "../McpError.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as FleetServer from "./FleetServer.ts"

/** A call that has begun. It is kept until its caller has the result. */
export type Running = Fiber.RuntimeFiber<FleetServer.Result, McpError.CallError>

/** A calling node, from its first attachment until it detaches or gives no sign of life. */
export interface Caller {
  /** Closed when the caller is forgotten. */
  readonly scope: Scope.CloseableScope
  readonly calls: Map<number, Running>
  /** The calls up to `settledTo` and those in `settled` have ended for the caller. They are never begun again. */
  readonly settled: Set<number>
  settledTo: number
  readonly watches: Map<number, { readonly scope: Scope.CloseableScope; readonly ofResources: boolean }>
  readonly questions: Map<number, Deferred.Deferred<JsonRpc.JsonObject, ServerRequests.Refused>>
  inFlight: number
  /** Counts the calls of all callers, up to the last one of this caller. */
  lastCall: number
  /** What the caller has not read yet. */
  readonly events: Array<FleetServer.Event>
  /** How many events it has read. */
  read: number
  /** Opened by each event. */
  readonly news: Effect.Latch
  /** The incarnation that the caller knows, or waits for. */
  opened: string | "opening" | undefined
  /** When the caller was last heard of. */
  heardAt: number
}

/** How many events a caller may leave unread before it is forgotten. */
const backlog = 10_000

export class Callers {
  readonly #callers = new Map<string, Caller>()
  readonly #scope: Scope.Scope
  readonly #clock: Clock.Clock
  #questions = 0
  #calls = 0

  constructor(scope: Scope.Scope, clock: Clock.Clock) {
    this.#scope = scope
    this.#clock = clock
  }

  get(id: string): Caller | undefined {
    return this.#callers.get(id)
  }

  /** The caller, which is known from now on. */
  know(id: string): Effect.Effect<Caller> {
    return Effect.suspend(() => {
      const known = this.#callers.get(id)
      if (known !== undefined) return Effect.succeed(known)
      return Effect.map(Scope.fork(this.#scope, ExecutionStrategy.parallel), (scope) => {
        const caller: Caller = {
          scope,
          calls: new Map(),
          settled: new Set(),
          settledTo: 0,
          watches: new Map(),
          questions: new Map(),
          inFlight: 0,
          lastCall: 0,
          events: [],
          read: 0,
          news: Effect.unsafeMakeLatch(false),
          opened: undefined,
          heardAt: this.#clock.unsafeCurrentTimeMillis()
        }
        this.#callers.set(id, caller)
        return caller
      })
    })
  }

  /** Ends everything that was begun for a caller. */
  forget(id: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const caller = this.#callers.get(id)
      this.#callers.delete(id)
      if (caller === undefined) return Effect.void
      caller.news.unsafeOpen()
      for (const running of caller.calls.values()) running.unsafeInterruptAsFork(FiberId.none)
      return Scope.close(caller.scope, Exit.void)
    })
  }

  /** The callers that have not been heard of since `time`, or do not read. */
  silentSince(time: number): ReadonlyArray<string> {
    return Array.from(this.#callers).flatMap(([id, { events, heardAt }]) =>
      heardAt < time || events.length > backlog ? [id] : []
    )
  }

  /** Forgets the results of calls, and remembers their numbers. */
  settle(caller: Caller, calls: ReadonlyArray<number>): void {
    for (const call of calls) {
      caller.calls.delete(call)
      if (call > caller.settledTo) caller.settled.add(call)
    }
    while (caller.settled.delete(caller.settledTo + 1)) caller.settledTo++
  }

  /** Runs a call of a caller. */
  during<A, E>(caller: Caller, call: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      caller.inFlight++
      caller.lastCall = ++this.#calls
      return Effect.ensuring(call, Effect.sync(() => caller.inFlight--))
    })
  }

  get inFlight(): number {
    let count = 0
    for (const caller of this.#callers.values()) count += caller.inFlight
    return count
  }

  some(holds: (caller: Caller) => boolean): boolean {
    return Array.from(this.#callers.values()).some(holds)
  }

  send(caller: Caller, event: FleetServer.Event): void {
    caller.events.push(event)
    caller.news.unsafeOpen()
  }

  /** Sends an event to every caller that has the connection. */
  broadcast(event: FleetServer.Event): void {
    for (const caller of this.#callers.values()) if (caller.opened !== undefined) this.send(caller, event)
  }

  /** Sends a last event to every caller, after which none has the connection. */
  dismiss(last: (caller: Caller) => FleetServer.Event): void {
    for (const caller of this.#callers.values()) {
      if (caller.opened === undefined) continue
      this.send(caller, last(caller))
      caller.opened = undefined
    }
  }

  /** Waits up to `limit` for events after the first `read` ones, which the caller has. */
  listen(caller: Caller, read: number, limit: Duration.DurationInput): Effect.Effect<FleetServer.Events> {
    return Effect.gen(this, function*() {
      caller.heardAt = this.#clock.unsafeCurrentTimeMillis()
      const more = Math.max(0, read - caller.read)
      caller.events.splice(0, more)
      caller.read += more
      if (caller.events.length === 0) {
        caller.news.unsafeClose()
        yield* Effect.timeoutOption(caller.news.await, limit)
      }
      return { read: caller.read, events: [...caller.events] }
    })
  }

  /**
   * Asks the application of a caller. Servers do not say which call a question belongs to, so it goes to the caller whose
   * calls are in flight; of several, to the one that called last.
   */
  ask(method: string, params: JsonRpc.JsonObject): Effect.Effect<JsonRpc.JsonObject, ServerRequests.Refused> {
    return Effect.suspend(() => {
      const attached = Array.from(this.#callers.values()).filter(({ opened }) => opened !== undefined)
      const busy = attached.filter(({ inFlight }) => inFlight > 0)
      const caller = (busy.length > 0 ? busy : attached).toSorted((a, b) => a.lastCall - b.lastCall).at(-1)
      if (caller === undefined) return new ServerRequests.Refused({ code: -32603, reason: "No caller is attached" })
      const id = ++this.#questions
      const answer = Deferred.unsafeMake<JsonRpc.JsonObject, ServerRequests.Refused>(FiberId.none)
      caller.questions.set(id, answer)
      this.send(caller, { _tag: "Question", id, method, params })
      return Deferred.await(answer).pipe(
        Effect.onInterrupt(() => Effect.sync(() => this.send(caller, { _tag: "Withdrawn", id }))),
        Effect.ensuring(Effect.sync(() => caller.questions.delete(id)))
      )
    })
  }
}

/** The handlers that ask the callers, for the capabilities that the first one declares. */
export const handlers = (callers: Callers, declared: JsonRpc.JsonObject): InputHandlers.Handlers => {
  const { elicitation, roots, sampling, ...capabilities } = declared
  const has = (declaration: JsonRpc.Json | undefined) => declaration !== undefined
  return {
    capabilities,
    roots: has(roots)
      ? () => Effect.match(callers.ask("roots/list", {}), { onSuccess: rootsOf, onFailure: () => [] })
      : undefined,
    elicit: has(elicitation)
      ? ({ params }) =>
        Effect.match(callers.ask("elicitation/create", params), {
          onSuccess: answerOf,
          onFailure: (): InputHandlers.ElicitationAnswer => ({ action: "cancel" })
        })
      : undefined,
    elicitModes: (["form", "url"] as const).filter((mode) => Object.hasOwn(objectOf(elicitation), mode)),
    sample: has(sampling)
      ? ({ params }) =>
        Effect.match(callers.ask("sampling/createMessage", params), {
          onSuccess: (result): JsonRpc.JsonObject | undefined => result,
          onFailure: () => undefined
        })
      : undefined,
    sampleTools: Object.hasOwn(objectOf(sampling), "tools")
  }
}

const rootsOf = ({ roots }: JsonRpc.JsonObject): ReadonlyArray<InputHandlers.Root> =>
  (Array.isArray(roots) ? roots : []).flatMap((root) => {
    const { name, uri } = objectOf(root)
    return typeof uri === "string" ? [{ uri, name: textOf(name) }] : []
  })

const answerOf = ({ action, content }: JsonRpc.JsonObject): InputHandlers.ElicitationAnswer =>
  action === "accept"
    ? { action, content: content === undefined ? undefined : objectOf(content) }
    : { action: action === "decline" ? action : "cancel" }
