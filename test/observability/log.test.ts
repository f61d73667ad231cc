/** Where lines of the log go while the application has chosen no logger: `log` is stdout, and `error` is stderr. */
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Layer, Logger } from "effect"
import * as InputHandlers from "../../src/client/InputHandlers.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeMcpRuntime from "../../src/node/NodeMcpRuntime.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as PipedCaller from "../support/pipedCaller.ts"

/** What the loggers of Effect write, by the method of the console that they write with. */
const recorded = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Console.consoleWith((real) => {
    const lines: { readonly log: Array<string>; readonly error: Array<string> } = { log: [], error: [] }
    const unsafe: Console.UnsafeConsole = {
      ...real.unsafe,
      log: (...args) => void lines.log.push(args.join(" ")),
      error: (...args) => void lines.error.push(args.join(" "))
    }
    return Effect.as(Effect.withConsole(self, { ...real, unsafe }), lines)
  })

const loggers = [
  ["default", Layer.empty],
  // what `NodeRuntime.runMain` puts in the place of the default
  ["pretty", Logger.replace(Logger.defaultLogger, Logger.prettyLoggerDefault)]
] as const

describe.each(loggers)("without a logger of the application (%s)", (_, logger) => {
  for (const era of ["session", "stateless"] as const) {
    it.live(`what a handler of input logs is the application's, and the rest goes to stderr (${era} era)`, () =>
      Effect.gen(function*() {
        const server = yield* MemoryServer.make({
          era,
          tools: [{ name: "ask", call: (_, { ask }) => Effect.as(ask("roots/list"), "asked") }]
        })
        const roots = () => Effect.as(Effect.logInfo("logged by a handler"), [])
        const { error, log } = yield* Effect.gen(function*() {
          const mcp = yield* McpRuntime.McpRuntime
          yield* mcp.callTool({ server: "s", tool: "ask" })
          yield* Effect.logInfo("logged by the caller")
          yield* Effect.ignore(mcp.callTool({ server: "gone", tool: "any" }))
        }).pipe(
          Effect.provide(Layer.provideMerge(
            NodeMcpRuntime.layer({
              servers: [MemoryTransport.config("s"), MemoryTransport.config("gone")],
              cacheDirectory: "memory"
            }).pipe(
              NodeMcpRuntime.using(Layer.merge(MemoryTransport.layer({ s: server }), InputHandlers.layer({ roots })))
            ),
            logger
          )),
          recorded
        )
        const about = (lines: ReadonlyArray<string>, text: string) => lines.filter((line) => line.includes(text)).length
        assert.isAtLeast(about(log, "logged by a handler"), 1)
        assert.strictEqual(about(error, "logged by a handler"), 0)
        assert.strictEqual(about(log, "logged by the caller"), 1)
        assert.isAtLeast(about(error, "startup complete"), 1)
        assert.strictEqual(about(log, "startup complete"), 0)
      }))
  }

  it.live("what a handler of a server logs is the application's, and its defect is told on stderr", () =>
    Effect.gen(function*() {
      const offer = PipedCaller.offer({
        "tools/list": () => Effect.as(Effect.logInfo("logged by a handler"), {}),
        "tools/call": () => Effect.die(new Error("a bug"))
      })
      const { error, log } = yield* Effect.gen(function*() {
        const caller = yield* PipedCaller.initialized(offer)
        caller.request(1, "tools/list")
        yield* caller.next
        caller.request(2, "tools/call", { name: "t" })
        yield* caller.next
        yield* caller.end
        yield* caller.ended
      }).pipe(Effect.scoped, Effect.provide(logger), recorded)
      assert.include(log.join("\n"), "logged by a handler")
      assert.notInclude(log.join("\n"), "a bug")
      assert.include(error.join("\n"), "a bug")
      assert.notInclude(error.join("\n"), "logged by a handler")
    }))
})
