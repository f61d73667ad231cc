import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as StdioTransport from "../../src/transport/StdioTransport.ts"
import * as Configs from "../support/configs.ts"
import { assertNoLeak, eventually, gone } from "../support/leaks.ts"
import * as RecordingSink from "../support/recordingSink.ts"
import { folder, live, open, request, resultOf, script, send, server } from "../support/stdioServer.ts"

describe("StdioTransport", () => {
  describe("opening", () => {
    it.live("carries a request and its answer", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { message, transport } = yield* open(server())
          yield* send(transport, request(1, "echo", { text: "h\u00e9llo \u{1f600}\u2028" }))
          assert.deepStrictEqual(yield* message, {
            jsonrpc: "2.0",
            id: 1,
            result: { text: "h\u00e9llo \u{1f600}\u2028" }
          })
        })).pipe(Effect.provide(live()))
      ))

    it.live("fails with SpawnFailed that names a missing command", () =>
      assertNoLeak(
        Effect.gen(function*() {
          const error = yield* Effect.flip(Effect.scoped(open(server([], { command: "no-such-command-here" }))))
          assert.strictEqual(error._tag, "SpawnFailed")
          assert.deepInclude(error, { errno: "ENOENT", command: "no-such-command-here" })
          assert.include(error.message, "no such command")
        }).pipe(Effect.provide(live()))
      ))

    it.live("fails with SpawnFailed for a file that is not executable", () =>
      assertNoLeak(
        Effect.gen(function*() {
          const file = join(folder(), "server")
          writeFileSync(file, "#!/bin/sh\n")
          chmodSync(file, 0o644)
          const error = yield* Effect.flip(Effect.scoped(open(server([], { command: file }))))
          assert.deepInclude(error, { _tag: "SpawnFailed", errno: "EACCES" })
        }).pipe(Effect.provide(live()))
      ))

    it.live("names a missing working directory, not the command", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Effect.scoped(open(server([], { cwd: "/no/such/folder" }))))
        assert.deepInclude(error, { _tag: "SpawnFailed", errno: "ENOENT", cwd: "/no/such/folder" })
        assert.propertyVal(error, "reason", "folder")
        assert.include(error.message, "working directory \"/no/such/folder\" does not exist")
      }).pipe(Effect.provide(live())))

    it.live("names a working directory that is a file", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Effect.scoped(open(server([], { cwd: script }))))
        assert.strictEqual(error._tag, "SpawnFailed")
        assert.include(error.message, "is not a directory")
      }).pipe(Effect.provide(live())))

    it.live("distinguishes a missing interpreter from a missing file", () =>
      Effect.gen(function*() {
        const file = join(folder(), "server")
        writeFileSync(file, "#!/no/such/interpreter\n")
        chmodSync(file, 0o755)
        const error = yield* Effect.flip(Effect.scoped(open(server([], { command: file }))))
        assert.deepInclude(error, { _tag: "SpawnFailed", errno: "ENOENT" })
        assert.include(error.message, "interpreter")
      }).pipe(Effect.provide(live())))

    it.live("refuses arguments and variables that no process accepts, without showing their values", () =>
      Effect.gen(function*() {
        const configs = [
          server([], { env: { "A=B": "secret" } }),
          server([], { env: { A: "secret\0" } }),
          server(["secret\0"]),
          server([], { cwd: "secret\0" })
        ]
        for (const config of configs) {
          const error = yield* Effect.flip(Effect.scoped(open(config)))
          assert.strictEqual(error._tag, "ConfigurationError")
          assert.notInclude(error.message, "secret")
        }
      }).pipe(Effect.provide(live())))

    it.live("fails with SpawnFailed when the arguments are too long for the system", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Effect.scoped(open(server(["x".repeat(4 * 1024 * 1024)]))))
        assert.deepInclude(error, { _tag: "SpawnFailed", errno: "E2BIG" })
      }).pipe(Effect.provide(live())))

    it.live("finds the command on the PATH that the server gets", () =>
      Effect.scoped(Effect.gen(function*() {
        const bin = folder()
        writeFileSync(join(bin, "only-here"), `#!/bin/sh\nexec ${process.execPath} ${script}\n`)
        chmodSync(join(bin, "only-here"), 0o755)
        const { message, transport } = yield* open(
          Configs.stdio({ name: "fixture", command: "only-here", env: { PATH: `${bin}:/usr/bin:/bin` } })
        )
        yield* send(transport, request(1, "echo"))
        assert.strictEqual((yield* message)["id"], 1)
      })).pipe(Effect.provide(live())))

    it.live("passes the server the safe variables, the declared ones and its marker, and nothing else", () =>
      Effect.scoped(Effect.gen(function*() {
        const host = {
          PATH: process.env["PATH"]!,
          HOME: "/home/me",
          LC_ALL: "C",
          SHELL: "() { evil; }",
          AWS_SECRET_ACCESS_KEY: "leak",
          WANTED: "yes"
        }
        const config = server([], {
          env: { TOKEN: Redacted.make("t0k3n"), HOME: "/elsewhere" },
          inheritEnv: ["WANTED"]
        })
        const { message, transport } = yield* Effect.provide(open(config), live({}, host))
        yield* send(transport, request(1, "environment"))
        const { MCP_RUNTIME_CONNECTION: marker, ...env } = Object(resultOf(yield* message)["env"])
        assert.match(marker, /^[0-9a-f-]{36}$/)
        assert.deepStrictEqual(env, {
          PATH: host.PATH,
          HOME: "/elsewhere",
          LC_ALL: "C",
          WANTED: "yes",
          TOKEN: "t0k3n"
        })
      })))

    it.live("runs the server in its working directory", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, transport } = yield* open(server([], { cwd: "/" }))
        yield* send(transport, request(1, "environment"))
        assert.strictEqual(resultOf(yield* message)["cwd"], "/")
      })).pipe(Effect.provide(live())))

    it.live("delivers the output of a server that exited before the transport was started", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { open } = yield* StdioTransport.StdioTransport
          const transport = yield* open(Configs.stdio({
            name: "fixture",
            command: "sh",
            args: ["-c", `echo '{"jsonrpc":"2.0","method":"a"}'; echo oh no >&2; exit 3`]
          }))
          yield* eventually(() => transport.send(request(1, "echo")) !== undefined)
          const told = yield* RecordingSink.make
          transport.start(told.sink)
          const ended = yield* told.ended
          assert.strictEqual((yield* told.message)["method"], "a")
          assert.deepInclude(ended.error("unknown"), {
            _tag: "ConnectionLost",
            reason: "exited",
            code: 3,
            stderrTail: "oh no\n"
          })
          assert.deepStrictEqual(told.order, ["message", "ended"])
        })).pipe(Effect.provide(live()))
      ))
  })

  it.live("applies back-pressure until the transport is started", () =>
    assertNoLeak(
      Effect.scoped(Effect.gen(function*() {
        const { open } = yield* StdioTransport.StdioTransport
        const write = "head -c 4000000 /dev/zero | tr '\\0' x; echo written >&2; exec sleep 600"
        const transport = yield* open(Configs.stdio({ name: "fixture", command: "sh", args: ["-c", write] }))
        // Enough to write ten times as much, if nothing held it back.
        yield* Effect.sleep("100 millis")
        assert.isUndefined(transport.stderrTail())
        const { sink } = yield* RecordingSink.make
        transport.start(sink)
        yield* eventually(() => transport.stderrTail() === "written\n")
      })).pipe(Effect.provide(live()))
    ))

  describe("the end of a server", () => {
    it.live("reports the exit code and the end of stderr, after the last answer", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { ended, message, order, transport } = yield* open(server())
          transport.negotiated({ era: "session", protocolVersion: "x" })
          yield* send(transport, request(1, "stderr", { text: "boom\n", times: 1 }))
          yield* send(transport, request(2, "exit", { code: 7, answers: true }))
          const { error } = yield* ended
          assert.strictEqual((yield* message)["id"], 1)
          assert.strictEqual((yield* message)["id"], 2)
          assert.deepInclude(error("unknown"), {
            _tag: "ConnectionLost",
            reason: "exited",
            code: 7,
            signal: null,
            phase: "ready",
            outcome: "unknown",
            stderrTail: "boom\n"
          })
          assert.deepStrictEqual(order, ["message", "message", "ended"])
        })).pipe(Effect.provide(live()))
      ))

    it.live("delivers all output of a process that has exited", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const file = join(folder(), "words")
          writeFileSync(file, Array.from({ length: 50_000 }, (_, n) => `{"n":${n}}\n`).join(""))
          const { ended, order } = yield* open(Configs.stdio({ name: "fixture", command: "cat", args: [file] }))
          assert.deepInclude((yield* ended).error("unknown"), { _tag: "ConnectionLost", reason: "exited", code: 0 })
          assert.deepStrictEqual([order.length, order.at(-1)], [50_001, "ended"])
        })).pipe(Effect.provide(live()))
      ))

    it.live("reports the signal that killed it", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { ended, transport } = yield* open(server())
          yield* send(transport, request(1, "die"))
          const { error, unsent } = yield* ended
          assert.deepInclude(error("unknown"), {
            _tag: "ConnectionLost",
            reason: "exited",
            code: null,
            signal: "SIGKILL"
          })
          assert.isFalse(unsent(1))
        })).pipe(Effect.provide(live()))
      ))

    it.live("does not wait for a pipe that a descendant holds, and ends the descendant", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { ended, message, transport } = yield* open(server())
          yield* send(transport, request(1, "descendant", { kind: "pipes", dies: true }))
          const pid = Number(resultOf(yield* message)["pid"])
          assert.deepInclude((yield* ended).error("unknown"), {
            _tag: "ConnectionLost",
            reason: "exited",
            signal: "SIGKILL"
          })
          yield* gone(pid)
        })).pipe(Effect.provide(live()))
      ))

    it.live("reports the exit even if a descendant that holds the pipe writes the answer", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { ended, transport } = yield* open(server())
          yield* send(transport, request(1, "answerAfterExit"))
          assert.deepInclude((yield* ended).error("unknown"), { _tag: "ConnectionLost", reason: "exited", code: 7 })
          assert.deepInclude(transport.send(request(2, "echo")), {
            _tag: "ConnectionLost",
            reason: "exited",
            outcome: "not-sent"
          })
        })).pipe(Effect.provide(live()))
      ))

    it.live("loses a server that closes its stdout and keeps running, and ends it", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { ended, message, transport } = yield* open(server(["--ignore-end"]))
          yield* send(transport, request(1, "pid"))
          const pid = Number(resultOf(yield* message)["pid"])
          yield* send(transport, request(2, "closeStdout"))
          assert.deepInclude((yield* ended).error("unknown"), { _tag: "ConnectionLost", reason: "stdout-ended" })
          yield* gone(pid)
        })).pipe(Effect.provide(live()))
      ))

    it.live("is reported once, whether the server or the scope ends first", () =>
      Effect.gen(function*() {
        const first = yield* Effect.scoped(Effect.gen(function*() {
          const { ended, ends, transport } = yield* open(server())
          yield* send(transport, request(1, "die"))
          yield* ended
          return ends
        }))
        assert.strictEqual(first(), 1)
        const second = yield* Effect.scoped(
          Effect.map(open(server()), ({ ended, ends, transport }) => ({ ended, ends, transport }))
        )
        assert.strictEqual(second.ends(), 1)
        assert.deepInclude((yield* second.ended).error("unknown"), { _tag: "Closed" })
        assert.deepInclude(second.transport.send(request(1, "echo")), { _tag: "Closed", outcome: "not-sent" })
      }).pipe(Effect.provide(live())))
  })
})
