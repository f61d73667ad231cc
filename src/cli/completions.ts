/** Scripts that complete what is typed, as @effect/cli writes them. */
import * as Args from "@effect/cli/Args"
import * as Descriptor from "@effect/cli/CommandDescriptor"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import type * as Command from "./Command.ts"
import { sharedOptions } from "./commandLine.ts"

const named = ({ about, choices, name, repeated, short, value }: Command.Option): Options.Options<unknown> => {
  const plain: Options.Options<unknown> = value === undefined
    ? Options.boolean(name)
    : choices !== undefined
    ? Options.choice(name, choices)
    : value === "FILE"
    ? Options.file(name)
    : value === "DIR"
    ? Options.directory(name)
    : Options.text(name)
  const lettered = short === undefined ? plain : Options.withAlias(plain, short)
  const described = Options.withDescription(lettered, about)
  return repeated === true ? Options.repeated(described) : value === undefined ? described : Options.optional(described)
}

const argument = ({ about, name, repeated, required }: Command.Argument): Args.Args<unknown> => {
  const plain = Args.withDescription(Args.text({ name }), about)
  return repeated === true ? Args.repeated(plain) : required ? plain : Args.optional(plain)
}

const described = (command: Command.Loaded) =>
  Descriptor.make(
    command.name,
    Options.all([...command.options, ...sharedOptions].map(named)),
    Args.all(command.args.map(argument))
  ).pipe(Descriptor.withDescription(command.summary))

/** Options that every program of @effect/cli has, and this one does not, or not for each command. */
const foreign = [/--log-level\b| -l log-level\b/, /Start wizard mode/]

const without = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.map((line) => line.replace(" --help --wizard --version", " --help --version").replace(/ --log-level\b/, ""))
    .filter((line) => !foreign.some((one) => one.test(line)))

export const script = (
  shell: string,
  commands: ReadonlyArray<Command.Loaded>
): Effect.Effect<ReadonlyArray<string>> => Effect.map(written(shell, commands), without)

const written = (shell: string, commands: ReadonlyArray<Command.Loaded>): Effect.Effect<ReadonlyArray<string>> => {
  const program = Descriptor.make("mcp-runtime")
  const [first, ...rest] = commands.map((command) => [command.name, described(command)] as const)
  const whole = first === undefined ? program : Descriptor.withSubcommands(program, [first, ...rest])
  switch (shell) {
    case "zsh":
      return Descriptor.getZshCompletions(whole, "mcp-runtime")
    case "fish":
      return Descriptor.getFishCompletions(whole, "mcp-runtime")
    default:
      // it writes a name with a dash in two ways, which then never meet
      return Effect.map(
        Descriptor.getBashCompletions(whole, "mcp-runtime"),
        (lines) => lines.map((line) => line.replaceAll("mcp__runtime", "mcp-runtime"))
      )
  }
}
