/**
 * A command as data: what it is called with is read, completed and explained from one description, and what it does is
 * loaded when it is run.
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as McpError from "../McpError.ts"
import type * as ExitCode from "./ExitCode.ts"
import type * as Screen from "./Screen.ts"
import type * as Usage from "./Usage.ts"

/** Something that follows the name of a command. */
export interface Argument {
  readonly name: string
  readonly about: string
  readonly required: boolean
  /** The option with which it may be left out all the same. */
  readonly unless?: string | undefined
  /** Whether it takes all that is left. */
  readonly repeated?: boolean | undefined
}

export interface Option {
  readonly name: string
  /** One letter. */
  readonly short?: string | undefined
  /** What stands for its value in the help; without it, it is a flag. */
  readonly value?: string | undefined
  readonly choices?: ReadonlyArray<string> | undefined
  readonly repeated?: boolean | undefined
  readonly about: string
}

/** What every command can be told. */
export interface Shared {
  readonly json: boolean
  readonly root: string | undefined
  readonly imports: ReadonlyArray<string>
  readonly configs: ReadonlyArray<string>
  readonly servers: ReadonlyArray<string>
  readonly timeout: Duration.Duration | undefined
  readonly quiet: boolean
  readonly verbose: boolean
  readonly colour: boolean
}

/** A command as it was called. */
export interface Invocation {
  readonly shared: Shared
  readonly args: ReadonlyArray<string>
  readonly isSet: (option: string) => boolean
  /** The last value of an option. */
  readonly value: (option: string) => string | undefined
  readonly values: (option: string) => ReadonlyArray<string>
}

/** Whatever a command can fail with: all of it is rendered in one place. */
export type Failure = McpError.McpError | Usage.Usage

/** What a module of `internal/` exports for a command. */
export interface Program {
  readonly run: (invocation: Invocation) => Effect.Effect<ExitCode.ExitCode, Failure, Screen.Screen>
}

export interface Command {
  readonly name: string
  /** One line, for the list of commands. */
  readonly summary: string
  /** Paragraphs for its own help. */
  readonly description?: ReadonlyArray<string> | undefined
  readonly args: ReadonlyArray<Argument>
  readonly options: ReadonlyArray<Option>
  /** What follows the name of the program, and what it does. */
  readonly examples: ReadonlyArray<readonly [line: string, about: string]>
  readonly load: () => Promise<Program>
}
