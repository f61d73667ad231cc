/**
 * Who may use what: the one place where it is decided, on every way to a server.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import type * as McpEvent from "../McpEvent.ts"
import type * as Tool from "../tools/Tool.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Approval from "./Approval.ts"
import type * as Grants from "./Grants.ts"
import * as internal from "./internal/permissions/permissions.ts"
import type * as PermissionRule from "./PermissionRule.ts"

/**
 * Who wants something. A model asks where no rule speaks; the program and a person at its keyboard need not.
 *
 * @since 0.1.0
 * @category models
 */
export type Origin = Approval.Origin

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly rules: ReadonlyArray<PermissionRule.Input>
  /** The decision where no rule matches, by the origin of the call. An origin that is left out keeps its default. */
  readonly otherwise: { readonly [Who in Origin]?: PermissionRule.Decision | undefined }
  /** How long somebody is waited for who was asked; then it is not permitted. */
  readonly patience: Duration.DurationInput
  /** How many requests of one server may wait to be asked about. */
  readonly maxWaiting: number
  /**
   * The decision for a tool call that no rule decides, if no person can be asked. `refuse`: it is refused. `read-only`:
   * it is allowed if a trusted server has annotated the tool as read-only in this run.
   */
  readonly unattended: "refuse" | "read-only"
  /** The next step for the message of such a refusal. */
  readonly remedy: ((refused: Refused) => string) | undefined
}

/**
 * A call that was refused because no person could be asked.
 *
 * @since 0.1.0
 * @category models
 */
export interface Refused {
  /** The narrowest `allow` rule that permits it; none if it cannot be written as one, or if a rule asks for approval. */
  readonly allow: string | undefined
  /** The rule that asks for approval, as it was written. */
  readonly rule: string | undefined
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults = {
  rules: [],
  otherwise: { model: "ask", program: "allow", person: "allow" },
  patience: Duration.minutes(10),
  maxWaiting: 16,
  unattended: "refuse",
  remedy: undefined
} as const satisfies Options

/**
 * What is decided of a subject, and why.
 *
 * @since 0.1.0
 * @category models
 */
export interface Ruling {
  readonly decision: PermissionRule.Decision
  /** The rule that decides; none if it is decided because no rule speaks. */
  readonly rule: PermissionRule.Rule | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Request {
  readonly callId: string | undefined
  readonly origin: Origin
  readonly subject: PermissionRule.Subject
  readonly config: ServerConfig.ServerConfig
  /** The user that the request is for. An approval of one user permits no request of another. */
  readonly identity?: string | undefined
  /** The definition of the tool as its server gave it in this run, if it did. */
  readonly tool: Tool.Tool | undefined
}

/**
 * What was permitted. It holds as long as nothing has changed: see `stands`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Permit {
  /** What has to be sent: as it was when somebody was asked, whatever has become of the caller's own since. */
  readonly args: JsonRpc.JsonObject | undefined
  readonly request: Request
  /** The rules that it was permitted under. */
  readonly revision: number
  /** Whether somebody has agreed to it: now, or before. */
  readonly isApproved: boolean
  /** Permitted only because the tool is read-only; checked again when the call is sent. */
  readonly isReadOnly: boolean
  readonly isGranted: boolean
  /** The definition of the tool that somebody agreed to. */
  readonly pin: string | undefined
}

/**
 * @since 0.1.0
 * @category tags
 */
export class Permissions extends Context.Tag("effect-mcp-runtime/safety/Permissions")<Permissions, {
  /** What the rules say, without asking anybody. Without arguments: of a call whose arguments are not known yet. */
  readonly decide: (origin: Origin, subject: PermissionRule.Subject) => Ruling
  /** Whether whatever comes from there is allowed, so that nothing needs to be decided. */
  readonly isOpen: (origin: Origin) => boolean
  /** Asks somebody if need be. */
  readonly authorize: (request: Request) => Effect.Effect<Permit, McpError.PermissionDenied>
  /**
   * Looks again, at the last moment before it is sent to the server of this configuration: rules, definitions and servers
   * may have changed since.
   */
  readonly stands: (
    permit: Permit,
    tool: Tool.Tool | undefined,
    config: ServerConfig.ServerConfig
  ) => McpError.PermissionDenied | undefined
  /** The rules that are in force. */
  readonly rules: () => PermissionRule.RuleSet
  /**
   * Puts rules beside those that were given in code, in the place of those that `whose` had before; what waits for an
   * answer is decided by the new ones.
   */
  readonly configure: (
    whose: string,
    rules: ReadonlyArray<PermissionRule.Input>
  ) => Effect.Effect<ReadonlyArray<PermissionRule.Fault>>
  /** What was agreed to for this session, or always, is to be asked again, also where it waits to be sent. */
  readonly revoke: (
    config: ServerConfig.ServerConfig,
    subject: Pick<PermissionRule.Subject, "kind" | "name">,
    identity?: string
  ) => Effect.Effect<void, McpError.TrustNotKept>
}>() {}

/**
 * @since 0.1.0
 * @category models
 */
export type Requirements = Approval.Approval | Grants.Grants | McpEvent.McpEvents

/**
 * Rules given in code that cannot be read are an error at once.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options?: Partial<Options>
): Effect.Effect<Permissions["Type"], McpError.ConfigurationError, Requirements> =>
  internal.make({ ...defaults, ...options }, {
    model: options?.otherwise?.model ?? defaults.otherwise.model,
    program: options?.otherwise?.program ?? defaults.otherwise.program,
    person: options?.otherwise?.person ?? defaults.otherwise.person
  })

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options?: Partial<Options>
): Layer.Layer<Permissions, McpError.ConfigurationError, Requirements> => Layer.effect(Permissions, make(options))

/**
 * Everything is allowed to everybody, for an application that decides elsewhere.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<Permissions> = Layer.sync(Permissions, internal.none)
