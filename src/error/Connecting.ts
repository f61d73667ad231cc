/**
 * What can go wrong on the way to a connected server, and with the way itself.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { Outcome, Phase } from "./Facet.ts"
import { because, blamed, excerpt, named, quote, Unset } from "./internal/wording.ts"

/**
 * The process of a stdio server could not be started.
 *
 * @since 0.1.0
 * @category errors
 */
export class SpawnFailed extends Schema.TaggedError<SpawnFailed>("effect-mcp-runtime/SpawnFailed")("SpawnFailed", {
  server: Schema.String,
  errno: Schema.String,
  command: Schema.String,
  cwd: Schema.optional(Schema.String),
  detail: Schema.String
}) {
  override get message(): string {
    return named(this.server, `could not start ${quote(this.command)} (${this.errno}): ${this.detail}`)
  }
  get outcome(): Outcome {
    return "not-sent"
  }
  get isRetryable(): boolean {
    return false
  }
  get countsForBreaker(): boolean {
    return true
  }
}

const dockerRemedies = {
  "not-installed": ["Docker could not be started", "install Docker, or set `command` to where it is"],
  "no-mcp-plugin": [
    "Docker has no command `mcp`",
    "install the MCP Toolkit of Docker Desktop, or the CLI plugin docker-mcp"
  ],
  "daemon-down": [
    "the Docker daemon does not answer",
    "start Docker, or look at the Docker context and at DOCKER_HOST"
  ],
  timeout: ["Docker did not answer in time", "it may still be starting; if not, restart Docker"]
} as const

/**
 * Docker's MCP gateway was not started, because Docker cannot run it.
 *
 * @since 0.1.0
 * @category errors
 */
export class DockerUnavailable
  extends Schema.TaggedError<DockerUnavailable>("effect-mcp-runtime/DockerUnavailable")("DockerUnavailable", {
    server: Schema.String,
    reason: Schema.Literal("not-installed", "no-mcp-plugin", "daemon-down", "timeout"),
    detail: Schema.String
  })
{
  override get message(): string {
    const [what, remedy] = dockerRemedies[this.reason]
    return named(this.server, `${what} (${excerpt(this.detail, 512)}); ${remedy}`)
  }
  get outcome(): Outcome {
    return "not-sent"
  }
  get isRetryable(): boolean {
    return this.reason === "daemon-down" || this.reason === "timeout"
  }
  get countsForBreaker(): boolean {
    return true
  }
}

/**
 * A connection was not ready in time; `phase` says what it was waiting for.
 *
 * @since 0.1.0
 * @category errors
 */
export class ConnectTimeout
  extends Schema.TaggedError<ConnectTimeout>("effect-mcp-runtime/ConnectTimeout")("ConnectTimeout", {
    server: Schema.String,
    phase: Phase,
    limit: Schema.DurationFromSelf,
    stderrTail: Schema.optional(Schema.String)
  })
{
  override get message(): string {
    const what = `not connected within ${Duration.format(this.limit)}; still in the ${this.phase} phase`
    return blamed(this.server, what, this.stderrTail)
  }
  get outcome(): Outcome {
    return "not-sent"
  }
  get isRetryable(): boolean {
    return true
  }
  get countsForBreaker(): boolean {
    return true
  }
}

/**
 * The server answered the handshake with an error.
 *
 * @since 0.1.0
 * @category errors
 */
export class InitializeRejected
  extends Schema.TaggedError<InitializeRejected>("effect-mcp-runtime/InitializeRejected")("InitializeRejected", {
    server: Schema.String,
    code: Schema.Number,
    detail: Schema.String,
    stderrTail: Schema.optional(Schema.String),
    /** Variables without a value, for which headers were left out. */
    unset: Unset
  })
{
  override get message(): string {
    const refusal = `the handshake was refused with ${this.code}: ${excerpt(this.detail)}`
    return blamed(this.server, because(this.unset, refusal), this.stderrTail)
  }
  get outcome(): Outcome {
    return "not-sent"
  }
  get isRetryable(): boolean {
    return false
  }
  get countsForBreaker(): boolean {
    return true
  }
}

/**
 * The server and this client share no protocol version.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnsupportedProtocolVersion
  extends Schema.TaggedError<UnsupportedProtocolVersion>("effect-mcp-runtime/UnsupportedProtocolVersion")(
    "UnsupportedProtocolVersion",
    {
      server: Schema.String,
      got: Schema.String,
      supported: Schema.Array(Schema.String)
    }
  )
{
  override get message(): string {
    return named(
      this.server,
      `the server speaks protocol ${quote(this.got)}; this client speaks ${this.supported.join(", ")}`
    )
  }
  get outcome(): Outcome {
    return "not-sent"
  }
  get isRetryable(): boolean {
    return false
  }
  get countsForBreaker(): boolean {
    return true
  }
}

/**
 * The server did not declare the capability that an operation needs.
 *
 * @since 0.1.0
 * @category errors
 */
