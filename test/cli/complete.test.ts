/** Whether help and completions know every command, every argument and every option. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import * as Command from "../../src/cli/Command.ts"
import { builtInOptions, sharedOptions } from "../../src/cli/commandLine.ts"
import * as Commands from "../../src/cli/Commands.ts"
import { script } from "../../src/cli/completions.ts"
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

describe("the completions", () => {
  const of = (shell: string) => Effect.map(script(shell, all), (lines) => lines.join("\n"))

  it.effect("of bash offer every command, and for each of them every option that it takes", () =>
    Effect.gen(function*() {
      const asked = [[""], ...names.map((name) => [name, "--"])]
      const lines = asked.map((words) =>
        `COMP_WORDS=(mcp-runtime ${
          words.map((word) => `"${word}"`).join(" ")
        }); COMP_CWORD=${words.length}; COMPREPLY=()
        _mcp-runtime_bash_completions mcp-runtime; echo "\${COMPREPLY[*]}"`
      )
      const program = `${yield* of("bash")}\n${lines.join("\n")}`
      const [commands, ...options] = execFileSync("bash", ["--norc", "-s"], { encoding: "utf8", input: program })
        .split("\n").map((line) => line.split(" "))
      assert.includeMembers(commands!, names)
      for (const [at, command] of all.entries()) {
        assert.includeMembers(options[at]!, optionsOf(command).map(({ name }) => `--${name}`), command.name)
      }
    }))

  for (const shell of ["zsh", "fish"]) {
    it.effect(`of ${shell} have every command and every option`, () =>
      Effect.gen(function*() {
        const whole = yield* of(shell)
        for (const command of all) {
          assert.match(whole, new RegExp(`\\b${command.name}\\b`))
          for (const { name } of optionsOf(command)) {
            const option = shell === "fish" ? `-l ${name}` : `--${name}`
            const own = whole.split("\n").filter((line) =>
              line.includes(option) && (shell === "zsh" || line.includes(command.name))
            )
            assert.isAbove(own.length, 0, `${command.name} ${option}`)
          }
        }
      }))
  }

  it.effect("offer the choices of an option that has some", () =>
    Effect.gen(function*() {
      for (const shell of ["zsh", "fish"]) {
        const whole = yield* of(shell)
        for (const { choices } of all.flatMap(optionsOf)) {
          for (const choice of choices ?? []) assert.include(whole, choice)
        }
      }
    }))
})
