/**
 * One case of the fleet: a server that misbehaves, a session with it, and what must hold whatever happens.
 *
 * Every operation settles; every failure is one well-formed `McpError`; the case ends in time; and when it has ended,
 * no process, socket, timer or fiber of ours is left.
 */
import { assert, it } from "@effect/vitest"
import { Cause, Context, Duration, Effect, Exit, Layer, Option, Scope, Stream, Supervisor } from "effect"
import { createHook } from "node:async_hooks"
import * as Connector from "../../src/client/Connector.ts"
import type * as McpClient from "../../src/client/McpClient.ts"
import * as Limits from "../../src/config/Limits.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpError from "../../src/McpError.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as NodeConnector from "../../src/node/NodeConnector.ts"
import * as Teardown from "../../src/resilience/Teardown.ts"
import type * as ToolResult from "../../src/tools/ToolResult.ts"
import type * as Transport from "../../src/transport/Transport.ts"

/** Longer than anything here takes, shorter than what a person calls hanging. */
const caseBound = Duration.seconds(8)
const settleBound = Duration.seconds(5)

export interface Options {
  /** How much the resident set may grow, in MiB, where the case is about memory. */
  readonly memory?: number | undefined
  /**
   * How long the event loop may stand still, in milliseconds, where the case is about that. Measured in time on the
   * processor, so that what else the machine does is not counted.
   */
  readonly lag?: number | undefined
  /** How long the case may take where it does the same thing many times. */
  readonly bound?: Duration.DurationInput | undefined
  readonly limits?: Partial<Limits.Limits> | undefined
  readonly teardown?: Partial<Teardown.Options> | undefined
}

export interface Peer {
  /** Opens a session that lives until the next `close`, or until the case ends. */
  readonly open: Effect.Effect<McpClient.McpClient, McpError.ConnectError>
  /** Closes everything that `open` opened; twice is once. */
  readonly close: Effect.Effect<void>
  /** How each connection ended so far. */
  readonly ends: Effect.Effect<ReadonlyArray<Teardown.ServerEnd>>
  /** The diagnostics so far. */
  readonly diagnostics: () => ReadonlyArray<Transport.Diagnostic>
}

/** The clean end of a case: everything is closed, and nobody is left who is asked for here. */
export interface Remains {
  /** Names what is left, or is empty. */
  readonly left: () => ReadonlyArray<string>
}

const teardown: Partial<Teardown.Options> = {
  stdinGrace: "300 millis",
  termGrace: "300 millis",
  farewellTimeout: "300 millis"
}

/** `FLEET_ADAPTER=sdk` runs the cases of the session era over the other adapter. */
const layerWith = process.env["FLEET_ADAPTER"] === "sdk" ? NodeConnector.layerSdk : NodeConnector.layer

const environment = (options: Options) =>
  layerWith({ teardown: { ...teardown, ...options.teardown } }).pipe(
    Layer.provide(Limits.layer(options.limits ?? {}))
  )

type Services = Connector.Connector | Teardown.Teardown | McpEvent.McpEvents

const makePeer = (config: ServerConfig.ServerConfig): Effect.Effect<Peer, never, Services | Scope.Scope> =>
  Effect.gen(function*() {
    const context = yield* Effect.context<Services>()
    const events = Context.get(context, McpEvent.McpEvents)
    const connections = new Set<Scope.CloseableScope>()
    const close = Effect.suspend(() =>
      Effect.forEach(connections, (scope) => Scope.close(scope, Exit.void), { concurrency: "unbounded", discard: true })
    )
    yield* Effect.addFinalizer(() => close)
    const diagnostics: Array<Transport.Diagnostic> = []
    yield* events.stream.pipe(
      Stream.runForEach((event) =>
        Effect.sync(() => {
          if (event._tag === "Diagnostic") diagnostics.push(event.diagnostic)
        })
      ),
      Effect.forkScoped
    )
    // The subscription exists once its fiber has run.
    yield* Effect.yieldNow()
    return {
      open: Effect.flatMap(Scope.make(), (scope) => {
        connections.add(scope)
        return Effect.provide(Scope.extend(Connector.open(config), scope), context)
      }),
      close: succeeds("close", close),
      ends: Effect.map(Context.get(context, Teardown.Teardown).report, (report) => report.servers),
      diagnostics: () => diagnostics
    }
  })

/** What holds this process up, by kind. */
const handles = (): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

