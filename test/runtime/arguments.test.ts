import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as Approval from "../../src/safety/Approval.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as Pool from "../support/pool.ts"
import * as Runtime from "../support/runtime.ts"

interface Move {
  readonly path: string
  readonly to?: { readonly folder: string }
}

const move: Move = { path: "/a", to: { folder: "b" } }

const cycle: Record<string, unknown> = { name: "a" }
cycle["inner"] = { back: cycle }

/** Values that are not JSON, and the path that the error names. */
const faults: ReadonlyArray<readonly [args: Record<string, unknown>, path: string]> = [
  [{ count: 1n }, "arguments/count"],
  [{ steps: [{}, { run: () => 1 }] }, "arguments/steps/1/run"],
  [{ size: Infinity }, "arguments/size"],
  [{ kind: Symbol("a") }, "arguments/kind"],
  [{ until: { toJSON: () => Number.NaN } }, "arguments/until"],
  [cycle, "arguments/inner/back/inner/back"]
]

type Runtime = McpRuntime.McpRuntime["Type"]

/** Every way to call a tool. */
const ways: Readonly<
  Record<string, (runtime: Runtime, args: Record<string, unknown>) => Effect.Effect<unknown, unknown>>
> = {
  callTool: ({ callTool }, args) => callTool("mcp__a__echo", args, { origin: "model" }),
  callToolStream: ({ callToolStream }, args) =>
    Stream.runLast(callToolStream("mcp__a__echo", args, { origin: "model" })),
  RuntimeTool: ({ tool }, args) => Effect.flatMap(tool("mcp__a__echo"), ({ call }) => call(args, { origin: "model" })),
  session: ({ withClient }, args) => withClient("a", (session) => session.callTool("echo", args), { origin: "model" })
}

const run = <A, E>(
  body: (runtime: Runtime, peer: MemoryServer.Server) => Effect.Effect<A, E>,
  options: Partial<Runtime.Options> = {}
) =>
  Effect.gen(function*() {
    const peer = yield* MemoryServer.make({
      era: "session",
      tools: [{ name: "echo", call: (args) => Effect.succeed(JSON.stringify(args)) }]
    })
    const layer = Runtime.layer({ a: peer }, { servers: [Pool.remote("a")], ...options })
    return yield* Effect.flatMap(
      McpRuntime.McpRuntime,
      (runtime) => Effect.zipRight(runtime.tools, body(runtime, peer))
    ).pipe(Effect.provide(layer))
  })

const refuses = (runtime: Runtime, peer: MemoryServer.Server) =>
  Effect.forEach(
    Object.entries(ways),
    ([way, call]) =>
      Effect.forEach(faults, ([args, path]) =>
        Effect.gen(function*() {
          const error = yield* Effect.flip(call(runtime, args))
          assert.deepInclude(error, { _tag: "InvalidArguments", server: "a", operation: "tools/call" }, way)
          assert(typeof error === "object" && error !== null && "path" in error && typeof error.path === "string")
          assert.isTrue(error.path.startsWith(path), `${way}: ${error.path} begins with ${path}`)
          assert.strictEqual(peer.executions("echo"), 0)
        }))
  )

const everything = { model: "allow", program: "allow", person: "allow" } as const

describe("arguments of a call", () => {
  it.scoped("may be an interface or a record of unknown values", () =>
    run((runtime) =>
      Effect.forEach(Object.values(ways), (call) =>
        Effect.gen(function*() {
          const record: Record<string, unknown> = { ...move }
          yield* call(runtime, record)
          const { content } = yield* runtime.callTool("mcp__a__echo", move)
          assert.deepInclude(content[0], { text: JSON.stringify(move) })
        })), { permissions: { otherwise: everything } }))

  it.scoped("are sent as their toJSON methods give them, also after a permission", () =>
    Effect.forEach(
      [
        { otherwise: everything },
        { rules: [{ decision: "deny" as const, tool: "a/echo", args: { day: "2*" } }], otherwise: everything }
      ],
      (permissions) =>
        run((runtime) =>
          Effect.forEach(Object.values(ways), (call) =>
            Effect.gen(function*() {
              const args = { day: new Date(0), range: { toJSON: () => undefined }, list: [{ toJSON: () => "b" }] }
              yield* call(runtime, args)
              const { content } = yield* runtime.callTool("mcp__a__echo", args, { origin: "model" })
              assert.deepInclude(content[0], { text: JSON.stringify(args) })
            })), { permissions })
    ))

  it.scoped("that are not JSON are refused with their path, where everything is permitted", () =>
    run(refuses, { permissions: { otherwise: everything } }))

  it.scoped("that are not JSON are refused with their path before a rule or a person sees them", () => {
    let asked = 0
    return Effect.zipRight(
      run(refuses, {
        permissions: { rules: [{ decision: "deny", tool: "a/echo", args: { name: "nothing" } }] },
        approval: Approval.layer(() =>
          Effect.sync(() => {
            asked++
            return { _tag: "Once" as const }
          })
        )
      }),
      Effect.sync(() => assert.strictEqual(asked, 0))
    )
  })

  it.scoped("that are not an object are refused", () =>
    run((runtime, peer) =>
      Effect.forEach([[], "text", 1, null], (value) =>
        Effect.gen(function*() {
          // the cast: as a program without types gives it
          const error = yield* Effect.flip(ways["callTool"]!(runtime, value as unknown as Record<string, unknown>))
          assert.deepInclude(error, { _tag: "InvalidArguments", path: "arguments" })
          assert.strictEqual(peer.executions("echo"), 0)
        })), { permissions: { otherwise: everything } }))
})
