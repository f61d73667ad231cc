/** A command: the description that drives its parser, completions and help, and the effect that it runs. */
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as McpError from "../McpError.ts"
import type * as ExitCode from "./ExitCode.ts"
import type * as Screen from "./Screen.ts"

/** A positional argument. */
export interface Argument {
  readonly name: string
  readonly about: string
  readonly required: boolean
  /** The option that makes it optional. */
  readonly unless?: string | undefined
  /** Takes all remaining words. */
  readonly repeated?: boolean | undefined
  /** Unknown options are passed to it too. */
  readonly takesOptions?: boolean | undefined
  /** The valid values. */
  readonly choices?: ReadonlyArray<string> | undefined
}

export interface Option {
  readonly name: string
  /** One letter. */
  readonly short?: string | undefined
  /** The placeholder of its value in the help; an option without one is a flag. */
  readonly value?: string | undefined
  readonly choices?: ReadonlyArray<string> | undefined
  readonly repeated?: boolean | undefined
  /** After the name of a tool it is an argument of the tool, because tools have arguments of this name. */
  readonly precedesTool?: boolean | undefined
  readonly about: string
}

/** The values of the options of every command. */
export interface Shared {
  readonly json: boolean
  readonly root: string | undefined
  readonly imports: ReadonlyArray<string>
  readonly configs: ReadonlyArray<string>
  readonly servers: ReadonlyArray<string>
  /** Command lines and URLs of servers, which replace those of files. */
  readonly stdio: ReadonlyArray<string>
  readonly urls: ReadonlyArray<string>
  /** Name, environment and headers of a `--stdio` or `--url` server. */
  readonly name: string | undefined
  readonly env: ReadonlyArray<string>
  readonly headers: ReadonlyArray<string>
  /** Values for `${input:id}`: `id=value`, or an `id` to prompt for again. */
  readonly inputs: ReadonlyArray<string>
  readonly envFiles: ReadonlyArray<string>
  readonly timeout: Duration.Duration | undefined
  readonly quiet: boolean
  readonly verbose: boolean
  readonly colour: boolean
}

/** The parsed words of one run of a command. */
export interface Invocation {
  readonly shared: Shared
  readonly args: ReadonlyArray<string>
  /** The indices of `args` that are unknown options. */
  readonly unknown: ReadonlySet<number>
  readonly isSet: (option: string) => boolean
  /** The last value of an option. */
  readonly value: (option: string) => string | undefined
  readonly values: (option: string) => ReadonlyArray<string>
}

/** A fault in what was typed: the program exits with code 2. */
export class Usage extends Data.TaggedError("Usage")<{
  /** Without a capital or a full stop, like the messages of `McpError`; typed words in it are quoted. */
  readonly detail: string
  /** The next step. */
  readonly next?: string | undefined
}> {
  override get message(): string {
    return this.detail
  }
}

/** A failed `Either`, which is also an effect. */
export const usage = (detail: string, next?: string): Either.Either<never, Usage> =>
  Either.left(new Usage({ detail, next }))

/** The errors of a command, which `Failure.shown` renders. */
export type Failure = McpError.McpError | Usage

/** The export `command` of a module in `commands/`. */
export interface Command {
  /** The paragraphs of its help. */
  readonly description?: ReadonlyArray<string> | undefined
  readonly args: ReadonlyArray<Argument>
  readonly options: ReadonlyArray<Option>
  /** A command line without the name of the program, and what it does. */
  readonly examples: ReadonlyArray<readonly [line: string, about: string]>
  /** Exits with `ExitCode.ok` unless it returns another code. */
  readonly run: (invocation: Invocation) => Effect.Effect<ExitCode.ExitCode | void, Failure, Screen.Screen>
}

/** A row in a list of commands. */
export interface Named {
  readonly name: string
  /** One line. */
  readonly summary: string
}

/** A row of the table of commands. */
export interface Entry extends Named {
  readonly load: () => Promise<{ readonly command: Command }>
}

/** A command and its row. */
export interface Loaded extends Command, Named {}

export const load = ({ load, name, summary }: Entry): Effect.Effect<Loaded> =>
  Effect.map(Effect.promise(load), ({ command }) => ({ ...command, name, summary }))
