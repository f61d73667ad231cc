/**
 * One server as a file describes it, in one shape for all hosts. Its texts are templates in the canonical syntax of
 * `Interpolation`: nothing is resolved yet, so nothing in it is secret that was not written into the file.
 *
 * @since 0.1.0
 */
import type * as ConfigDocument from "./ConfigDocument.ts"
import type * as ConfigIssue from "./ConfigIssue.ts"

/**
 * A text in the canonical template syntax: `${env:NAME}`, `${env:NAME:-default}`, `${input:id}`, `${secret:id}`,
 * `${file:path}`, `${var:name}`, `${cmd:line}`, and `$${` for a literal `${`.
 *
 * @since 0.1.0
 * @category models
 */
export type Template = string

/**
 * What a file says about logging in; kept for the login, not used to connect.
 *
 * @since 0.1.0
 * @category models
 */
export interface OAuth {
  readonly enabled?: boolean | undefined
  readonly clientId?: Template | undefined
  readonly clientSecret?: Template | undefined
  readonly clientMetadataUrl?: Template | undefined
  readonly scopes?: ReadonlyArray<string> | undefined
  readonly redirectUri?: string | undefined
  readonly callbackPort?: number | undefined
  readonly issuer?: Template | undefined
  readonly resource?: Template | undefined
  readonly grantType?: string | undefined
  readonly tokenEndpointAuthMethod?: string | undefined
  readonly authServerMetadataUrl?: Template | undefined
  readonly public?: boolean | undefined
  readonly legacy?: boolean | undefined
  readonly dpop?: boolean | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Tools {
  /** Absent: all of them; empty: none. */
  readonly allow?: ReadonlyArray<string> | undefined
  readonly deny?: ReadonlyArray<string> | undefined
  readonly autoApprove?: ReadonlyArray<string> | undefined
  /** The host's word for how a tool is approved. */
  readonly approval?: ReadonlyMap<string, string> | undefined
}

interface Common {
  readonly name: string
  readonly enabled: boolean
  readonly required?: boolean | undefined
  readonly lazy?: boolean | undefined
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly protocol?: "auto" | "session" | "stateless" | undefined
  /** In milliseconds, whatever the unit of the host; 0 is "no limit" where the host says so. */
  readonly timeouts?: { readonly startupMs?: number | undefined; readonly requestMs?: number | undefined } | undefined
  readonly tools?: Tools | undefined
  /** What is not ours to understand, as it was written. */
  readonly extra?: ConfigDocument.Table | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface StdioEntry extends Common {
  readonly transport: "stdio"
  readonly command: Template
  readonly args: ReadonlyArray<Template>
  /** `null` takes an inherited variable away. */
  readonly env?: ReadonlyMap<string, Template | null> | undefined
  readonly envFile?: Template | undefined
  readonly inheritEnv?: boolean | ReadonlyArray<string> | undefined
  readonly cwd?: Template | undefined
}

/**
 * `auto`: Streamable HTTP, then the older HTTP+SSE.
 *
 * @since 0.1.0
 * @category models
 */
export interface RemoteEntry extends Common {
  readonly transport: "streamable-http" | "sse" | "ws" | "auto"
  readonly url: Template
  readonly headers?: ReadonlyMap<string, Template> | undefined
  /** A program and its arguments, no shell. */
  readonly headersCommand?: ReadonlyArray<Template> | undefined
  /** Variables from which `${env:…}` in this entry is read first, where the host has such a rule. */
  readonly env?: ReadonlyMap<string, Template | null> | undefined
  readonly oauth?: false | OAuth | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export type ConfigEntry = StdioEntry | RemoteEntry

/**
 * A warning about an entry. `at` is the field: `env.PORT`, `args.0`, `timeout`.
 *
 * @since 0.1.0
 * @category models
 */
export interface EntryWarning {
  readonly kind: ConfigIssue.Warning
  readonly at?: string | undefined
  /** What would be right, or why it is wrong, for a person. */
  readonly detail?: string | undefined
}

/**
 * What became of one entry of a file.
 *
 * - `Server`: it can be used.
 * - `Invalid`: it cannot, and owns its name nevertheless, so that a weaker entry does not take its place.
 * - `Patch`: it says only something about a server that a weaker layer defines (OpenCode's `{"enabled": true}`).
 *
 * @since 0.1.0
 * @category models
 */
export type Item =
  & { readonly name: string; readonly pointer: ConfigDocument.Pointer; readonly raw: ConfigDocument.Value }
  & (
    | { readonly _tag: "Server"; readonly entry: ConfigEntry; readonly warnings: ReadonlyArray<EntryWarning> }
    | {
      readonly _tag: "Invalid"
      readonly kind: ConfigIssue.EntryFault
      readonly at?: string | undefined
      readonly detail?: string | undefined
    }
    | { readonly _tag: "Patch"; readonly enabled: boolean }
  )
