/**
 * What happens to servers and calls, as data, and the bus that carries it.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Mailbox from "effect/Mailbox"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Broadcast from "./broadcast.ts"
import type * as McpClient from "./client/McpClient.ts"
import type * as ConfigIssue from "./config/ConfigIssue.ts"
import type * as Resolution from "./config/Resolution.ts"
import type * as ServerConfig from "./config/ServerConfig.ts"
import type * as Trust from "./config/Trust.ts"
import type * as McpError from "./McpError.ts"
import type * as CircuitBreaker from "./resilience/CircuitBreaker.ts"
import type * as Teardown from "./resilience/Teardown.ts"
import type * as ServerStatus from "./runtime/ServerStatus.ts"
import type * as Approval from "./safety/Approval.ts"
import type * as HiddenText from "./safety/HiddenText.ts"
import type * as InjectionScan from "./safety/InjectionScan.ts"
import type * as PermissionRule from "./safety/PermissionRule.ts"
import type * as ToolPins from "./tools/ToolPins.ts"
import type * as Transport from "./transport/Transport.ts"

/** The result of a reload, by the names of servers. A server in `failed` keeps its old configuration. */
export interface ReloadReport {
  readonly added: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
  readonly unchanged: ReadonlyArray<string>
  readonly failed: ReadonlyArray<{
    readonly server: string
    readonly error: McpError.ConnectError | McpError.ServerUnavailable
  }>
}

/**
 * @since 0.1.0
 * @category models
 */
export type McpEvent = Data.TaggedEnum<{
  Connecting: { readonly server: string; readonly transport: ServerConfig.ServerConfig["transport"] }
  Connected: {
    readonly server: string
    readonly transport: Transport.Transport["kind"]
    readonly era: Transport.Era
    readonly protocolVersion: string
    readonly took: Duration.Duration
  }
  /**
   * A launcher (npx, uvx, …) is still installing the server. A connect gives it more time; a close waits for it,
   * because an interrupted install can corrupt the launcher's cache.
   */
  Installing: {
    readonly server: string
    readonly launcher: string
    /** The package, as the configuration has it. */
    readonly installs: string | undefined
    readonly awaitedBy: "connect" | "close"
  }
  ConnectFailed: { readonly server: string; readonly error: McpError.ConnectError }
  Disconnected: { readonly server: string; readonly error: McpError.ConnectError }
  /** `suppressed` counts the events of the same kind that were left out since the last one. */
  Diagnostic: { readonly server: string; readonly diagnostic: Transport.Diagnostic; readonly suppressed: number }
  ToolsChanged: { readonly server: string }
  ResourcesChanged: { readonly server: string }
  PromptsChanged: { readonly server: string }
  Closed: { readonly server: string; readonly end: Teardown.ServerEnd }
  /** One more server that starts by itself has settled, in this status: its tools are listed, or it has failed. */
  StartupUpdate: {
    readonly server: string
    readonly status: ServerStatus.ServerStatus
    readonly settled: number
    readonly of: number
  }
  /** Every server that starts by itself has settled once. A server whose tools could not be listed is in `failed`. */
  StartupComplete: {
    readonly ready: ReadonlyArray<string>
    readonly failed: ReadonlyArray<{ readonly server: string; readonly error: McpError.RuntimeError }>
    readonly took: Duration.Duration
  }
  StatusChanged: ServerStatus.Change
  BreakerChanged: { readonly server: string; readonly state: CircuitBreaker.State["_tag"] }
  /** A lost or unreached server will be tried again after `delay`. */
  Reconnecting: {
    readonly server: string
    readonly attempt: number
    readonly delay: Duration.Duration
    readonly error: McpError.ConnectError
  }
  /** A list of a connected server failed; it is asked for again when a caller needs it, or the server says it changed. */
  ListFailed: {
    readonly server: string
    readonly list: "tools" | "resources" | "templates" | "prompts"
    readonly error: McpError.RuntimeError
  }
  /** A list of tools was fetched, and differs from the one before. */
  ToolsRefreshed: { readonly server: string; readonly tools: number; readonly rejected: number }
  /** A tool is not what was agreed to; told once of each fingerprint. */
  ToolQuarantined: {
    readonly server: string
    readonly tool: string
    readonly fingerprint: string
    readonly changes: ReadonlyArray<ToolPins.Change>
  }
  /** Something about what is kept between runs; the runtime goes on without it. */
  CacheIssue: { readonly server: string | undefined; readonly detail: string }
  CallBegan: {
    readonly callId: string
    readonly server: string
    readonly tool: string
    /** Who wants it. */
    readonly origin: Approval.Origin
  }
  CallProgress: {
    readonly callId: string
    readonly server: string
    readonly tool: string
    readonly progress: McpClient.Progress
  }
  /** A call that takes long is still waited for. */
  CallRunning: {
    readonly callId: string
    readonly server: string
    readonly tool: string
    readonly since: Duration.Duration
  }
  CallEnded: {
    readonly callId: string
    readonly server: string
    readonly tool: string
    readonly took: Duration.Duration
    readonly attempts: number
    /** False only if `outcome` is `Success`. */
    readonly isError: boolean
    /** `ToolError`: the tool reported failure in its result. */
    readonly outcome: "Success" | "ToolError" | "Interrupted" | "Defect" | McpError.RuntimeError["_tag"]
  }
  /** Configurations were looked for: how many servers may be used, and what is wrong with the rest. */
  ConfigurationFound: {
    readonly servers: number
    readonly blocked: ReadonlyArray<{ readonly server: string; readonly why: "denied" | "untrusted" }>
    readonly issues: ReadonlyArray<ConfigIssue.ConfigIssue>
  }
  /** A server is connected although something of its configuration had no value. */
  ConfigurationWarning: { readonly server: string; readonly warning: Resolution.Warning }
  /** Somebody has to be asked about a server, or has answered. `fingerprint` names what was, or is to be, agreed to. */
  TrustChanged: {
    readonly server: string
    readonly root: string
    readonly fingerprint: string
    readonly verdict: Trust.Verdict
  }
  /** Something about what is kept of decisions; what cannot be believed counts as not decided. */
  TrustIssue: { readonly server: string; readonly detail: string }
  /** A decision on a call, a resource or a prompt. What is allowed because nobody has any rules is not told. */
  PermissionDecided: {
    readonly callId: string | undefined
    readonly server: string
    readonly kind: PermissionRule.Subject["kind"]
    readonly name: string
    readonly origin: Approval.Origin
    readonly decision: "allow" | "deny"
    /**
     * The basis of the decision. `default`: no rule matches. `grant`: an earlier approval. `approval`, `refused`: the
     * answer of a person. `unanswered`: no person could be asked, or no answer came. `read-only`: no person could be
     * asked, and the tool is read-only. `crowded`: too many calls wait. `changed`: the definition changed after the
     * approval. `too-long`: the question is longer than the limit.
     */
    readonly by:
      | "rule"
      | "default"
      | "grant"
      | "approval"
      | "refused"
      | "unanswered"
      | "read-only"
      | "crowded"
      | "changed"
      | "too-long"
    /** The rule that decides, or wants it asked, as it was written. */
    readonly rule: string | undefined
  }
  ConfigurationReloaded: { readonly report: ReloadReport }
  /** What a model is given of a server reads like orders to it, or hides something; it is given all the same. */
  OutputFlagged: {
    readonly server: string
    readonly tool: string
    readonly signals: ReadonlyArray<InjectionScan.Signal>
    readonly hidden: ReadonlyArray<HiddenText.Finding>
  }
  /** A model is given less than there was: so much was left out, and is kept as `spilled`, if it could be kept. */
  OutputTruncated: {
    readonly server: string
    readonly tool: string
    readonly chars: number
    readonly tokens: number
    readonly spilled: string | undefined
  }
  /** An application was given tools, and those of these servers were not among them; told once until that changes. */
  ServersMissing: {
    readonly servers: ReadonlyArray<{
      readonly server: string
      readonly status: ServerStatus.ServerStatus["_tag"]
      readonly why: string
    }>
  }
  /** Somebody is asked to log in. */
  LoginBegan: { readonly server: string }
  LoginEnded: {
    readonly server: string
    readonly outcome: "Success" | "Interrupted" | "Defect" | McpError.AuthorizationFailed["reason"]
  }
  /** A token was replaced by another without anybody being asked. */
  TokenRenewed: { readonly server: string }
  TeardownBegan: { readonly servers: number }
  TeardownComplete: { readonly report: Teardown.Report; readonly took: Duration.Duration }
}>

