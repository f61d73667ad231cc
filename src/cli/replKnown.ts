/** What is known by name in the repl, for what may complete a line. */
import * as Effect from "effect/Effect"
import * as Shape from "../json/describe.ts"
import type * as Application from "./Application.ts"
import type * as Command from "./Command.ts"
import { spelled } from "./toolRef.ts"

export interface Known {
  readonly commands: ReadonlyArray<Command.Loaded>
  readonly servers: ReadonlyArray<string>
  /** The names of their parameters, by how they are called. */
  readonly tools: ReadonlyMap<string, ReadonlyArray<string>>
}

/** What is typed without quotes, and shown as it is. */
const plain = /^[\w./:@-]+$/

const most = 200

export const of = (
  { discovery, runtime }: Application.Application,
  commands: ReadonlyArray<Command.Loaded>
): Effect.Effect<Known> =>
  Effect.map(runtime.tools, ({ tools }) => ({
    commands,
    servers: discovery.servers.map(({ name }) => name),
    tools: new Map(
      tools.map(({ inputSchema, serverName, tool }) => [
        spelled({ server: serverName, tool: tool.name }),
        Shape.parameters(inputSchema).map(({ name }) => name)
      ])
    )
  }))

/** What the words so far ask for: a name is followed by a blank, the name of a parameter by its value. */
const among = (
  { commands, servers, tools }: Known,
  [name, ...words]: ReadonlyArray<string>,
  word: string
): ReadonlyArray<string> => {
  if (name === undefined) return [...commands.map((one) => one.name), "help", "exit"].map((one) => `${one} `)
  if (name === "help" && words.length === 0) return commands.map((one) => `${one.name} `)
  const command = commands.find((one) => one.name === name)
  if (word.startsWith("-")) return (command?.options ?? []).map((option) => `--${option.name} `)
  if (name === "call" && words[0] !== undefined) return (tools.get(words[0]) ?? []).map((one) => `${one}=`)
  switch (command?.args[words.length]?.name) {
    case "tool":
      return Array.from(tools.keys(), (one) => `${one} `)
    case "server":
      return servers.map((one) => `${one} `)
    default:
      return []
  }
}

/** What the last word of a line may become, and that word. */
export const completions = (line: string, known: Known): readonly [hits: Array<string>, word: string] => {
  const blank = Math.max(line.lastIndexOf(" "), line.lastIndexOf("\t"))
  const word = line.slice(blank + 1)
  const before = line.slice(0, blank + 1).split(/\s+/).filter((one) => one !== "")
  const hits = among(known, before, word).filter((one) => one.startsWith(word) && plain.test(one.replace(/[ =]$/, "")))
  return [hits.slice(0, most), word]
}
