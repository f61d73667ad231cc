/** Servers with all that an adapter must show, and a runtime over them. */
import { Deferred, Effect } from "effect"
import * as ToolHandler from "../../src/agent/ToolHandler.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as Agent from "./agent.ts"
import * as Pool from "./pool.ts"

/** One pixel. */
export const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

export const longName = `${"a_long_name_".repeat(6)}of_80_ch`

/** Not what a schema of arguments usually looks like, and a pattern that takes a backtracking engine for ever. */
export const echoSchema = {
  type: "object",
  properties: { text: { $ref: "#/$defs/text" }, count: { type: "integer" } },
  required: ["text"],
  $defs: { text: { type: "string", description: "What is said", pattern: "^(a+)+$" } }
} as const

export const catastrophic = `${"a".repeat(40)}!`

const image = { type: "image", mimeType: "image/png", data: png }

const tools: ReadonlyArray<MemoryServer.Tool> = [
  {
    name: "echo",
    description: "Says it again",
    inputSchema: echoSchema,
    call: ({ text }) => Effect.succeed({ content: [{ type: "text", text }], structuredContent: { said: text ?? null } })
  },
  { name: "draw", call: () => Effect.succeed({ content: [{ type: "text", text: "a picture" }, image] }) },
  {
    name: "bad_picture",
    call: () => Effect.succeed({ content: [{ ...image, data: "not base64" }, { ...image, mimeType: "image/tiff" }] })
  },
  { name: "fail", call: () => Effect.succeed({ isError: true, content: [{ type: "text", text: "out of paper" }] }) },
  { name: "refuse", call: () => Effect.fail(new MemoryServer.Refused({ code: -32602, message: "no such city" })) },
  { name: "same", call: () => Effect.succeed("of one") },
  { name: longName, call: () => Effect.succeed("a long way") }
]

export interface World {
  readonly one: MemoryServer.Server
  readonly handler: ToolHandler.ToolHandler["Type"]
  /** The tools of `one` become these, and the runtime knows. */
  readonly change: (tools: ReadonlyArray<MemoryServer.Tool>) => Effect.Effect<void>
  /** Succeeds once the server was told that a call of `hang` is not wanted any more. */
  readonly cancelled: Effect.Effect<void>
  /** Succeeds once a call of `hang` has come. */
  readonly hanging: Effect.Effect<void>
}

export const run = <A, E, R>(body: (world: World) => Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const cancelled = yield* Deferred.make<void>()
    const hang: MemoryServer.Tool = {
      name: "hang",
      call: (_, context) =>
        Effect.zipRight(context.cancelled, Effect.zipRight(Deferred.succeed(cancelled, undefined), Effect.never))
    }
    const one = yield* MemoryServer.make({ era: "session", tools: [...tools, hang] })
    const two = yield* MemoryServer.make({
      era: "session",
      tools: [{ name: "same", call: () => Effect.succeed("of two") }]
    })
    const servers = [Pool.remote("one"), Pool.remote("two")]
    return yield* Effect.gen(function*() {
      const handler = yield* ToolHandler.ToolHandler
      const runtime = yield* McpRuntime.McpRuntime
      yield* handler.definitions()
      return yield* body({
        one,
        handler,
        change: (tools) =>
          Effect.gen(function*() {
            const events = yield* runtime.subscribe
            yield* one.update({ tools })
            yield* events.take.pipe(Effect.repeat({ until: ({ _tag }) => _tag === "ToolsRefreshed" }))
          }).pipe(Effect.scoped, Effect.orDie),
        cancelled: Deferred.await(cancelled),
        hanging: one.until(() => one.executions("hang") === 1)
      })
    }).pipe(Effect.provide(Agent.layer({ one, two }, { servers })))
  })

export const tool = (name: string): MemoryServer.Tool => ({ name, call: () => Effect.succeed(name) })
