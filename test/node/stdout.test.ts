/** The bytes on stdout and stderr, observed from outside: real processes with real pipes. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Built from "../support/built.ts"
import type { Message } from "../support/pipedCaller.ts"

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/stdout/${name}.ts`, import.meta.url))

const thin = fileURLToPath(new URL("../fixtures/runtime/thin.mjs", import.meta.url))

const folder = mkdtempSync(join(tmpdir(), "stdout-"))
const journal = join(folder, "journal")

afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface Running {
  readonly send: (message: object) => Effect.Effect<void>
  /** The answer to the request of this id. */
  readonly answer: (id: number) => Effect.Effect<Message>
  /** Reads no more of its stderr. */
  readonly closeStderr: Effect.Effect<void>
  /** Writes no more to its stdin, and waits for its end. */
  readonly ended: Effect.Effect<Ended>
}

/** A process with three pipes; killed with the scope if it has not ended. */
const start = (script: string, ...args: ReadonlyArray<string>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => spawn(process.execPath, [script, ...args], { stdio: ["pipe", "pipe", "pipe"] })),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    ),
    (child): Running => {
      let stdout = ""
      let stderr = ""
      const looks = new Set<() => void>()
      child.stdin.on("error", () => undefined)
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        stdout += text
        for (const look of looks) look()
      })
      child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
      let code: number | null | undefined = undefined
      child.on("close", (status) => {
        code = status
        for (const look of looks) look()
      })
      const until = <A>(look: () => A | undefined) =>
        Effect.async<A>((resume) => {
          const again = () => {
            const found = look()
            if (found === undefined && code === undefined) return
            looks.delete(again)
            resume(
              found === undefined ? Effect.die(new Error(`it ended:\n${stdout}\n${stderr}`)) : Effect.succeed(found)
            )
          }
          looks.add(again)
          again()
        })
      return {
        send: (message) =>
          Effect.sync(() => {
            child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
          }),
        answer: (id) => until(() => parsed(stdout.slice(0, stdout.lastIndexOf("\n") + 1)).find((one) => one.id === id)),
        closeStderr: Effect.sync(() => child.stderr.destroy()),
        ended: Effect.zipRight(
          Effect.sync(() => child.stdin.end()),
          Effect.map(until(() => code === undefined ? undefined : { code }), ({ code }) => ({ code, stdout, stderr }))
        )
      }
    }
  )

/** The lines that are JSON-RPC. */
const parsed = (text: string): ReadonlyArray<Message> =>
  text.split("\n").flatMap((line) => {
    try {
      const message: unknown = JSON.parse(line)
      const isProtocol = typeof message === "object" && message !== null && "jsonrpc" in message
      // the cast: a line with `jsonrpc` is a message
      return isProtocol ? [message as Message] : []
    } catch {
      return []
    }
  })

/** The lines that are not JSON-RPC, which a client cannot read. */
const foreign = (text: string): ReadonlyArray<string> =>
  text.split("\n").filter((line) => line !== "" && parsed(line).length === 0)

const call = (id: number, name: string, args: object) => ({
  id,
  method: "tools/call",
  params: { name, arguments: args }
})

const initialize = ({ answer, send }: Running) =>
  Effect.zipRight(
    send({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {} } }),
    Effect.zipRight(answer(1), send({ method: "notifications/initialized" }))
  )

describe("a program over the runtime, one of whose servers does not start", () => {
  let program: string

  beforeAll(async () => {
    program = await Built.bundled(fixture("first"))
  }, 60_000)

  const run = (...args: ReadonlyArray<string>) =>
    Effect.scoped(Effect.flatMap(start(program, ...args, thin, journal), ({ ended }) => ended))

  const printed = ["echo", "hang", "held", "label", "pid"].map((tool) => `mcp__files__${tool}`).concat("hello")

  for (const how of ["runMain", "runPromise"]) {
    it.live(`prints to stdout what it prints itself, with ${how}, and the runtime logs to stderr`, () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* run(how, "default")
        assert.strictEqual(code, 0)
        assert.deepStrictEqual(stdout.trimEnd().split("\n"), printed)
        assert.match(stderr, /reconnecting: attempt 1/)
        assert.match(stderr, /startup complete/)
      }))

    it.live(`prints nothing more at the level of debugging, with ${how}, not even what Effect logs of fibers`, () =>
      Effect.gen(function*() {
        const { stderr, stdout } = yield* run(how, "debug")
        assert.deepStrictEqual(stdout.trimEnd().split("\n"), printed)
        assert.match(stderr, /Fiber terminated with an unhandled error/)
        assert.match(stderr, /teardown complete/)
      }))

    it.live(`keeps the default logger on stderr beside one that the application has added, with ${how}`, () =>
      Effect.gen(function*() {
        const { stderr, stdout } = yield* run(how, "added")
        const lines = stdout.trimEnd().split("\n")
        assert.deepStrictEqual(lines.filter((line) => !line.startsWith("APP ")), printed)
        const own = lines.filter((line) => line.startsWith("APP WARN reconnecting: attempt 1"))
        assert.strictEqual(own.length, 1)
        assert.match(stderr, /reconnecting: attempt 1/)
      }))
  }

  it.live("passes the log of the runtime to the logger of the application, which decides where it goes", () =>
    Effect.gen(function*() {
      const { stderr, stdout } = yield* run("runPromise", "json")
      const messages = stdout.split("\n").filter((line) => line.startsWith("{")).map((line) =>
        String(JSON.parse(line).message)
      )
      assert.isTrue(messages.some((message) => message.startsWith("reconnecting: attempt 1")))
      assert.notMatch(stderr, /not connected/)
    }))

  it.live("does not redirect the log of the application, not even in a session", () =>
    Effect.gen(function*() {
      const { stderr, stdout } = yield* run("runPromise", "own log")
      const own = stdout.trimEnd().split("\n").filter((line) => line.includes("level="))
      assert.deepStrictEqual(own.map((line) => /message="([^"]*)"/.exec(line)?.[1]), [
        "logged in a session",
        "logged by the application"
      ])
      assert.notMatch(stderr, /logged/)
    }))
})