/**
 * Constructors, guards and a matcher.
 *
 * @since 0.1.0
 * @category constructors
 */
export const McpEvent = Data.taggedEnum<McpEvent>()

/**
 * The bus. A slow reader loses the oldest events and delays nobody.
 *
 * @since 0.1.0
 * @category tags
 */
export class McpEvents extends Context.Tag("effect-mcp-runtime/McpEvent/McpEvents")<McpEvents, {
  /** Never waits. */
  readonly publish: (event: McpEvent) => void
  /** The events from when the stream is first read, until the bus ends. */
  readonly stream: Stream.Stream<McpEvent>
  /** The events from when this has succeeded, for those who must not miss the first; shut down when the bus has ended. */
  readonly subscribe: Effect.Effect<Mailbox.ReadonlyMailbox<McpEvent>, never, Scope.Scope>
  /** Called synchronously with every event, for those who need few of them; what it throws is lost; returns how to stop. */
  readonly onEvent: (listener: (event: McpEvent) => void) => () => void
}>() {}

/**
 * The bus ends when the scope closes: what was published before can still be read. `capacity` is how many events each
 * reader may leave unread.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (capacity = 256): Effect.Effect<McpEvents["Type"], never, Scope.Scope> =>
  Broadcast.make<McpEvent>({ capacity })

/**
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<McpEvents> = Layer.scoped(McpEvents, make())

/**
 * Nobody listens.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<McpEvents> = Layer.succeed(McpEvents, {
  publish: () => undefined,
  stream: Stream.empty,
  subscribe: Mailbox.make<McpEvent>(),
  onEvent: () => () => undefined
})
