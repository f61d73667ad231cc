import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Either } from "effect"
import * as Command from "../../src/cli/Command.ts"
import * as CommandLine from "../../src/cli/commandLine.ts"
import * as Commands from "../../src/cli/Commands.ts"

const read = (argv: ReadonlyArray<string>) => Effect.runPromise(Effect.either(CommandLine.parse(argv, Commands.all)))

const parse = (line: string) => read(line === "" ? [] : line.split(" "))

const invocation = async (line: string): Promise<Command.Invocation> => {
  const parsed = Either.getOrThrow(await parse(line))
  if (parsed._tag !== "Run") throw new Error(`${line} is ${parsed._tag}`)
  return parsed.invocation
}

const fault = async (line: string): Promise<string> => {
  const { detail, next } = Either.getOrThrow(Either.flip(await parse(line)))
  return `${detail} ${next ?? ""}`.trim()
}

describe("the command line", () => {
  it("takes the options of every command before its name, behind it and behind its arguments", async () => {
    for (const line of ["--json call t a=1", "call --json t a=1", "call t --json a=1", "call t a=1 --json"]) {
      const { args, shared } = await invocation(line)
      assert.deepStrictEqual(args, ["t", "a=1"])
      assert.isTrue(shared.json)
    }
  })

  it("reads values behind a space and behind an equals sign, and keeps the order of repeated ones", async () => {
    const { shared, value } = await invocation("call t --server a --server=b --config=x=y --timeout 2m --args={} -q")
    assert.deepStrictEqual(shared.servers, ["a", "b"])
    assert.deepStrictEqual(shared.configs, ["x=y"])
    assert.strictEqual(Duration.toMillis(shared.timeout!), 120_000)
    assert.strictEqual(value("args"), "{}")
    assert.isTrue(shared.quiet)
  })

  it("takes what follows two dashes, and a dash alone, as it is", async () => {
    assert.deepStrictEqual((await invocation("call t - a=-1")).args, ["t", "-", "a=-1"])
    assert.deepStrictEqual((await invocation("call t -- --json -x")).args, ["t", "--json", "-x"])
  })

  it("leaves the options that a tool may take to its schema, up to two dashes", async () => {
    const { args, shared, unknown } = await invocation("call t --title x --json --count -5 --at=1 -- --y")
    assert.deepStrictEqual(args, ["t", "--title", "x", "--count", "-5", "--at=1", "--y"])
    assert.deepStrictEqual([...unknown], [1, 3, 5])
    assert.isTrue(shared.json)
  })

  const faults: ReadonlyArray<readonly [line: string, said: string]> = [
    ["calll t", "unknown command \"calll\" Did you mean \"call\"?"],
    ["xyzzy", "unknown command \"xyzzy\" Run `mcp-runtime --help`."],
    ["list --tiemout 1", "unknown option \"--tiemout\" Did you mean \"--timeout\"?"],
    ["list --search x", "unknown option \"--search\""],
    ["list -x", "unknown option \"-x\" Did you mean \"-q\" or \"-v\" or \"-h\"?"],
    ["list --server", "option \"--server\" needs a value Usage: --server NAME"],
    ["list --server=", "option \"--server\" needs a value Usage: --server NAME"],
    ["list --json=1", "option \"--json\" takes no value"],
    ["list --root a --root b", "option \"--root\" can be used only once"],
    ["list --timeout never", "invalid duration \"never\" Use a duration such as 500ms, 30s or 2m."],
    ["list --timeout 0", "invalid duration \"0\" Use a duration such as 500ms, 30s or 2m."],
    ["--completions zhs", "invalid value \"zhs\" for option \"--completions\" Did you mean \"zsh\"?"],
    ["list extra", "unexpected argument \"extra\" Run `mcp-runtime list --help`."],
    [
      "list \u001b[31m",
      "unexpected argument \"\\x1b[31m\" Run `mcp-runtime list --help`."
    ],
    ["call --tiemout 1 t", "unknown option \"--tiemout\" Did you mean \"--timeout\"?"],
    ["call t -x", "unknown option \"-x\" Did you mean \"-q\" or \"-v\" or \"-h\"?"],
    ["prompt t a=1 --tiemout 1", "unknown option \"--tiemout\" Did you mean \"--timeout\"?"],
    ["doctor a b --tiemout 1", "unknown option \"--tiemout\" Did you mean \"--timeout\"?"],
    ["help lits", "unknown command \"lits\" Did you mean \"list\"?"]
  ]
  for (const [line, said] of faults) {
    it(`says what is wrong with ${JSON.stringify(line)}`, async () => {
      assert.strictEqual(await fault(line), said)
    })
  }

  it("answers for help, version and completions without running anything, whatever else is there", async () => {
    const tags: Array<string> = []
    for (const line of ["", "--help", "-h", "help", "help call", "call --help", "--version", "--completions fish"]) {
      tags.push(Either.getOrThrow(await parse(line))._tag)
    }
    assert.deepStrictEqual(tags, ["Help", "Help", "Help", "Help", "Help", "Help", "Version", "Completions"])
  })

  it("has commands and options that cannot be taken for each other", async () => {
    const names = Commands.all.map(({ name }) => name)
    assert.deepStrictEqual(names, [...new Set(names)])
    const always = [...CommandLine.sharedOptions, ...CommandLine.builtInOptions].map(({ name }) => name)
    for (const command of await Effect.runPromise(Effect.forEach(Commands.all, Command.load))) {
      const own = command.options.map(({ name }) => name)
      assert.deepStrictEqual([...own, ...always], [...new Set([...own, ...always])], command.name)
      assert.isAbove(command.examples.length, 0, command.name)
      // where they stand before the command, it has to be known which of them take a value
      for (const { choices, name, value } of command.options) {
        const given = value === undefined ? [] : [choices?.[0] ?? "1"]
        const parsed = await read([`--${name}`, ...given, command.name, "--help"])
        const found = Either.isRight(parsed) && parsed.right._tag === "Help" ? parsed.right.command?.name : undefined
        assert.strictEqual(found, command.name, name)
      }
      for (const [line] of command.examples) {
        assert.strictEqual(line.split(" ")[0], command.name)
        assert.isTrue(
          Either.isRight(await read(line.split(/ [<>|] /)[0]!.match(/'[^']*'|"[^"]*"|\S+/g)!)),
          line
        )
      }
    }
  })
})

describe("durations", () => {
  const rows: ReadonlyArray<readonly [text: string, millis: number | undefined]> = [
    ["500ms", 500],
    ["30s", 30_000],
    ["1.5m", 90_000],
    ["2h", 7_200_000],
    ["7", 7_000],
    ["3 seconds", 3_000],
    ["0", undefined],
    ["-1s", undefined],
    ["1d!", undefined],
    ["", undefined]
  ]
  for (const [text, millis] of rows) {
    it(`reads ${JSON.stringify(text)} as ${millis}`, () => {
      const duration = CommandLine.duration(text)
      assert.strictEqual(duration === undefined ? undefined : Duration.toMillis(duration), millis)
    })
  }
})
