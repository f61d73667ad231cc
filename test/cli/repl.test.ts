import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Schema } from "effect"
import * as Command from "../../src/cli/Command.ts"
import * as Commands from "../../src/cli/Commands.ts"
import { Called } from "../../src/cli/commands/call.ts"
import { Read } from "../../src/cli/commands/read.ts"
import { complete, Terminal } from "../../src/cli/commands/repl.ts"
import { Status } from "../../src/cli/commands/status.ts"
import { Tools } from "../../src/cli/commands/tools.ts"
import { Failed } from "../../src/cli/failure.ts"
import * as Journal from "../faults/journal.ts"
import { own, type Place, place, run as runAny, server } from "./inProcess.ts"

const piped = (at: Place, lines: ReadonlyArray<string>, ...argv: ReadonlyArray<string>) =>
  runAny(at, ["repl", ...argv], { input: lines.join("\n") })

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
      // the two calls are counted
      assert.match(ran.out, /^mine +connected +closed +\d+(\.\d)? ms +[▁-█]{5} +2 +0 /m)
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
      assert.include(ran.err, "unknown command \"cal\"")
      assert.include(ran.err, "did you mean \"mine/echo\"")
      assert.include(ran.err, "unterminated '")
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
      assert.include(decode(Tools, lines[0]).tools.map(({ tool }) => tool), "echo")
      assert.deepInclude(decode(Called, lines[1]), { server: "mine", tool: "echo", isError: false })
      assert.deepInclude(decode(Status, lines[2]).servers[0], { name: "mine", state: "connected", tools: 4, called: 1 })
      assert.strictEqual(decode(Failed, lines[3]).error.tag, "NotFound")
      assert.strictEqual(decode(Failed, lines[4]).error.server, "mine")
    }))

  it.scopedLive("has the commands of outside, which see what they are told to and nothing else", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(own, { servers: { notes: server("cli/offers.mjs", "notes"), asks: server("cli/asks.mjs") } })
      const text = at.write("work/text.json", { type: "object", properties: {} })
      const ran = yield* piped(at, [
        "read note://one",
        "read note://two --json",
        "list",
        "resources notes",
        "prompts notes",
        "prompt notes/review file=a.txt",
        "show asks/url",
        "tools notes",
        "tools --server asks",
        `call asks/form schema:=@${text}`,
        "help",
        "help prompt"
      ])
      assert.strictEqual(ran.code, 0)
      const texts = [
        "first\nsecond\\x1b[2J\n",
        "  own://notes\n",
        "notes/review file=… [tone=…]\n",
        "review: {\"file\":\"a.txt\"}",
        "asks/url(url?: string)\n",
        "{\"action\":\"decline\"}\n",
        "  reconnect  Close the connection",
        "Get a prompt and print its messages"
      ]
      for (const text of texts) assert.include(ran.out, text)
      const document = ran.out.split("\n").find((line) => line.startsWith("{\"server\""))
      assert.deepStrictEqual(
        Schema.decodeUnknownSync(Schema.parseJson(Read))(document).contents.map(({ text }) => text),
        ["a", "b"]
      )
      assert.match(ran.out, /^notes +stdio +connected +0 +session +user/m)
      assert.include(ran.err, "No tools were found.")
      assert.lengthOf(ran.out.match(/^asks\/form *$/gm) ?? [], 1)
    }))

  it.scopedLive("says what cannot be said in a line", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(own, { servers: { notes: server("cli/offers.mjs", "notes"), asks: server("cli/asks.mjs") } })
      const ran = yield* piped(at, [
        "read nowhere://at-all",
        "call asks/form -",
        "tools --root /tmp",
        "tools --import all",
        "tools none",
        "approve notes",
        "resources --version",
        "call asks/url url=https://x.example --timeout 1ms"
      ])
      const texts = [
        "there is no resource \"nowhere://at-all\"",
        "stdin is not available, because the repl reads its lines from it",
        "the repl uses the servers it was started with",
        "there is no server \"none\"",
        "unknown command \"approve\"",
        "this option does not work in the repl"
      ]
      for (const text of texts) assert.include(ran.err, text)
      assert.match(ran.err, /asks: command was not answered within 1ms|asks: .*1ms/)
      assert.strictEqual(ran.code, 4)
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
              Effect.gen(function*() {
                prompts.push(prompt)
                // the tools are known once their server has listed them
                while (complete("call mine/e")[0].length === 0) yield* Effect.sleep("5 millis")
                completed.push(...complete("to")[0], ...complete("call mine/e")[0])
                return lines.shift()
              }),
            ask: () => Effect.as(Effect.void, undefined),
            // pressed once, while the first call runs
            interrupted: Effect.flatMap(Deferred.isDone(pressed), (isDone) =>
              isDone ? Effect.never : Effect.zipRight(
                journal.until(({ executed }) => executed === "hang"),
                Effect.asVoid(Deferred.succeed(pressed, undefined))
              ))
          })
      }
      const ran = yield* runAny(at, ["repl"], { answers: [], columns: 80 }).pipe(
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
  it("is completed by what is known by name", async () => {
    const commands = await Effect.runPromise(Effect.forEach(Commands.all, Command.load))
    const known = {
      servers: ["a", "b"],
      tools: new Map([["a/x", ["count", "title"]], ["a/y z", []], ["b/x", []]])
    }
    const table: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
      ["st", ["status "]],
      ["he", ["help "]],
      ["help res", ["resources "]],
      ["call a", ["a/x "]],
      ["  show  b", ["b/x "]],
      ["call a/x k", []],
      ["call a/x c", ["count="]],
      ["call a/x count=1 t", ["title="]],
      ["call a/x --ou", ["--out ", "--output "]],
      ["tools ", ["a ", "b "]],
      ["nothing ", []]
    ]
    for (const [line, hits] of table) {
      assert.deepStrictEqual([line, complete(line, commands, known)[0]], [line, hits])
    }
    assert.strictEqual(complete("call a/x count=1 t", commands, known)[1], "t")
    assert.includeMembers([...complete("", commands, known)[0]], ["list ", "reconnect ", "help ", "exit "])
  })
})
