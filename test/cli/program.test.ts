import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Cli from "../../src/cli/Cli.ts"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import { pidsWithArgument } from "../support/leaks.ts"
import * as Device from "./device.ts"
import * as Workspace from "./workspace.ts"

const patient = { timeout: 30_000 }

let work: Workspace.Workspace
let servers: string

beforeEach(() => {
  work = Workspace.make()
  servers = work.write("servers.json", {
    mcpServers: { slow: work.server, dead: { command: "there-is-no-such-program" } }
  })
})

afterEach(() => {
  // whatever a test was about, nothing is left behind
  const left = pidsWithArgument(work.journal)
  work.remove()
  assert.deepStrictEqual(left, [])
})

const run = (...args: ReadonlyArray<string>) => work.run([...args, "--config", servers])

/** The same in this process, where what is asked is nothing of a process. */
const say = (args: ReadonlyArray<string>): Promise<Workspace.Ended> =>
  Effect.runPromise(
    Effect.gen(function*() {
      const device = Device.make({})
      const code = yield* Cli.run({ argv: [...args, "--root", work.folder], version: "1.2.3", device })
      return { code, stdout: device.out(), stderr: device.err() }
    }).pipe(Effect.provide(HostEnvironment.layer(work.environment)))
  )

describe("mcp-runtime", patient, () => {
  it("explains itself and each command, on 80 columns, and starts nothing", async () => {
    const { code, stderr, stdout } = await work.run(["--help"])
    assert.strictEqual(code, 0)
    assert.strictEqual(stderr, "")
    for (const word of ["list", "tools", "show", "call", "--json", "--timeout", "Exit codes"]) {
      assert.include(stdout, word)
    }
    for (const line of stdout.split("\n")) assert.isAtMost(line.length, 80)
    assert.match(
      (await work.run(["call", "--help"])).stdout,
      /^ {2}mcp-runtime call \[TOOL\] \[ARGUMENT…\] \[options\]$/m
    )
    assert.strictEqual((await work.run([])).code, 2)
  })

  it("has a script for every shell, which asks the program", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, stdout } = await say(["--completions", shell])
      assert.strictEqual(code, 0)
      assert.include(stdout, "mcp-runtime --complete ")
    }
  })

  it("completes in bash commands, options, hosts, servers, tools and their parameters, and starts nothing", async () => {
    const { stdout } = await work.run(["--completions", "bash"])
    await run("tools")
    const started = work.entries().length
    symlinkSync(Workspace.bin, join(work.folder, "mcp-runtime"))
    const typed = (...words: ReadonlyArray<string>) =>
      execFileSync("bash", [
        "-c",
        `${stdout}
        COMP_WORDS=(mcp-runtime "$@"); COMP_CWORD=$#
        _mcp_runtime mcp-runtime; echo "\${COMPREPLY[*]}"`,
        "bash",
        ...words
      ], {
        encoding: "utf8",
        cwd: work.folder,
        env: { ...work.environment, PATH: `${work.folder}:${process.env["PATH"]}` }
      }).trim()
    assert.strictEqual(typed("ca"), "call")
    assert.strictEqual(typed("call", "--w"), "--wizard")
    assert.strictEqual(typed("tools", "--sea"), "--search")
    assert.strictEqual(typed("list", "--import", "curs"), "cursor")
    assert.strictEqual(typed("auth", "logi"), "login")
    assert.strictEqual(typed("--config", servers, "tools", "sl"), "slow")
    assert.strictEqual(typed("--config", servers, "call", "slow/ty"), "slow/typed")
    assert.strictEqual(typed("--config", servers, "call", "slow/typed", "ti"), "title=")
    assert.strictEqual(typed("--config", servers, "call", "slow/typed", "title=a", "cou"), "count=")
    assert.lengthOf(work.entries(), started)
  })

  it("lists servers with their states, in plain text where there is no terminal", async () => {
    const { code, stderr, stdout } = await run("list")
    assert.strictEqual(code, 4)
    assert.match(stdout, /^SERVER +TRANSPORT +STATE +TOOLS +ERA +SCOPE +FROM\n/)
    assert.match(stdout, /^slow +stdio +connected +4 +session +session +\S*servers\.json:1$/m)
    assert.match(stdout, /^dead +stdio +failed +- /m)
    assert.match(stderr, /^dead: could not start "there-is-no-such-program" \(ENOENT\)/m)
    assert.notInclude(stdout + stderr, "\u001b")
  })

  it("lists tools, shows one, and calls it with typed arguments, escaping what the server says", async () => {
    const tools = await say(["tools", "slow", "--config", servers])
    assert.match(tools.stdout, /^slow\/typed +Gives back what it got\.$/m)
    const shown = await say(["show", "slow/typed", "--config", servers])
    assert.match(shown.stdout, /^slow\/typed\(title: string, count\?: integer, state\?: "open" \| "closed", /)
    assert.match(shown.stdout, /^ {4}x: number {2}required$/m)
    assert.include(shown.stdout, "\\x1b[31mlies")
    const called = await run("call", "typed", "title=7", "count=3", "labels=a", "labels=b", "at.x=1.5")
    assert.strictEqual(called.code, 0, called.stderr)
    assert.strictEqual(
      called.stdout,
      "{\"title\":\"7\",\"count\":3,\"labels\":[\"a\",\"b\"],\"at\":{\"x\":1.5}}\\x1b]0;title\\x07\n"
    )
  })

  it("starts only the server whose tool is called", async () => {
    const other = Workspace.make()
    try {
      const file = work.write("two.json", { mcpServers: { slow: work.server, other: other.server } })
      const { code } = await say(["call", "slow/typed", "title=a", "--config", file])
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(other.entries(), [])
    } finally {
      other.remove()
    }
  })

  it("takes arguments from the standard input, from files and as JSON", async () => {
    const input = JSON.stringify({ title: "piped" })
    const piped = await work.run(["call", "slow/typed", "-", "count=2", "--config", servers], { input })
    assert.match(piped.stdout, /^{"title":"piped","count":2}/)
    work.write("title.txt", "from a file")
    const fromFile = await run("call", "slow/typed", "title=@title.txt")
    assert.match(fromFile.stdout, /^{"title":"from a file"}/, fromFile.stderr)
    const whole = await say(["call", "slow/typed", "--args", input, "--config", servers])
    assert.match(whole.stdout, /^{"title":"piped"}/, whole.stderr)
    const wrong = await say(["call", "slow/typed", "title=@nowhere.txt", "--config", servers])
    assert.strictEqual(wrong.code, 2)
    assert.match(wrong.stderr, /no such file$/m)
  })

  it("ends with 1 where the tool says error, and tells what it said on the standard error", async () => {
    const { code, stderr, stdout } = await run("call", "slow/fail")
    assert.strictEqual(code, 1)
    assert.strictEqual(stdout, "")
    assert.match(stderr, /^error: slow\/fail failed:\nthe file does not exist$/m)
  })

  it("describes a picture, and writes it where it is told to", async () => {
    assert.match(
      (await run("call", "slow/picture")).stdout,
      /^\[image, image\/png, 8 bytes; use --out FILE to save it\]$/m
    )
    const { code, stderr } = await run("call", "slow/picture", "--out", "shot.png")
    assert.strictEqual(code, 0)
    assert.match(stderr, /^Wrote shot\.png \(8 bytes\)$/m)
    assert.strictEqual(readFileSync(join(work.folder, "shot.png")).toString("hex"), "89504e470d0a1a0a")
  })

  it("ends with 2 and a near name where something is mistyped, before anything is started", async () => {
    const mistyped: ReadonlyArray<readonly [args: ReadonlyArray<string>, said: RegExp]> = [
      [["lst"], /^error: unknown command "lst"\nDid you mean "list"\?$/m],
      [["list", "--jsn"], /^error: unknown option "--jsn"\nDid you mean "--json"\?$/m],
      [["list", "--server", "slwo", "--config", servers], /^error: there is no server "slwo"; did you mean "slow"\?$/m],
      [["list", "--timeout", "soon"], /^error: invalid duration "soon"$/m],
      [["show"], /^error: missing argument TOOL/m],
      [["list", "more"], /^error: unexpected argument "more"$/m]
    ]
    for (const [args, said] of mistyped) {
      const { code, stderr, stdout } = await say(args)
      assert.strictEqual(code, 2, args.join(" "))
      assert.match(stderr, said)
      assert.strictEqual(stdout, "")
    }
    assert.deepStrictEqual(work.entries(), [])
  })

  it("ends with 2 and a near name where a tool or an argument is mistyped, and calls nothing", async () => {
    const tool = await say(["call", "slow/typd", "--config", servers])
    assert.strictEqual(tool.code, 2)
    assert.match(tool.stderr, /^error: .*did you mean "slow\/typed"\?$/m)
    const argument = await say(["call", "slow/typed", "tilte=a", "--config", servers])
    assert.strictEqual(argument.code, 2)
    assert.match(argument.stderr, /^error: the tool has no argument "tilte"\nDid you mean "title"\?$/m)
    const missing = await say(["call", "slow/typed", "count=2", "--config", servers])
    assert.match(missing.stderr, /^error: missing title \(string\)$/m)
    assert.deepStrictEqual(work.entries().filter(({ called }) => called !== undefined), [])
  })

  it("ends with 3 where a file is broken or is not there, and tells where", async () => {
    work.write("broken.json", "{\"mcpServers\": {")
    const broken = await work.run(["list", "--config", "broken.json"])
    assert.strictEqual(broken.code, 3)
    assert.match(broken.stderr, /^error: .*broken\.json/m)
    assert.strictEqual((await say(["list", "--config", "nowhere.json"])).code, 3)
    const file = work.write("entry.json", { mcpServers: { bad: { command: 3 } } })
    const entry = await say(["call", "bad/x", "--config", file])
    assert.strictEqual(entry.code, 3)
    assert.match(entry.stderr, /The field command has the wrong type/)
  })

  it("ends with 4 where the server is dead, and tells what helps", async () => {
    const { code, stderr } = await run("call", "dead/x")
    assert.strictEqual(code, 4)
    assert.match(
      stderr,
      /^error: dead: could not start .*\nInstall it, or use its full path in the configuration\.$/m
    )
    assert.strictEqual((await say(["tools", "dead", "--config", servers])).code, 4)
  })

  it("ends with 5 where a rule denies it, and nothing is sent", async () => {
    const file = work.write("mcp-client.json", {
      mcpServers: { slow: work.server },
      permissions: { rules: [{ tool: "slow/fail", action: "deny" }] }
    })
    const { code, stderr } = await work.run(["call", "slow/fail", "--config", file])
    assert.strictEqual(code, 5, stderr)
    assert.deepStrictEqual(work.entries().filter(({ called }) => called !== undefined), [])
  })

  it("starts nothing of a workspace that nobody has agreed to, and ends with 5 if that is called", async () => {
    work.write(".mcp.json", { mcpServers: { slow: work.server } })
    const listed = await say(["list"])
    assert.strictEqual(listed.code, 0)
    assert.match(listed.stdout, /^slow +stdio +needs approval /m)
    assert.match(listed.stderr, /mcp-runtime approve/)
    const called = await work.run(["call", "slow/typed", "title=a"])
    assert.strictEqual(called.code, 5)
    assert.match(called.stderr, /mcp-runtime approve slow/)
    assert.deepStrictEqual(work.entries(), [])
  })

  it("cancels the call at the server when somebody presses Ctrl-C, ends with 130 and leaves no orphan", async () => {
    const running = work.start(["call", "slow/wait", "--config", servers])
    await work.until(({ called }) => called === "wait")
    running.interrupt()
    const { code, stderr, stdout } = await running.ended
    assert.strictEqual(code, 130)
    assert.strictEqual(stdout + stderr, "")
    const id = work.entries().find(({ called }) => called === "wait")!["id"]
    assert.isTrue(work.entries().some(({ cancelled }) => cancelled === id))
  })

  it("gives up after the time that it is given, and ends with 4", async () => {
    const { code, stderr } = await run("call", "slow/wait", "--timeout", "1s")
    assert.strictEqual(code, 4)
    assert.match(stderr, /^error: .*within the (total|idle) limit of /m)
    assert.isTrue(work.entries().some(({ cancelled }) => cancelled !== undefined))
  })

  it("works where the standard input is closed, and asks nobody", async () => {
    const closed = (args: string) =>
      execFileSync("bash", [
        "-c",
        `exec "$0" "$1" ${args} --config "$2" <&-`,
        process.execPath,
        Workspace.bin,
        servers
      ], {
        cwd: work.folder,
        env: work.environment,
        encoding: "utf8"
      })
    assert.match(closed("call slow/typed title=a"), /^{"title":"a"}/)
    assert.match(closed("call slow/typed - title=b"), /^{"title":"b"}/)
  })

  it("ends quietly when its reader leaves", async () => {
    const { stderr } = await work.start(["list", "--config", servers, "--quiet", "--allow-missing"], { leave: true })
      .ended
    assert.strictEqual(stderr, "")
  })

  it("says that there is nothing where there is nothing", async () => {
    const { code, stderr, stdout } = await work.run(["list"])
    assert.strictEqual(code, 0)
    assert.strictEqual(stdout, "")
    assert.match(stderr, /^No servers are configured\.$/m)
    assert.isFalse(existsSync(work.journal))
  })
})

