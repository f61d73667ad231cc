import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Limits from "../../src/config/Limits.ts"
import * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as Teardown from "../../src/resilience/Teardown.ts"
import * as HostEnvironment from "../../src/transport/HostEnvironment.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as StdioTransport from "../../src/transport/StdioTransport.ts"
import type * as Transport from "../../src/transport/Transport.ts"
import { assertNoLeak, eventually, gone } from "../support/leaks.ts"
import * as RecordingSink from "../support/recordingSink.ts"

const script = fileURLToPath(new URL("../fixtures/process/server.mjs", import.meta.url))

const server = (flags: ReadonlyArray<string> = [], more?: Partial<ServerConfig.StdioInput>) =>
  ServerConfig.stdio({ name: "fixture", command: process.execPath, args: [script, ...flags], ...more })

const graces = { stdinGrace: "400 millis", termGrace: "400 millis" } as const

const live = (limits: Partial<Limits.Limits> = {}, variables?: Readonly<Record<string, string>>) => {
  const settings = variables === undefined
    ? Limits.layer(limits)
    : Layer.merge(Limits.layer(limits), HostEnvironment.layer(variables))
  return StdioTransport.layer.pipe(Layer.provideMerge(Teardown.layer(graces)), Layer.provideMerge(settings))
}

const open = Effect.fnUntraced(function*(config: ServerConfig.StdioServer) {
  const { open } = yield* StdioTransport.StdioTransport
  const transport = yield* open(config)
  const told = yield* RecordingSink.make
  transport.start(told.sink)
  return { transport, ...told }
})

const request = (id: JsonRpc.Id, method: string, params: JsonRpc.JsonObject = {}): JsonRpc.Request => ({
  jsonrpc: "2.0",
  id,
  method,
  params
})

const send = (transport: Transport.Transport, message: JsonRpc.Message) =>
  Effect.sync(() => {
    const error = transport.send(message)
    assert.isUndefined(error, error?.message)
  })

const resultOf = (message: JsonRpc.Incoming): { readonly [key: string]: unknown } =>
  message["result"] as { readonly [key: string]: unknown }

