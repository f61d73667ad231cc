/** A command: one description from which it is parsed, completed and explained, and the effect that it runs. */
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as McpError from "../McpError.ts"
import type * as ExitCode from "./ExitCode.ts"
import type * as Screen from "./Screen.ts"

/** Something that follows the name of a command. */
export interface Argument {
  readonly name: string
  readonly about: string
  readonly required: boolean
  /** The option with which it may be left out all the same. */
  readonly unless?: string | undefined
  /** It takes all that is left. */
  readonly repeated?: boolean | undefined
  /** Options that the command does not have are among it. */
  readonly takesOptions?: boolean | undefined
  /** The words that it can be. */
  readonly choices?: ReadonlyArray<string> | undefined
}

export interface Option {
  readonly name: string
  /** One letter. */
  readonly short?: string | undefined
  /** The word for its value in the help; an option without one is a flag. */
  readonly value?: string | undefined
  readonly choices?: ReadonlyArray<string> | undefined
  readonly repeated?: boolean | undefined
  /** Behind the name of a tool it is an argument of the tool, because tools have such keys. */
  readonly yields?: boolean | undefined
  readonly about: string
}

/** The values of the options of every command. */
export interface Shared {
  readonly json: boolean
  readonly root: string | undefined
  readonly imports: ReadonlyArray<string>
  readonly configs: ReadonlyArray<string>
  readonly servers: ReadonlyArray<string>
  /** Command lines and addresses of servers, in place of those of files. */
  readonly stdio: ReadonlyArray<string>
  readonly urls: ReadonlyArray<string>
  /** The name, the variables and the headers of such a server. */
  readonly name: string | undefined
  readonly env: ReadonlyArray<string>
  readonly headers: ReadonlyArray<string>
  /** Answers to `${input:id}`: `id=value`, or an id that is to be asked for again. */
  readonly inputs: ReadonlyArray<string>
  readonly envFiles: ReadonlyArray<string>
  readonly timeout: Duration.Duration | undefined
  readonly quiet: boolean
  readonly verbose: boolean
  readonly colour: boolean
}

/** A command as it was called. */
export interface Invocation {
  readonly shared: Shared
  readonly args: ReadonlyArray<string>
  /** The indices of those `args` that are options which the command does not have. */
  readonly unknown: ReadonlySet<number>
  readonly isSet: (option: string) => boolean
  /** The last value of an option. */
  readonly value: (option: string) => string | undefined
  readonly values: (option: string) => ReadonlyArray<string>
}

/** The program was called wrongly. */
export class Usage extends Data.TaggedError("Usage")<{
  /** One sentence; typed words in it are quoted, and escaped when it is shown. */
  readonly detail: string
  /** The next step. */
  readonly next?: string | undefined
}> {
  override get message(): string {
    return this.detail
  }
}

/** The failure with a `Usage`, as an `Either`, which is also an effect. */
export const usage = (detail: string, next?: string): Either.Either<never, Usage> =>
  Either.left(new Usage({ detail, next }))

/** The errors of a command, which `Failure.shown` renders. */
export type Failure = McpError.McpError | Usage

/** The export `command` of the module of a command in `commands/`. */
export interface Command {
  /** Paragraphs for its own help. */
  readonly description?: ReadonlyArray<string> | undefined
  readonly args: ReadonlyArray<Argument>
  readonly options: ReadonlyArray<Option>
  /** A line without the name of the program, and its meaning. */
  readonly examples: ReadonlyArray<readonly [line: string, about: string]>
  /** Ends with `ExitCode.ok` unless it gives another code. */
  readonly run: (invocation: Invocation) => Effect.Effect<ExitCode.ExitCode | void, Failure, Screen.Screen>
}

/** The words of a command in a list of commands. */
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
