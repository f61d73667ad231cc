/** The events of servers and calls as data, and the bus that carries them. */
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

interface OfServer {
  readonly server: string
}

interface OfCall extends OfServer {
  readonly callId: string
  readonly tool: string
}

export type McpEvent = Data.TaggedEnum<{
  Connecting: OfServer & { readonly transport: ServerConfig.ServerConfig["transport"] }
  Connected: OfServer & {
    readonly transport: Transport.Transport["kind"]
    readonly era: Transport.Era
    readonly protocolVersion: string
    readonly took: Duration.Duration
  }
  /**
   * A launcher (npx, uvx, …) is still installing the server. A connect gives it more time; a close waits for it,
   * because an interrupted install can corrupt the launcher's cache.
   */
  Installing: OfServer & {
    readonly launcher: string
    /** The package, as the configuration has it. */
    readonly installs: string | undefined
    readonly awaitedBy: "connect" | "close"
  }
  ConnectFailed: OfServer & { readonly error: McpError.ConnectError }
  Disconnected: OfServer & { readonly error: McpError.ConnectError }
  /** `suppressed` counts the events of the same kind that were left out since the last one. */
  Diagnostic: OfServer & { readonly diagnostic: Transport.Diagnostic; readonly suppressed: number }
  ToolsChanged: OfServer
  ResourcesChanged: OfServer
  PromptsChanged: OfServer
  Closed: OfServer & { readonly end: Teardown.ServerEnd }
  /** One more eager server has settled, in this status: its tools are listed, or it has failed. */
  StartupUpdate: OfServer & {
    readonly status: ServerStatus.ServerStatus
    readonly settled: number
    readonly of: number
  }
  /** Every eager server has settled once. A server whose tools could not be listed is in `failed`. */
  StartupComplete: {
    readonly ready: ReadonlyArray<string>
    readonly failed: ReadonlyArray<OfServer & { readonly error: McpError.RuntimeError }>
    readonly took: Duration.Duration
  }
  StatusChanged: ServerStatus.Change
  BreakerChanged: OfServer & { readonly state: CircuitBreaker.State["_tag"] }
  /** A list of a connected server failed; the next caller that needs it, or the next reported change, fetches it again. */
  ListFailed: OfServer & {
    readonly list: "tools" | "resources" | "templates" | "prompts"
    readonly error: McpError.RuntimeError
  }
  /** A fetched list of tools differs from the previous one. */
  ToolsRefreshed: OfServer & { readonly tools: number; readonly rejected: number }
  /** The definition of a tool differs from the approved one; published once for each fingerprint. */
  ToolQuarantined: OfServer & {
    readonly tool: string
    readonly fingerprint: string
    readonly changes: ReadonlyArray<ToolPins.Change>
  }
  /** A fault of the data that is kept between runs; the runtime continues without it. */
  CacheIssue: { readonly server: string | undefined; readonly detail: string }
  CallBegan: OfCall & { readonly origin: Approval.Origin }
  CallProgress: OfCall & { readonly progress: McpClient.Progress }
  /** A call without a result yet. */
  CallRunning: OfCall & { readonly since: Duration.Duration }
  CallEnded: OfCall & {
    readonly took: Duration.Duration
    readonly attempts: number
    /** False only if `outcome` is `Success`. */
    readonly isError: boolean
    /** `ToolError`: the tool reported an error in its result. */
    readonly outcome: "Success" | "ToolError" | "Interrupted" | "Defect" | McpError.RuntimeError["_tag"]
  }
  /** A discovery has ended: the number of servers that may be used, those that are blocked, and the faults. */
  ConfigurationFound: {
    readonly servers: number
    readonly blocked: ReadonlyArray<OfServer & { readonly why: "denied" | "untrusted" }>
    readonly issues: ReadonlyArray<ConfigIssue.ConfigIssue>
  }
  /** A server is connected although a part of its configuration has no value. */
  ConfigurationWarning: OfServer & { readonly warning: Resolution.Warning }
  /** A server needs a decision, or has one. `fingerprint` names the configuration that it is about. */
  TrustChanged: OfServer & {
    readonly root: string
    readonly fingerprint: string
    readonly status: Trust.Status
  }
  /** A fault of the stored decisions; an unreadable decision counts as none. */
  TrustIssue: OfServer & { readonly detail: string }
  /** A decision on a call, a resource or a prompt. Not published where no rule exists. */
  PermissionDecided: OfServer & {
    readonly callId: string | undefined
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
    /** The rule that decides or asks for approval, as it was written. */
    readonly rule: string | undefined
  }
  ConfigurationReloaded: { readonly report: ReloadReport }
  /** Output for a model reads like an instruction, or has hidden characters. The model gets it nevertheless. */
  OutputFlagged: OfServer & {
    readonly tool: string
    readonly signals: ReadonlyArray<InjectionScan.Signal>
    readonly hidden: ReadonlyArray<HiddenText.Finding>
  }
  /** Output for a model was cut by this much. `spilled` names the file or resource with the whole output, if it was kept. */
  OutputTruncated: OfServer & {
    readonly tool: string
    readonly chars: number
    readonly tokens: number
    readonly spilled: string | undefined
  }
  /** An application listed tools without those of these servers; published again only after a change. */
  ServersMissing: {
    readonly servers: ReadonlyArray<
      OfServer & { readonly status: ServerStatus.ServerStatus["_tag"]; readonly why: string }
    >
  }
  /** A person is asked to log in. */
  LoginBegan: OfServer
  LoginEnded: OfServer & {
    readonly outcome: "Success" | "Interrupted" | "Defect" | McpError.AuthorizationFailed["reason"]
  }
  /** A token was renewed without a person. */
  TokenRenewed: OfServer
  TeardownBegan: { readonly servers: number }
  TeardownComplete: { readonly report: Teardown.Report; readonly took: Duration.Duration }
}>

/** Constructors, guards and a matcher. */
export const McpEvent = Data.taggedEnum<McpEvent>()

/** The bus. A slow reader loses the oldest events and delays no other. */
export class McpEvents extends Context.Tag("effect-mcp-runtime/McpEvent/McpEvents")<
  McpEvents,
  Broadcast.Broadcast<McpEvent>
>() {}

/**
 * The bus ends when the scope closes: events published before can still be read. Each reader may leave `capacity` events
 * unread.
 */
export const make = (capacity = 1_024): Effect.Effect<McpEvents["Type"], never, Scope.Scope> =>
  Broadcast.make<McpEvent>(capacity)

export const layer: Layer.Layer<McpEvents> = Layer.scoped(McpEvents, make())

/** Drops every event. */
export const layerNone: Layer.Layer<McpEvents> = Layer.succeed(McpEvents, {
  publish: () => undefined,
  stream: Stream.empty,
  subscribe: Mailbox.make<McpEvent>(),
  onEvent: () => () => undefined
})
