/** What the runtime promises, each as something that can be tried. */
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"

/** What was seen in the place of what was promised. */
export class Broken extends Data.TaggedError("Broken")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

export interface Promised {
  readonly promise: string
  /** Gives what was seen, in a few words. */
  readonly check: Effect.Effect<string, Broken | McpError.McpError>
}

type Runtime = McpRuntime.McpRuntime["Type"]

const broken = (detail: string) => Effect.fail(new Broken({ detail }))

const starts = (runtime: Runtime, server: string): Promised => ({
  promise: "starts and connects",
  check: Effect.gen(function*() {
    yield* runtime.servers.connect(server, { until: "settled" })
    const { era, protocolVersion, status, transport } = yield* runtime.servers.get(server)
    return status._tag === "Connected"
      ? `over ${transport}, protocol ${protocolVersion} (${era} era)`
      : yield* broken(`its status is ${status._tag}`)
  })
})

const lists = (runtime: Runtime, server: string, least: number): Promised => ({
  promise: "lists its tools",
  check: Effect.gen(function*() {
    const { denied, rejected, tools } = yield* runtime.refreshTools(server)
    const count = (list: ReadonlyArray<{ readonly server: string }>) =>
      list.filter((one) => one.server === server).length
    const notes = [
      ...(count(rejected) === 0 ? [] : [`${count(rejected)} that cannot be offered`]),
      ...(count(denied) === 0 ? [] : [`${count(denied)} that a rule denies`])
    ]
    const listed = tools.filter(({ serverName }) => serverName === server).length
    return listed < least
      ? yield* broken(`there are ${listed} tools`)
      : [`${listed} tools`, ...notes].join(", and ")
  })
})

const answers = (runtime: Runtime, server: string): Promised => ({
  promise: "answers a ping",
  check: Effect.map(
    Effect.timed(runtime.withClient(server, ({ health }) => health)),
    ([took]) => `within ${Math.ceil(Duration.toMillis(took))} ms`
  )
})

/** A name that nobody gives a tool. */
const nobody = "mcp-runtime-smoke-has-no-such-tool"

const unknown = (runtime: Runtime, server: string): Promised => ({
  promise: "says what is not there",
  check: Effect.gen(function*() {
    const called = yield* Effect.either(runtime.callTool({ server, tool: nobody }, {}))
    if (Either.isRight(called)) return called.right.isError ? "the server says it" : yield* broken("it was called")
    const { _tag, outcome } = called.left
    return _tag === "NotFound" || _tag === "RemoteError" ? `${_tag} (${outcome})` : yield* called.left
  })
})

const reconnects = (runtime: Runtime, server: string): Promised => ({
  promise: "closes a connection and opens another",
  check: Effect.gen(function*() {
    yield* runtime.servers.reconnect(server)
    yield* runtime.withClient(server, ({ health }) => health)
    return "it answers again"
  })
})

/** For any server: none of its tools is called. */
export const ofAny = (runtime: Runtime, server: string): ReadonlyArray<Promised> => [
  starts(runtime, server),
  lists(runtime, server, 0),
  answers(runtime, server),
  unknown(runtime, server),
  reconnects(runtime, server)
]

const sum = (runtime: Runtime, server: string, a: number, b: number) =>
  Effect.flatMap(
    runtime.callTool({ server, tool: "add" }, { a, b }),
    ({ content }) => {
      const text = content.map((part) => part._tag === "Text" ? part.text : part._tag).join(" ")
      return text === String(a + b) ? Effect.succeed(`${a} + ${b} = ${text}`) : broken(`${a} + ${b} = ${text}`)
    }
  )

const calls = (runtime: Runtime, server: string): Promised => ({
  promise: "calls a tool",
  check: sum(runtime, server, 2, 40)
})

const reads = (runtime: Runtime, server: string): Promised => ({
  promise: "reads a resource",
  check: Effect.flatMap(runtime.readResource(server, "demo://poem"), ([first]) =>
    first?._tag === "Text"
      ? Effect.succeed(`${first.text.split("\n").length} lines`)
      : broken("it has no text"))
})

const progress = (runtime: Runtime, server: string): Promised => ({
  promise: "tells the progress of a call",
  check: Effect.suspend(() => {
    let seen = 0
    return Effect.flatMap(
      runtime.callTool({ server, tool: "countdown" }, { from: 3 }, {
        onProgress: () => {
          seen++
        }
      }),
      () => seen === 0 ? broken("there was none") : Effect.succeed(`${seen} steps`)
    )
  })
})

const settle = Duration.seconds(5)

const cancels = (runtime: Runtime, server: string): Promised => ({
  promise: "cancels a call, and keeps the connection",
  check: Effect.gen(function*() {
    const before = yield* runtime.servers.get(server)
    const begun = yield* Deferred.make<void>()
    const call = yield* Effect.fork(
      runtime.callTool({ server, tool: "countdown" }, { from: 100 }, {
        onProgress: () => Deferred.unsafeDone(begun, Effect.void)
      })
    )
    const early = yield* Effect.raceFirst(
      Effect.as(Deferred.await(begun), Option.none<string>()),
      Effect.map(Fiber.await(call), ({ _tag }) => Option.some(_tag))
    )
    if (Option.isSome(early)) return yield* broken("the call ended before it was cancelled")
    const ended = yield* Effect.timeoutOption(Fiber.interrupt(call), settle)
    if (Option.isNone(ended)) return yield* broken("the call goes on")
    yield* sum(runtime, server, 1, 1)
    const after = yield* runtime.servers.get(server)
    return after.callsInFlight === 0 && after.connectedSince === before.connectedSince
      ? "the next call went over the same connection"
      : yield* broken("the connection is another one")
  })
})

const refuses = (runtime: Runtime, server: string): Promised => ({
  promise: "refuses what a rule denies",
  check: Effect.gen(function*() {
    const called = yield* Effect.either(runtime.callTool({ server, tool: "greet" }, {}))
    if (Either.isRight(called)) return yield* broken("it was called")
    return called.left._tag === "PermissionDenied" ? "nothing was sent" : yield* called.left
  })
})

const survives = (runtime: Runtime, server: string): Promised => ({
  promise: "survives a crash of the server",
  check: Effect.gen(function*() {
    const crashed = yield* Effect.either(runtime.callTool({ server, tool: "crash" }, {}))
    if (Either.isRight(crashed)) return yield* broken("it did not crash")
    const again = yield* sum(runtime, server, 4, 3)
    return `${McpError.label(crashed.left)} (${crashed.left.outcome}), and then ${again}`
  })
})

/** For the server that comes with the program, whose tools are known to be harmless. */
export const ofDemo = (runtime: Runtime, server: string): ReadonlyArray<Promised> => [
  starts(runtime, server),
  // a fifth is denied
  lists(runtime, server, 4),
  answers(runtime, server),
  calls(runtime, server),
  reads(runtime, server),
  progress(runtime, server),
  cancels(runtime, server),
  unknown(runtime, server),
  refuses(runtime, server),
  survives(runtime, server)
]

/** The rule that `refuses what a rule denies` is about. */
export const rules = (server: string) => [{ decision: "deny" as const, server, tool: "greet" }]
