import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Schema } from "effect"
import * as Command from "../../src/cli/commands/Repl.ts"
import { Called } from "../../src/cli/internal/calling.ts"
import { Failed } from "../../src/cli/internal/failure.ts"
import { Read } from "../../src/cli/internal/read.ts"
import { Listed, Status } from "../../src/cli/internal/replCommands.ts"
import * as ReplLine from "../../src/cli/internal/replLine.ts"
import { Terminal } from "../../src/cli/internal/replTerminal.ts"
import * as Journal from "../faults/journal.ts"
import { own, type Place, place, run as runAny, server } from "./inProcess.ts"

const commands = [Command.command]

const piped = (at: Place, lines: ReadonlyArray<string>, ...argv: ReadonlyArray<string>) =>
  runAny(at, ["repl", ...argv], { commands, input: lines.join("\n") })

const fleet = Effect.gen(function*() {
  const at = yield* place
  const journal = yield* Journal.make
  at.write(own, { mcpServers: { mine: server("faults/server.mjs", "ok", journal.file) } })
  return { at, journal }
})

describe("repl", () => {
  it.scopedLive("runs the lines of a pipe one after the other, over one connection", () =>
    Effect.gen(function*() {
      const { at, journal } = yield* fleet
      const ran = yield* piped(at, [
        "tools mine",
        "# a remark",
        "",
        "call mine/echo text='one two'",
        "call mine/echo text=three",
        "status",
        "exit",
        "call mine/echo text=never"
      ])
      assert.include(ran.out, "mine/echo")
      const lines = ran.out.split("\n")
      assert.isBelow(lines.indexOf("one two"), lines.indexOf("three"))
      assert.isAbove(lines.indexOf("one two"), 0)
      assert.match(ran.out, /^mine +connected +4 +0$/m)
      assert.notInclude(ran.out, "never")
      assert.strictEqual(ran.code, 0)
      assert.strictEqual(journal.executions("echo"), 2)
      assert.lengthOf(journal.pids(), 1)
      assert.deepStrictEqual(journal.pids().filter(Journal.isAlive), [])
    }))

  it.scopedLive("goes on after a line that fails, and ends with its code", () =>
    Effect.gen(function*() {
      const { at } = yield* fleet
      const ran = yield* piped(at, [
        "cal mine/echo",
        "call mine/ecko",
        "call 'mine/echo",
        "reconnect none",
        "call mine/echo text=still"
      ])
      assert.include(ran.err, "There is no command \"cal\"")
      assert.include(ran.err, "did you mean \"mine/echo\"")
      assert.include(ran.err, "A ' is not closed.")
      assert.include(ran.err, "there is no server \"none\"")
      assert.include(ran.out, "still")
      assert.strictEqual(ran.code, 2)
    }))

  it.scopedLive("writes one line of JSON for each line", () =>
    Effect.gen(function*() {
      const { at } = yield* fleet
      const ran = yield* piped(
        at,
        ["tools --search echo", "call mine/echo text=hi", "status", "call mine/ecko", "read demo://x --server mine"],
        "--json"
      )
      const decode = <A, I>(shape: Schema.Schema<A, I>, line: string | undefined) =>
        Schema.decodeUnknownSync(Schema.parseJson(shape), { onExcessProperty: "error" })(line)
      const lines = ran.out.trimEnd().split("\n")
      assert.lengthOf(lines, 5)
      assert.include(decode(Listed, lines[0]).tools.map(({ tool }) => tool), "echo")
      assert.deepInclude(decode(Called, lines[1]), { server: "mine", tool: "echo", isError: false })
      assert.deepStrictEqual(decode(Status, lines[2]).servers, [{
        name: "mine",
        state: "connected",
        tools: 4,
        reconnects: 0
      }])
      assert.strictEqual(decode(Failed, lines[3]).error.tag, "NotFound")
      assert.strictEqual(decode(Failed, lines[4]).error.server, "mine")
    }))

  it.scopedLive("reads resources, and neither reads nor writes files", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(own, { mcpServers: { notes: server("cli/offers.mjs", "notes") } })
      const ran = yield* piped(at, [
        "read note://one",
        "read note://two --json",
        "read nowhere://at-all",
        "call peer/x a=@/etc/passwd",
        "read a://b --out /tmp/never"
      ])
      assert.include(ran.out, "first\nsecond\\x1b[2J\n")
      const [document] = ran.out.trimEnd().split("\n").slice(-1)
      assert.deepStrictEqual(
        Schema.decodeUnknownSync(Schema.parseJson(Read))(document).contents.map(({ text }) => text),
        ["a", "b"]
      )
      assert.include(ran.err, "No server lists the resource \"nowhere://at-all\"")
      assert.include(ran.err, "Files are neither read nor written here.")
      assert.include(ran.err, "Files are not written here.")
      assert.strictEqual(ran.code, 2)
    }))

  it.scopedLive("cancels with Ctrl-C the call that runs, stays, and completes what is typed", () =>
    Effect.gen(function*() {
      const { at, journal } = yield* fleet
      const completed: Array<string> = []
      const pressed = yield* Deferred.make<void>()
      const prompts: Array<string> = []
      const lines = ["call mine/hang", "call mine/echo text=stayed"]
      const terminal: typeof Terminal.Service = {
        open: (complete) =>
          Effect.succeed({
            next: (prompt) =>
              Effect.sync(() => {
                prompts.push(prompt)
                completed.push(...complete("to")[0], ...complete("call mine/e")[0])
                return lines.shift()
              }),
            // pressed once, while the first call runs
            interrupted: Effect.flatMap(Deferred.isDone(pressed), (isDone) =>
              isDone ? Effect.never : Effect.zipRight(
                journal.until(({ executed }) => executed === "hang"),
                Effect.asVoid(Deferred.succeed(pressed, undefined))
              ))
          })
      }
      const ran = yield* runAny(at, ["repl"], { commands, answers: [], columns: 80 }).pipe(
        Effect.provideService(Terminal, terminal)
      )
      assert.isTrue(yield* Deferred.isDone(pressed))
      assert.include(ran.err, "cancelled")
      assert.include(ran.out, "stayed")
      assert.deepStrictEqual(prompts, ["mcp> ", "mcp> ", "mcp> "])
      assert.include(completed, "tools ")
      assert.include(completed, "mine/echo ")
      yield* journal.until(({ got }) => got === "notifications/cancelled")
      assert.lengthOf(journal.pids(), 1)
      assert.deepStrictEqual(journal.pids().filter(Journal.isAlive), [])
      assert.strictEqual(ran.code, 0)
    }))
})

describe("a line", () => {
  it("is split as shells do", () => {
    const words = (line: string) => Either.getOrUndefined(ReplLine.words(line))
    assert.deepStrictEqual(words(""), [])
    assert.deepStrictEqual(words("  call  a/b\tx=1 "), ["call", "a/b", "x=1"])
    assert.deepStrictEqual(words(`a '' "b c" d'e f'g`), ["a", "", "b c", "de fg"])
    assert.deepStrictEqual(words(`'a\\b' "c\\"d" e\\ f`), ["a\\b", "c\"d", "e f"])
    assert.isUndefined(words("a 'b"))
    assert.isUndefined(words("a \"b"))
  })

  it("is completed by commands, and behind `call` by tools that can be typed", () => {
    const complete = (line: string) => ReplLine.completions(line, ["tools", "call", "status"], ["a/x", "a/y z", "b/x"])
    assert.deepStrictEqual(complete(""), [["tools ", "call ", "status "], ""])
    assert.deepStrictEqual(complete("st"), [["status "], "st"])
    assert.deepStrictEqual(complete("call a"), [["a/x "], "a"])
    assert.deepStrictEqual(complete("call a/x k"), [[], "k"])
  })
})