const kinds = ["ProcessWrap", "PipeWrap", "TCPSocketWrap", "TCPServerWrap", "TLSWrap", "GetAddrInfoReqWrap"]

const surplus = (before: ReadonlyMap<string, number>): ReadonlyArray<string> => {
  const now = handles()
  return kinds.flatMap((kind) => {
    const more = (now.get(kind) ?? 0) - (before.get(kind) ?? 0)
    return more > 0 ? [`${more} × ${kind}`] : []
  })
}

/**
 * The timers that were set while the effect ran and are set still. The test runner has timers of its own that come and
 * go, so counting them all would tell nothing.
 */
const timersOf = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<() => ReadonlyArray<string>, E, R> =>
  Effect.suspend(() => {
    const timers = new Set<object>()
    const hook = createHook({
      init: (_id, type, _trigger, timer) => {
        if (type === "Timeout") timers.add(timer)
      }
    }).enable()
    const set = () => Array.from(timers).filter((timer) => "_destroyed" in timer && timer._destroyed === false)
    return self.pipe(
      Effect.ensuring(Effect.sync(() => hook.disable())),
      Effect.as(() => set().map((timer) => `a timer of ${Reflect.get(timer, "_idleTimeout")} ms`))
    )
  })

/** Waits, for a bounded time, until nothing is left. */
const nothing = (what: string, left: () => ReadonlyArray<string>, patience = 100): Effect.Effect<void> =>
  Effect.suspend(() => {
    const remains = left()
    if (remains.length === 0) return Effect.void
    if (patience === 0) return Effect.sync(() => assert.fail(`${what}: ${remains.join(", ")}`))
    return Effect.delay(nothing(what, left, patience - 1), "10 millis")
  })

/** Watches memory and the event loop while the effect runs. */
const watched = <A, E>(options: Options, self: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  options.memory === undefined && options.lag === undefined ? self : Effect.gen(function*() {
    const before = process.memoryUsage().rss
    let peak = before
    let usage = process.cpuUsage()
    let longest = 0
    const sample = Effect.sync(() => {
      const { system, user } = process.cpuUsage(usage)
      usage = process.cpuUsage()
      longest = Math.max(longest, (system + user) / 1000)
      peak = Math.max(peak, process.memoryUsage().rss)
    })
    yield* Effect.forkScoped(Effect.forever(Effect.delay(sample, "20 millis")))
    const result = yield* self
    yield* sample
    const grown = Math.round((peak - before) / 1024 / 1024)
    if (options.memory !== undefined) assert.isBelow(grown, options.memory, "MiB of resident memory")
    if (options.lag !== undefined) {
      assert.isBelow(longest, options.lag, "ms of work between two turns of the event loop")
    }
    return result
  }).pipe(Effect.scoped)

/** The fibers that a tracking supervisor knows to be running: read at once, where its effect would need a fiber. */
const fibersOf = (supervisor: Supervisor.Supervisor<unknown>): Iterable<unknown> =>
  "fibers" in supervisor && supervisor.fibers instanceof Set ? supervisor.fibers : assert.fail("no tracking supervisor")

/**
 * Runs a case. `arrange` starts the server and says what must be gone at the end; `use` is the case itself.
 */
export const run = <Server, E>(
  arrange: Effect.Effect<
    { readonly config: ServerConfig.ServerConfig; readonly server: Server; readonly remains: Remains },
    never,
    Scope.Scope
  >,
  use: (peer: Peer, server: Server) => Effect.Effect<unknown, E, Scope.Scope>,
  options: Options = {}
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const before = handles()
    const supervisor = yield* Supervisor.track
    const timers = yield* timersOf(Effect.scoped(Effect.gen(function*() {
      const { config, remains, server } = yield* arrange
      const body = Effect.scoped(Effect.flatMap(makePeer(config), (peer) => use(peer, server))).pipe(
        Effect.provide(environment(options)),
        Effect.supervised(supervisor)
      )
      yield* watched(options, body).pipe(
        Effect.disconnect,
        Effect.timeoutFail({ duration: options.bound ?? caseBound, onTimeout: () => new Error("the case did not end") })
      )
      // The connections are closed here; what the server still sees of us is on its way out.
      yield* nothing("left after the close", remains.left)
    })))
    yield* nothing("left fibers", () => Array.from(fibersOf(supervisor), () => "a fiber"))
    yield* nothing("left timers", timers)
    yield* nothing("left handles", () => surplus(before))
  }).pipe(Effect.orDie)

