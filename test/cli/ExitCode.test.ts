import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber } from "effect"
import * as Cli from "../../src/cli/Cli.ts"
import type * as Command from "../../src/cli/Command.ts"
import { Usage } from "../../src/cli/Command.ts"
import { near } from "../../src/cli/lookup.ts"
import * as Screen from "../../src/cli/Screen.ts"
import * as McpError from "../../src/McpError.ts"
import * as Device from "./device.ts"

const server = "s\u001b[31m"

const errors: ReadonlyArray<readonly [error: Command.Failure, code: number, next: RegExp]> = [
  [new Usage({ detail: "No.", next: "Do this." }), 2, /^Do this\.$/m],
  [new McpError.ConfigurationError({ server, path: "url", detail: "odd" }), 3, /Correct the file/],
  [new McpError.NotFound({ server: "", kind: "server", name: "x" }), 2, /mcp-runtime list/],
  [new McpError.NotFound({ server, kind: "tool", name: "x", suggestions: ["y"] }), 2, /did you mean "y"\?/],
  [
    new McpError.InvalidArguments({ server, operation: "tools/call", path: "/a", detail: "odd" }),
    2,
    /mcp-runtime show/
  ],
  [new McpError.SpawnFailed({ server, errno: "ENOENT", command: "x", detail: "none" }), 4, /Install it/],
  [new McpError.ConnectTimeout({ server, phase: "open", limit: Duration.seconds(1) }), 4, /--timeout/],
  [
    new McpError.RequestTimeout({
      server,
      kind: "total",
      operation: "tools/call",
      limit: Duration.seconds(1),
      outcome: "unknown"
    }),
    4,
    /check its effect before you repeat it/
  ],
  [
    new McpError.ConnectionLost({
      server,
      reason: "exited",
      code: 1,
      signal: null,
      outcome: "not-sent",
      phase: "initialize"
    }),
    4,
    /Run its command in a terminal/
  ],
  [new McpError.ServerUnavailable({ server: "a b", why: "untrusted", detail: "new" }), 5, /mcp-runtime approve 'a b'/],
  [
    new McpError.ServerUnavailable({ server, why: "disabled", detail: "off" }),
    3,
    /Enable it in its configuration file/
  ],
  [new McpError.PermissionDenied({ server, kind: "tool", name: "x", why: "rule", rule: "deny x" }), 5, /rule/],
  [
    new McpError.PermissionDenied({ server, why: "policy", kind: "server", name: server, decision: "denied" }),
    5,
    /ask the author of the policy/
  ],
  [
    new McpError.PermissionDenied({ server, why: "quarantined", kind: "tool", name: "x", changed: ["/description"] }),
    5,
    /mcp-runtime approve/
  ],
  [new McpError.CircuitOpen({ server, retryAfter: Duration.minutes(5) }), 4, /; try again in 5m/],
  [new McpError.RemoteError({ server, code: -32602, detail: "bad" }), 1, /mcp-runtime show/]
]

const program = (run: Command.Command["run"]): Command.Entry => ({
  name: "fail",
  summary: "Fails.",
  load: () => Promise.resolve({ command: { args: [], options: [], examples: [], run } })
})

const ran = (run: Command.Command["run"], ...argv: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const device = Device.make({})
    const code = yield* Cli.run({ argv: ["fail", ...argv], version: "1", device, commands: [program(run)] })
    return { code, out: device.out(), err: device.err() }
  })

describe("an error", () => {
  for (const [error, expected, next] of errors) {
    it.effect(`${error._tag} ends in ${expected}, and says what happened and what to do`, () =>
      Effect.gen(function*() {
        const { code, err, out } = yield* ran(() => Effect.fail(error))
        assert.strictEqual(code, expected)
        assert.strictEqual(out, "")
        assert.match(err, /^error: \S/)
        assert.match(err, next)
        assert.notMatch(err, /\u001b|^\s+at /m)
      }))
  }

  it.effect("is a document of its own with --json, beside the words for people", () =>
    Effect.gen(function*() {
      const error = new McpError.SpawnFailed({ server: "x", errno: "ENOENT", command: "y", detail: "none" })
      const { code, err, out } = yield* ran(() => Effect.fail(error), "--json")
      assert.strictEqual(code, 4)
      assert.match(err, /^error: x: could not start/)
      assert.deepStrictEqual(JSON.parse(out), {
        error: {
          tag: "SpawnFailed",
          message: "x: could not start \"y\" (ENOENT): none",
          next: "Install it, or use its full path in the configuration.",
          server: "x",
          outcome: "not-sent",
          exitCode: 4
        }
      })
    }))

  it.effect("of our own is one line without a trace, and says where to tell it", () =>
    Effect.gen(function*() {
      const { code, err } = yield* ran(() => Effect.die(new Error("boom\u001b[31m\nmore")))
      assert.strictEqual(code, 70)
      assert.match(
        err,
        /^error: internal error: .*boom.*\nThis is a bug in mcp-runtime\. Please report it .*--version`\.\n$/
      )
      assert.notMatch(err, /\u001b|^\s+at /m)
    }))

  it.effect("is nothing that happens when whoever reads has left", () =>
    Effect.gen(function*() {
      let isClosed = false
      const begun = yield* Deferred.make<void>()
      const never = program(() =>
        Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never).pipe(
          Effect.onInterrupt(() => Effect.sync(() => void (isClosed = true)))
        )
      )
      const device = Device.make({ outputClosed: Deferred.await(begun) })
      assert.strictEqual(yield* Cli.run({ argv: ["fail"], version: "1", device, commands: [never] }), 0)
      assert.isTrue(isClosed)
      assert.strictEqual(device.err(), "")
    }))

  it.effect("is nothing that happens when it is interrupted, and no progress is left behind", () =>
    Effect.gen(function*() {
      const begun = yield* Deferred.make<void>()
      const busy = program(() =>
        Effect.flatMap(Screen.Screen, (screen) => {
          screen.progress("half of it")
          return Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)
        })
      )
      const device = Device.make({ isTerminal: { out: true, err: true } })
      const running = yield* Effect.fork(Cli.run({ argv: ["fail"], version: "1", device, commands: [busy] }))
      yield* Deferred.await(begun)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(running)))
      assert.strictEqual(device.err(), "\r\u001b[Khalf of it\r\u001b[K")
    }))
})

describe("a place", () => {
  const places: ReadonlyArray<readonly [path: string, shown: string]> = [
    ["/home/me/project/.mcp.json", ".mcp.json"],
    ["/home/me/project/a/b.json", "a/b.json"],
    ["/home/me/.config/x.json", "~/.config/x.json"],
    ["/home/me/projects/x.json", "~/projects/x.json"],
    ["/home/mean/x.json", "/home/mean/x.json"],
    ["/etc/x.json", "/etc/x.json"]
  ]
  for (const [path, shown] of places) {
    it(`is ${shown} for ${path}`, () => {
      assert.strictEqual(near(path, "/home/me/project", "/home/me"), shown)
    })
  }
})