const folder = () => mkdtempSync(join(tmpdir(), "stdio-test-"))

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

    it.live("says that there is no such command", () =>
      assertNoLeak(
        Effect.gen(function*() {
          const error = yield* Effect.flip(Effect.scoped(open(server([], { command: "no-such-command-here" }))))
          assert.strictEqual(error._tag, "SpawnFailed")
          assert.deepInclude(error, { errno: "ENOENT", command: "no-such-command-here" })
          assert.include(error.message, "no such command")
        }).pipe(Effect.provide(live()))
      ))

    it.live("says that a file may not be executed", () =>
      assertNoLeak(
        Effect.gen(function*() {
          const file = join(folder(), "server")
          writeFileSync(file, "#!/bin/sh\n")
          chmodSync(file, 0o644)
          const error = yield* Effect.flip(Effect.scoped(open(server([], { command: file }))))
          assert.deepInclude(error, { _tag: "SpawnFailed", errno: "EACCES" })
        }).pipe(Effect.provide(live()))
      ))

    it.live("blames a working directory that does not exist, and not the command", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Effect.scoped(open(server([], { cwd: "/no/such/folder" }))))
        assert.deepInclude(error, { _tag: "SpawnFailed", errno: "ENOENT", cwd: "/no/such/folder" })
        assert.include(error.message, "working directory \"/no/such/folder\" does not exist")
      }).pipe(Effect.provide(live())))

    it.live("blames a working directory that is a file", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Effect.scoped(open(server([], { cwd: script }))))
        assert.strictEqual(error._tag, "SpawnFailed")
        assert.include(error.message, "is not a directory")
      }).pipe(Effect.provide(live())))

    it.live("tells a missing interpreter from a missing file", () =>
      Effect.gen(function*() {
        const file = join(folder(), "server")
        writeFileSync(file, "#!/no/such/interpreter\n")
        chmodSync(file, 0o755)
        const error = yield* Effect.flip(Effect.scoped(open(server([], { command: file }))))
        assert.deepInclude(error, { _tag: "SpawnFailed", errno: "ENOENT" })
        assert.include(error.message, "interpreter")
      }).pipe(Effect.provide(live())))

    it.live("refuses what no process can be given, without showing its value", () =>
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

    it.live("fails typed when the arguments are too long for the system", () =>
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
          ServerConfig.stdio({ name: "fixture", command: "only-here", env: { PATH: `${bin}:/usr/bin:/bin` } })
        )
        yield* send(transport, request(1, "echo"))
        assert.strictEqual((yield* message)["id"], 1)
      })).pipe(Effect.provide(live())))

    it.live("gives the server the safe variables and the declared ones, and nothing else", () =>
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
        assert.deepStrictEqual(resultOf(yield* message)["env"], {
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

    it.live("loses nothing of a server that wrote and exited before anybody listened", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { open } = yield* StdioTransport.StdioTransport
          const transport = yield* open(ServerConfig.stdio({
            name: "fixture",
            command: "sh",
            args: ["-c", `echo '{"jsonrpc":"2.0","method":"a"}'; echo oh no >&2; exit 3`]
          }))
          yield* eventually(() => transport.send(request(1, "echo")) !== undefined)
          const told = yield* RecordingSink.make
          transport.start(told.sink)
          const ended = yield* told.ended
          assert.strictEqual((yield* told.message)["method"], "a")
          assert.deepInclude(ended.error("unknown"), { _tag: "ProcessExited", code: 3, stderrTail: "oh no\n" })
          assert.deepStrictEqual(told.order, ["message", "ended"])
        })).pipe(Effect.provide(live()))
      ))
  })

  describe("reading", () => {
    const raw = (...pieces: ReadonlyArray<string | Buffer>) =>
      request("raw", "raw", { pieces: pieces.map((piece) => Buffer.from(piece).toString("base64")) })

    it.live("tells a banner as noise and carries on", () =>
      Effect.scoped(Effect.gen(function*() {
        const { diagnostic, message, transport } = yield* open(server(["--banner"]))
        yield* send(transport, request(1, "echo"))
        assert.strictEqual((yield* message)["id"], 1)
        assert.deepStrictEqual(yield* diagnostic, { kind: "noise", detail: "Server is starting" })
        assert.deepStrictEqual(yield* diagnostic, { kind: "noise", detail: "Listening on stdio" })
      })).pipe(Effect.provide(live())))

    it.live("escapes what noise could do to a terminal", () =>
      Effect.scoped(Effect.gen(function*() {
        const { diagnostic, transport } = yield* open(server())
        yield* send(transport, raw("\u001b]0;owned\u0007\u001b[2J\n"))
        assert.deepStrictEqual(yield* diagnostic, { kind: "noise", detail: "\\u{1b}]0;owned\\u{7}\\u{1b}[2J" })
      })).pipe(Effect.provide(live())))

    it.live("drops a byte order mark at the beginning", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, order, transport } = yield* open(server(["--bom"]))
        yield* send(transport, request(1, "echo"))
        assert.strictEqual((yield* message)["id"], 1)
        assert.deepStrictEqual(order, ["message"])
      })).pipe(Effect.provide(live())))

    it.live("puts together what comes byte by byte, inside of characters too", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, transport } = yield* open(server())
        const bytes = Buffer.from(`{"text":"\u{1f600}\u00e9\u20ac"}\r\n`)
        yield* send(transport, raw(...Array.from(bytes, (byte) => Buffer.from([byte]))))
        assert.deepStrictEqual(yield* message, { text: "\u{1f600}\u00e9\u20ac" })
      })).pipe(Effect.provide(live())))

    it.live("replaces bytes that are no UTF-8", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, transport } = yield* open(server())
        yield* send(
          transport,
          raw(Buffer.concat([Buffer.from("{\"text\":\""), Buffer.from([0xff, 0xfe]), Buffer.from("\"}\n")]))
        )
        assert.deepStrictEqual(yield* message, { text: "\ufffd\ufffd" })
      })).pipe(Effect.provide(live())))

    it.live("fails the request whose answer is not valid JSON, and no other", () =>
      Effect.scoped(Effect.gen(function*() {
        const { failed, message, transport } = yield* open(server())
        yield* send(transport, raw("{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{]}\n"))
        const { error, id } = yield* failed
        assert.strictEqual(id, 9)
        assert.deepInclude(error, { _tag: "ProtocolViolation", outcome: "unknown" })
        yield* send(transport, request(1, "echo"))
        assert.strictEqual((yield* message)["id"], 1)
      })).pipe(Effect.provide(live())))

    it.live("carries an answer of 5 MB, whole and in drips", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, transport } = yield* open(server())
        for (const chunk of [16 * 1024 * 1024, 2048]) {
          yield* send(transport, request(1, "big", { bytes: 5_000_000, chunk }))
          assert.strictEqual(String(resultOf(yield* message)["text"]).length, 5_000_000)
        }
      })).pipe(Effect.provide(live())))

    it.live("fails the request whose answer is over the limit, skips the rest of it and lives on", () =>
      Effect.scoped(Effect.gen(function*() {
        const { failed, message, order, transport } = yield* open(server([], { maxMessageBytes: 1024 * 1024 }))
        yield* send(transport, request(5, "big", { bytes: 8_000_000, chunk: 16 * 1024 * 1024 }))
        const { error, id } = yield* failed
        assert.strictEqual(id, 5)
        assert.deepInclude(error, { _tag: "MessageTooLarge", limit: 1024 * 1024, direction: "received" })
        yield* send(transport, request(6, "echo"))
        assert.strictEqual((yield* message)["id"], 6)
        assert.deepStrictEqual(order, ["failed", "message"])
      })).pipe(Effect.provide(live())))

    it.live("tells an oversize line that answers nothing", () =>
      Effect.scoped(Effect.gen(function*() {
        const { diagnostic, transport } = yield* open(server([], { maxMessageBytes: 1000 }))
        yield* send(transport, request(1, "bigNotification", { bytes: 2000 }))
        const told = yield* diagnostic
        assert.strictEqual(told.kind, "oversize")
        assert.match(told.detail, /^20\d\d bytes: \{"jsonrpc":"2.0","method":"log"/)
        assert.isBelow(told.detail.length, 400)
      })).pipe(Effect.provide(live())))

    it.live("gives up a line that does not end, and puts the server down", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { ended, message, transport } = yield* open(server(["--ignore-end"], { maxMessageBytes: 1024 }))
          yield* send(transport, request(1, "pid"))
          const pid = Number(resultOf(yield* message)["pid"])
          yield* send(transport, request(2, "endless", { bytes: 256 * 1024 * 1024 }))
          const { error } = yield* ended
          assert.deepInclude(error("unknown"), { _tag: "ConnectionLost", reason: "stalled", outcome: "unknown" })
          yield* gone(pid)
        })).pipe(Effect.provide(live()))
      ))

    it.live("keeps the order of a flood of lines and lets others have their turns", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, transport } = yield* open(server())
        const lines = Array.from({ length: 20_000 }, (_, n) => `{"n":${n}}\n`).join("")
        yield* send(transport, raw(lines))
        let turns = 0
        const count = setInterval(() => turns++, 0)
        for (let n = 0; n < 20_000; n++) assert.strictEqual((yield* message)["n"], n)
        clearInterval(count)
        assert.isAbove(turns, 2)
      })).pipe(Effect.provide(live())))

    it.live("drains a flood on stderr and keeps its end", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, transport } = yield* open(server())
        yield* send(transport, request(1, "stderr", { text: "0123456789abcde\n".repeat(4096), times: 320 }))
        assert.strictEqual((yield* message)["id"], 1)
        yield* eventually(() => transport.stderrTail()?.length === Limits.defaults.stderrBytes)
        assert.isTrue(transport.stderrTail()!.endsWith("0123456789abcde\n"))
      })).pipe(Effect.provide(live())))
  })

  describe("writing", () => {
    it.live("refuses a message over the limit, and one that is no JSON", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, transport } = yield* open(server([], { maxMessageBytes: 1000 }))
        assert.deepInclude(transport.send(request(1, "echo", { text: "x".repeat(1000) })), {
          _tag: "MessageTooLarge",
          direction: "sent",
          limit: 1000
        })
        const circular: { [key: string]: JsonRpc.Json } = {}
        circular["self"] = circular
        assert.deepInclude(transport.send(request(2, "echo", circular)), {
          _tag: "ProtocolViolation",
          outcome: "not-sent"
        })
        yield* send(transport, request(3, "echo"))
        assert.strictEqual((yield* message)["id"], 3)
      })).pipe(Effect.provide(live())))

    it.live("sends large and small messages whole and in order", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, transport } = yield* open(server())
        const sizes = [10, 70_000, 3_000_000, 1, 65_000, 65_000, 500_000, 2]
        for (const [id, size] of sizes.entries()) {
          yield* send(transport, request(id, "echo", { text: "\u00e9".repeat(size) }))
        }
        for (const [id, size] of sizes.entries()) {
          const answer = yield* message
          assert.strictEqual(answer["id"], id)
          assert.strictEqual(String(resultOf(answer)["text"]).length, size)
        }
      })).pipe(Effect.provide(live())))

    it.live("refuses at once what a peer that does not read has no room for", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { message, transport } = yield* open(server())
          yield* send(transport, request(0, "stopReading"))
          yield* message
          const errors = Array.from({ length: 4000 }, (_, i) =>
            transport.send(request(i + 1, "echo", { text: "x".repeat(16_000) })))
          const refused = errors.filter((error) =>
            error !== undefined
          )
          assert.isAbove(refused.length, 3000)
          for (const error of refused) {
            assert.deepInclude(error, { _tag: "Overloaded", queue: "write", outcome: "not-sent" })
          }
        })).pipe(Effect.provide(live()))
      ))

    it.live("gives up a peer that leaves a write unread, tells what was not sent, and puts it down", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { ended, message, transport } = yield* open(server())
          yield* send(transport, request("pid", "pid"))
          const pid = Number(resultOf(yield* message)["pid"])
          yield* send(transport, request("stop", "stopReading"))
          yield* message
          for (let id = 0; id < 100; id++) yield* send(transport, request(id, "echo", { text: "x".repeat(60_000) }))
          const { error, unsent } = yield* ended
          assert.deepInclude(error("not-sent"), { _tag: "ConnectionLost", reason: "stalled", outcome: "not-sent" })
          assert.isFalse(unsent("stop"))
          assert.isFalse(unsent(0))
          assert.isTrue(unsent(99))
          yield* gone(pid)
        })).pipe(Effect.provide(live({ stallTimeout: Duration.millis(300) })))
      ))

    it.live("does not write what was abandoned before its turn", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, transport } = yield* open(server())
        for (let id = 0; id < 3; id++) yield* send(transport, request(id, "echo"))
        transport.abandon(1)
        assert.strictEqual((yield* message)["id"], 0)
        assert.strictEqual((yield* message)["id"], 2)
      })).pipe(Effect.provide(live())))

    it.live("survives a server that closes its stdin", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { ended, message, transport } = yield* open(server())
          yield* send(transport, request(1, "closeStdin"))
          yield* message
          const poke = setInterval(() => transport.send(request(2, "echo")), 5)
          const { error } = yield* ended
          clearInterval(poke)
          assert.deepInclude(error("unknown"), { _tag: "ConnectionLost", reason: "stdin-closed" })
          assert.deepInclude(transport.send(request(3, "echo")), { _tag: "ConnectionLost", outcome: "not-sent" })
        })).pipe(Effect.provide(live()))
      ))
  })

  describe("the end of a server", () => {
    it.live("tells the code and the end of stderr, after the last answer", () =>
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
            _tag: "ProcessExited",
            code: 7,
            signal: null,
            phase: "ready",
            outcome: "unknown",
            stderrTail: "boom\n"
          })
          assert.deepStrictEqual(order, ["message", "message", "ended"])
        })).pipe(Effect.provide(live()))
      ))

    it.live("tells the signal that killed it", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { ended, transport } = yield* open(server())
          yield* send(transport, request(1, "die"))
          const { error, unsent } = yield* ended
          assert.deepInclude(error("unknown"), { _tag: "ProcessExited", code: null, signal: "SIGKILL" })
          assert.isFalse(unsent(1))
        })).pipe(Effect.provide(live()))
      ))

    it.live("does not wait for a pipe that a descendant holds, and ends the descendant", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { ended, message, transport } = yield* open(server())
          yield* send(transport, request(1, "descendant", { kind: "pipes", dies: true }))
          const pid = Number(resultOf(yield* message)["pid"])
          assert.deepInclude((yield* ended).error("unknown"), { _tag: "ProcessExited", signal: "SIGKILL" })
          yield* gone(pid)
        })).pipe(Effect.provide(live()))
      ))

    it.live("tells the exit although the answer comes from somebody who has the pipe", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { ended, transport } = yield* open(server())
          yield* send(transport, request(1, "answerAfterExit"))
          assert.deepInclude((yield* ended).error("unknown"), { _tag: "ProcessExited", code: 7 })
          assert.deepInclude(transport.send(request(2, "echo")), { _tag: "ProcessExited", outcome: "not-sent" })
        })).pipe(Effect.provide(live()))
      ))

    it.live("gives up a server that closes its stdout and goes on running, and puts it down", () =>
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

    it.live("comes once, whether the server or the scope ends first", () =>
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
