/** Whether help and completions know every command, every argument and every option. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Command from "../../src/cli/Command.ts"
import { builtInOptions, sharedOptions } from "../../src/cli/commandLine.ts"
import * as Commands from "../../src/cli/Commands.ts"
import { candidates } from "../../src/cli/completions.ts"
import * as Help from "../../src/cli/help.ts"
import type * as Screen from "../../src/cli/Screen.ts"

const all = await Effect.runPromise(Effect.forEach(Commands.all, Command.load))

const names = Commands.all.map(({ name }) => name)

const text = (lines: ReadonlyArray<Screen.Line>): ReadonlyArray<string> =>
  lines.map((line) =>
    typeof line === "string" ? line : line.map((span) => typeof span === "string" ? span : span.text).join("")
  )

const optionsOf = ({ options }: Command.Command): ReadonlyArray<Command.Option> => [...options, ...sharedOptions]

describe("the help", () => {
  for (const columns of [60, 80, 100]) {
    it(`of the program names every command and every option of all of them, on ${columns} columns`, () => {
      const lines = text(Help.ofProgram(Commands.all, columns))
      for (const { name, summary } of Commands.all) {
        const at = lines.findIndex((line) => line.trimStart().split(/\s{2,}/)[0] === name)
        assert.notStrictEqual(at, -1, name)
        assert.include(lines.slice(at).join(" "), summary.split(" ")[0]!)
      }
      for (const { name } of [...sharedOptions, ...builtInOptions]) assert.include(lines.join("\n"), `--${name}`)
      for (const line of lines) assert.isAtMost(line.length, columns, line)
    })
  }

  for (const command of all) {
    it(`of ${command.name} has all that it takes and an example, on 80 columns`, () => {
      const lines = text(Help.ofCommand(command, 80))
      const whole = lines.join("\n")
      for (const { name } of command.args) assert.match(whole, new RegExp(`^ +${name.toUpperCase()}\\b`, "m"))
      for (const { name, short, value } of optionsOf(command)) {
        const term = `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`
        assert.isTrue(lines.some((line) => line.trimStart() === term || line.trimStart().startsWith(`${term}  `)), term)
      }
      assert.match(whole, /^Examples$/m)
      for (const line of lines) assert.isAtMost(line.length, 80, line)
    })
  }
})

describe("completion", () => {
  const known = { servers: ["alpha", "beta"], tools: new Map([["alpha/read", ["path", "limit"]]]) }
  const of = (line: string) => {
    const words = line.split(" ")
    const before = words.slice(0, -1)
    const command = all.find(({ name }) => before.includes(name))
    return candidates(before, words.at(-1)!, Commands.all, command, known).map(({ word }) => word)
  }

  it("offers every command, and for each of them every option that it takes", () => {
    assert.includeMembers(of(""), names)
    for (const command of all) {
      const options = optionsOf(command).map(({ name }) => `--${name}`)
      assert.includeMembers(of(`${command.name} --`), options, command.name)
      assert.includeMembers(of(`--json ${command.name} --`), options, command.name)
    }
    assert.includeMembers(of("--"), builtInOptions.map(({ name }) => `--${name}`))
  })

  const table: ReadonlyArray<readonly [line: string, words: ReadonlyArray<string>]> = [
    ["list --import curs", ["cursor"]],
    ["--import al", ["all"]],
    ["list --server ", ["alpha", "beta"]],
    ["tools b", ["beta"]],
    ["show alpha/", ["alpha/read"]],
    ["call a", ["alpha/read"]],
    ["call alpha/read ", ["path=", "limit="]],
    ["call alpha/read path=x li", ["limit="]],
    ["call alpha/read --li", ["--limit"]],
    ["call alpha/read --output m", ["markdown"]],
    ["auth log", ["login", "logout"]],
    ["auth login a", ["alpha"]],
    ["doctor alpha b", ["beta"]],
    ["help sho", ["show"]],
    ["read --out ", []],
    ["nothing ", []]
  ]
  for (const [line, words] of table) {
    it(`of ${JSON.stringify(line)} is ${JSON.stringify(words)}`, () => {
      assert.deepStrictEqual(of(line), words)
    })
  }

  it("offers the choices of each option that has some", () => {
    for (const command of all) {
      for (const { choices, name } of command.options) {
        if (choices !== undefined) assert.deepStrictEqual(of(`${command.name} --${name} `), choices)
      }
    }
  })
})
