/**
 * Turns the templates of a configuration into what a connector takes, at each connect anew, so that what has changed in
 * the meantime is picked up and what was resolved is not kept.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type * as McpError from "../McpError.ts"
import * as internal from "./internal/resolution.ts"
import type * as ServerConfig from "./ServerConfig.ts"

/**
 * What `${input:id}` and `${secret:id}` ask for.
 *
 * @since 0.1.0
 * @category models
 */
export interface Question {
  readonly server: string
  readonly id: string
  readonly description: string | undefined
  readonly secret: boolean
  readonly choices: ReadonlyArray<string> | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Answers `${input:id}`; without an answer, the default of the file counts. */
  readonly input: (question: Question) => Effect.Effect<Option.Option<Redacted.Redacted>>
  /** Answers `${secret:id}`, for example from a keyring. */
  readonly secret: (question: Question) => Effect.Effect<Option.Option<Redacted.Redacted>>
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
    /** The same configuration if it has no templates. */
    readonly resolve: (
      config: ServerConfig.ServerConfig
    ) => Effect.Effect<ServerConfig.ServerConfig, McpError.ConnectError>
  } => internal.environmentOnly
}) {}