export class CapabilityMissing
  extends Schema.TaggedError<CapabilityMissing>("effect-mcp-runtime/CapabilityMissing")("CapabilityMissing", {
    server: Schema.String,
    capability: Schema.String,
    operation: Schema.String
  })
{
  override get message(): string {
    return named(
      this.server,
      `${this.operation} needs the capability ${quote(this.capability)}, which the server did not declare`
    )
  }
  get outcome(): Outcome {
    return "not-sent"
  }
  get isRetryable(): boolean {
    return false
  }
  get countsForBreaker(): boolean {
    return false
  }
}

/**
 * The process of a stdio server has ended.
 *
 * @since 0.1.0
 * @category errors
 */
export class ProcessExited
  extends Schema.TaggedError<ProcessExited>("effect-mcp-runtime/ProcessExited")("ProcessExited", {
    server: Schema.String,
    code: Schema.NullOr(Schema.Number),
    signal: Schema.NullOr(Schema.String),
    outcome: Outcome,
    phase: Phase,
    stderrTail: Schema.optional(Schema.String)
  })
{
  override get message(): string {
    const how = this.signal ?? `exit code ${this.code}`
    return blamed(this.server, `the process ended (${how}) in the ${this.phase} phase`, this.stderrTail)
  }
  get isRetryable(): boolean {
    return this.outcome === "not-sent"
  }
  get countsForBreaker(): boolean {
    return true
  }
}

/**
 * The way to the server broke: its stdout ended, its stdin was closed, a socket dropped, or it stopped reading.
 *
 * @since 0.1.0
 * @category errors
 */
export class ConnectionLost
  extends Schema.TaggedError<ConnectionLost>("effect-mcp-runtime/ConnectionLost")("ConnectionLost", {
    server: Schema.String,
    reason: Schema.Literal("stdout-ended", "stdin-closed", "socket-closed", "stalled", "reset"),
    detail: Schema.String,
    outcome: Outcome,
    stderrTail: Schema.optional(Schema.String)
  })
{
  override get message(): string {
    return blamed(this.server, `the connection was lost (${this.reason}): ${excerpt(this.detail)}`, this.stderrTail)
  }
  get isRetryable(): boolean {
    return this.outcome === "not-sent"
  }
  get countsForBreaker(): boolean {
    return true
  }
}

/**
 * A policy does not allow what the configuration has turned out to be, now that its variables have values.
 *
 * @since 0.1.0
 * @category errors
 */
export class PolicyDenied extends Schema.TaggedError<PolicyDenied>("effect-mcp-runtime/PolicyDenied")("PolicyDenied", {
  server: Schema.String,
  /** A rule names it, or a list names others. */
  decision: Schema.Literal("denied", "not-allowed")
}) {
  override get message(): string {
    const what = this.decision === "denied" ? "a policy denies it" : "it is not among what a policy allows"
    return named(this.server, `not connected: ${what}; ask whoever wrote the policy`)
  }
  get outcome(): Outcome {
    return "not-sent"
  }
  get isRetryable(): boolean {
    return false
  }
  get countsForBreaker(): boolean {
    return false
  }
}

/**
 * Servers that an application cannot do without are not there; all of them are named.
 *
 * @since 0.1.0
 * @category errors
 */
export class RequiredServersFailed
  extends Schema.TaggedError<RequiredServersFailed>("effect-mcp-runtime/RequiredServersFailed")(
    "RequiredServersFailed",
    {
      server: Schema.String,
      failures: Schema.Array(Schema.Struct({ server: Schema.String, reason: Schema.String, error: Schema.Unknown }))
    }
  )
{
  override get message(): string {
    const each = this.failures.map(({ reason, server }) => named(server, excerpt(reason)))
    return `${this.failures.length} required servers are not there: ${each.join("; ")}`
  }
  get outcome(): Outcome {
    return "not-sent"
  }
  get isRetryable(): boolean {
    return true
  }
  get countsForBreaker(): boolean {
    return false
  }
}

/**
 * There is no login, or none that the server takes. `login`: somebody has to log in, and nobody was asked; `nobody`:
 * there is nobody to ask; `refused`: the authorization server or the person said no; `metadata`, `registration`,
 * `answer`: what an authorization server said about itself, about this client or in the end breaks a rule; `blocked`: it
 * named an address that is not gone to; `scope`: the server wants rights that it was given already; `unreachable`,
 * `store`: it could not be asked, or what it said not be kept; `timeout`, `cancelled`: nobody came back.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthorizationFailed
  extends Schema.TaggedError<AuthorizationFailed>("effect-mcp-runtime/AuthorizationFailed")("AuthorizationFailed", {
    server: Schema.String,
    reason: Schema.Literal(
      "login",
      "nobody",
      "refused",
      "metadata",
      "registration",
      "answer",
      "blocked",
      "scope",
      "unreachable",
      "store",
      "timeout",
      "cancelled"
    ),
    /** The error code of OAuth, where there is one. */
    code: Schema.optional(Schema.String),
    detail: Schema.String,
    /** Variables without a value, for which headers were left out. */
    unset: Unset
  })
{
  override get message(): string {
    const code = this.code === undefined ? "" : ` (${excerpt(this.code, 64)})`
    return named(this.server, because(this.unset, `not authorized${code}: ${excerpt(this.detail, 512)}`))
  }
  get outcome(): Outcome {
    return "not-sent"
  }
  get isRetryable(): boolean {
    return this.reason === "unreachable"
  }
  get countsForBreaker(): boolean {
    return false
  }
}