/** The operation ends in time, one way or the other. */
export const settles = <A, E, R>(
  what: string,
  operation: Effect.Effect<A, E, R>,
  within: Duration.DurationInput = settleBound
): Effect.Effect<Exit.Exit<A, E>, never, R> =>
  Effect.exit(operation).pipe(
    Effect.disconnect,
    Effect.timeoutOption(within),
    Effect.map(Option.getOrElse(() => assert.fail(`${what} did not settle within ${Duration.format(within)}`)))
  )

/** The operation succeeds in time. */
export const succeeds = <A, E, R>(
  what: string,
  operation: Effect.Effect<A, E, R>,
  within?: Duration.DurationInput
): Effect.Effect<A, never, R> =>
  Effect.map(
    settles(what, operation, within),
    (exit) => Exit.isSuccess(exit) ? exit.value : assert.fail(`${what} failed: ${Cause.pretty(exit.cause)}`)
  )

type Fields = { readonly [field: string]: unknown }

// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/

/** The rules that hold for every error, whatever has happened. */
export const wellFormed = (error: McpError.McpError): void => {
  assert.isTrue(McpError.isMcpError(error), `not an error of ours: ${String(error)}`)
  assert.strictEqual(error.server, "fleet")
  assert.include(["not-sent", "unknown", "executed"], error.outcome)
  assert.isBoolean(error.isRetryable)
  assert.isBoolean(error.countsForBreaker)
  assert.isBelow(error.message.length, 4096, "length of the message")
  assert.notMatch(error.message, control)
}

/** A tag, or a tag and a reason as `McpError.label` writes them. */
export type Expected = McpError.McpError["_tag"] | `${McpError.McpError["_tag"]}/${string}`

/**
 * The operation fails in time, with one typed error of one of these tags and with these fields; a field that is a
 * function is a predicate.
 */
export const fails = <A, E, R>(
  what: string,
  operation: Effect.Effect<A, E, R>,
  tags: Expected | ReadonlyArray<Expected>,
  fields: Fields = {},
  within?: Duration.DurationInput
): Effect.Effect<McpError.McpError, never, R> =>
  Effect.map(settles(what, operation, within), (exit) => failure(what, exit, tags, fields))

/** What `fails` asserts of an exit. */
export const failure = <A, E>(
  what: string,
  exit: Exit.Exit<A, E>,
  tags: Expected | ReadonlyArray<Expected>,
  fields: Fields = {}
): McpError.McpError => {
  if (Exit.isSuccess(exit)) return assert.fail(`${what} succeeded: ${JSON.stringify(exit.value)?.slice(0, 500)}`)
  const found = exit.cause._tag === "Fail" ? exit.cause.error : undefined
  if (!McpError.isMcpError(found)) return assert.fail(`${what} failed otherwise: ${Cause.pretty(exit.cause)}`)
  wellFormed(found)
  const isExpected = (tag: Expected) => tag.includes("/") ? McpError.label(found) === tag : found._tag === tag
  assert.isTrue(
    (typeof tags === "string" ? [tags] : tags).some(isExpected),
    `${what}: expected ${String(tags)}, not ${McpError.label(found)}: ${found.message}`
  )
  for (const [field, expected] of Object.entries(fields)) {
    const actual: unknown = Reflect.get(found, field)
    if (typeof expected === "function") {
      assert.isTrue(expected(actual), `${what}: ${field} of ${found._tag} is ${String(actual)}`)
    } else assert.deepStrictEqual(actual, expected, `${what}: ${field} of ${found._tag}`)
  }
  return found
}

/** The texts of a result. */
export const textOf = (result: ToolResult.ToolResult): string =>
  result.content.map((content) => content._tag === "Text" ? content.text : `<${content._tag}>`).join("")

/** A case may be impatient with what hangs; what works may take its time on a busy machine. */
const patient = { idleTimeout: "4 seconds" } as const

/** The session works: an echo comes back as it went. */
export const echoes = (session: McpClient.McpClient, text = "grüß dich 👋"): Effect.Effect<void> =>
  Effect.map(
    succeeds("echo", session.callTool("echo", { text }, patient)),
    (result) => assert.strictEqual(textOf(result), text)
  )

/** A case as a test; its name is the mode and what must hold. */
export const test = (mode: string, says: string, body: Effect.Effect<void>): void =>
  it.live(`${mode}: ${says}`, () => body, 30_000)