describe("an agent that is served over stdio", () => {
  let program: string

  beforeAll(async () => {
    program = await Built.bundled(fixture("agent"))
  }, 60_000)

  const say = (id: number, prompt: string) => call(id, "cocode", { prompt })

  const textOf = (answer: Message): unknown => {
    const content = answer.result?.["content"]
    return Array.isArray(content) ? content[0]?.text : answer
  }

  for (const logger of ["default", "json", "pretty", "logFmt", "structured"]) {
    it.live(`writes nothing but JSON-RPC, whatever is logged and printed, with the logger ${logger}`, () =>
      Effect.scoped(Effect.gen(function*() {
        const running = yield* start(program, logger)
        yield* initialize(running)
        for (const [index, text] of ["defect", "log", "console", "pipe", "hello"].entries()) {
          yield* running.send(say(index + 2, text))
        }
        assert.strictEqual((yield* running.answer(2)).error?.code, -32603)
        assert.strictEqual(textOf(yield* running.answer(3)), "logged")
        // every overload returns and calls back as stdout does
        assert.deepStrictEqual(String(textOf(yield* running.answer(4))).split("\n"), [
          "returned: true",
          "same handle: true",
          "text: written",
          "latin1: written",
          "bytes: written",
          "last: written"
        ])
        assert.strictEqual(textOf(yield* running.answer(5)), "piped")
        assert.strictEqual(textOf(yield* running.answer(6)), "again hello")
        const { code, stderr, stdout } = yield* running.ended
        assert.strictEqual(code, 0)
        // the program may write to stdout again after the link has closed
        assert.deepStrictEqual(foreign(stdout), ["the end"])
        assert.isTrue(stdout.endsWith("\nthe end\n"))
        for (
          const line of [
            "the agent has a bug",
            "stray Effect.log",
            "stray text",
            "stray text with a callback",
            "stray base64",
            "stray bytes",
            "stray write from before",
            "stray console.log",
            "stray console.info",
            "stray console from before",
            "stray end",
            "stray line 0",
            "stray line 19999"
          ]
        ) assert.include(stderr, line)
      })))
  }

  it.live("goes on when its host reads no more of stderr", () =>
    Effect.scoped(Effect.gen(function*() {
      const running = yield* start(program, "default")
      yield* initialize(running)
      yield* running.closeStderr
      yield* running.send(say(2, "pipe"))
      assert.strictEqual(textOf(yield* running.answer(2)), "piped")
      yield* running.send(say(3, "hello"))
      assert.strictEqual(textOf(yield* running.answer(3)), "again hello")
      const { code, stdout } = yield* running.ended
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(foreign(stdout), ["the end"])
    })))
})

describe("a gateway over stdio, one of whose servers does not start", () => {
  let program: string

  beforeAll(async () => {
    program = await Built.bundled(fixture("gateway"))
  }, 60_000)

  for (const logger of ["default", "json"]) {
    it.live(`writes nothing but JSON-RPC with the logger ${logger}`, () =>
      Effect.scoped(Effect.gen(function*() {
        const running = yield* start(program, logger, thin, journal)
        yield* initialize(running)
        yield* running.send({ id: 2, method: "tools/list" })
        const listed = (yield* running.answer(2)).result?.["tools"]
        assert.isTrue(Array.isArray(listed) && listed.length >= 5)
        yield* running.send(call(3, "mcp__files__echo", { text: "hello" }))
        assert.deepStrictEqual((yield* running.answer(3)).result?.["content"], [{ type: "text", text: "hello" }])
        const { code, stderr, stdout } = yield* running.ended
        assert.strictEqual(code, 0)
        assert.deepStrictEqual(foreign(stdout), [])
        assert.include(stderr, "stray log of the application")
        assert.include(stderr, "reconnecting: attempt 1")
      })))
  }
})
