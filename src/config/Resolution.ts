/**
 * Turns the templates of a configuration into what a connector takes, at each connect anew, so that what has changed in
 * the meantime is picked up and what was resolved is not kept.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as McpError from "../McpError.ts"
import type * as ConfigIssue from "./ConfigIssue.ts"
import * as Outside from "./internal/templates/outside.ts"
import * as internal from "./internal/templates/resolution.ts"
import type * as Scope from "./Scope.ts"
import type * as ServerConfig from "./ServerConfig.ts"
import type * as ServerPolicy from "./ServerPolicy.ts"

/**
 * What `${input:id}` and `${secret:id}` ask for.
 *
 * @since 0.1.0
 * @category models
 */
export interface Question {
  readonly server: string
  readonly id: string
  /** Who could have written the question: what a workspace asks for is not to be answered without a person. */
  readonly origin: Scope.Origin
  readonly description: string | undefined
  readonly secret: boolean
  readonly choices: ReadonlyArray<string> | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /**
   * Answers `${input:id}` where the environment has no `MCP_INPUT_<ID>`; without an answer, the default of the file counts.
   */
  readonly input: (question: Question) => Effect.Effect<Option.Option<Redacted.Redacted>>
  /** Answers `${secret:id}` where the environment has no `MCP_SECRET_<ID>`, for example from a keyring. */
  readonly secret: (question: Question) => Effect.Effect<Option.Option<Redacted.Redacted>>
  /** What every configuration must pass once its variables have values, whoever wrote it. */
  readonly policies: Effect.Effect<ReadonlyArray<ServerPolicy.Policy>>
}

/**
 * Nobody answers, and nothing is forbidden.
 *
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = internal.nobody

/**
 * What does not keep a server from being connected, without any value.
 *
 * @since 0.1.0
 * @category models
 */
export interface Warning {
  readonly kind: ConfigIssue.Warning
  /** The field: `headers.Authorization`. */
  readonly at: string
  readonly variable: string | undefined
  /** The fault and its remedy, in one sentence. */
  readonly detail?: string | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Resolved {
  readonly config: ServerConfig.ServerConfig
  readonly warnings: ReadonlyArray<Warning>
}

/**
 * Asked by the pool before each connect. Without a Layer: the environment of the process, and no inputs, secrets, files
 * or programs.
 *
 * @since 0.1.0
 * @category references
 */
export class Resolution extends Context.Reference<Resolution>()("effect-mcp-runtime/config/Resolution", {
  defaultValue: (): {
    /** The same configuration if it has no templates. Whoever calls it bounds it. */
    readonly resolve: (config: ServerConfig.ServerConfig) => Effect.Effect<Resolved, McpError.ConnectError>
  } => internal.environmentOnly
}) {}

/**
 * With files (up to 64 KiB, 2 s), programs (no shell, no more of the environment than a server gets, 64 KiB, 10 s), and
 * the answers of the application.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options?: Partial<Options>
): Effect.Effect<Resolution["Type"], never, FileSystem.FileSystem> =>
  Effect.map(FileSystem.FileSystem, (fs) => internal.make({ ...defaults, ...options, ...Outside.make(fs) }))

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<Resolution, never, FileSystem.FileSystem> =>
  Layer.effect(Resolution, make(options))

/**
 * What is found where, for tests: inputs and secrets by their ids, files by their absolute paths, what programs print by
 * their words with a space between.
 *
 * @since 0.1.0
 * @category models
 */
export interface Answers {
  readonly inputs?: Readonly<Record<string, string>> | undefined
  readonly secrets?: Readonly<Record<string, string>> | undefined
  readonly files?: Readonly<Record<string, string>> | undefined
  readonly programs?: Readonly<Record<string, string>> | undefined
  readonly policies?: ReadonlyArray<ServerPolicy.Policy> | undefined
}

/**
 * @since 0.1.0
 * @category layers
 */
export const layerTest = (answers: Answers = {}): Layer.Layer<Resolution> => {
  const find = (among: Readonly<Record<string, string>> | undefined, key: string) =>
    Option.fromNullable(among !== undefined && Object.hasOwn(among, key) ? among[key] : undefined)
  const orElse = (found: Option.Option<string>) => Effect.mapError(found, () => "does not exist")
  return Layer.succeed(
    Resolution,
    internal.make({
      input: ({ id }) => Effect.succeed(Option.map(find(answers.inputs, id), Redacted.make)),
      secret: ({ id }) => Effect.succeed(Option.map(find(answers.secrets, id), Redacted.make)),
      policies: Effect.succeed(answers.policies ?? []),
      file: (path) => orElse(find(answers.files, path)),
      run: (argv) => orElse(find(answers.programs, argv.join(" ")))
    })
  )
}