describe("what was compiled", patient, () => {
  const call = (cache: string) =>
    work.run(["call", "slow/typed", "title=a", "--config", servers], { variables: { XDG_CACHE_HOME: cache } })

  it("is kept where only its user can write, and made again if it is broken", async () => {
    const cache = join(work.folder, "cache")
    const folder = join(cache, "mcp-runtime/compiled")
    assert.strictEqual((await work.run(["--help"], { variables: { XDG_CACHE_HOME: cache } })).code, 0)
    assert.strictEqual(statSync(folder).mode & 0o777, 0o700)
    const [help, ...more] = readdirSync(folder)
    assert.deepStrictEqual(more, [])
    const size = statSync(join(folder, help!)).size
    assert.isAbove(size, 100_000)
    // whoever needs more keeps more
    assert.strictEqual((await call(cache)).code, 0)
    const name = readdirSync(folder).find((one) => one !== help)
    assert.isAbove(statSync(join(folder, name!)).size, 1.5 * size)
    writeFileSync(join(folder, name!), "broken")
    const { code, stderr, stdout } = await call(cache)
    assert.deepStrictEqual([code, stdout, stderr], [0, "{\"title\":\"a\"}\\x1b]0;title\\x07\n", ""])
    assert.isAbove(statSync(join(folder, name!)).size, 100_000)
  })

  it("is neither read nor written where others may write, and nothing is worse for that", async () => {
    const cache = join(work.folder, "cache")
    const folder = join(cache, "mcp-runtime/compiled")
    assert.strictEqual((await call(cache)).code, 0)
    const [name] = readdirSync(folder)
    writeFileSync(join(folder, name!), "planted")
    chmodSync(folder, 0o777)
    assert.strictEqual((await call(cache)).code, 0)
    assert.strictEqual(readFileSync(join(folder, name!), "utf8"), "planted")
  })

  it("is not kept where there is no folder for it", async () => {
    assert.strictEqual((await call("relative")).code, 0)
    assert.isFalse(existsSync(join(work.folder, "relative")))
  })
})
