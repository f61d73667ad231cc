/**
 * What the network and the server can answer instead of a result.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Outcome, Phase } from "./Facet.ts"
import { after, because, excerpt, named, quote, Unset } from "./internal/wording.ts"

/**
 * The stream that owed the answer ended without it.
 *
 * @since 0.1.0
 * @category errors
 */
export class StreamInterrupted
  extends Schema.TaggedError<StreamInterrupted>("effect-mcp-runtime/StreamInterrupted")("StreamInterrupted", {
    server: Schema.String,
    detail: Schema.String,
    outcome: Outcome
  })
{
  override get message(): string {
    return named(this.server, `the stream ended before the answer: ${excerpt(this.detail)}`)
  }
  get isRetryable(): boolean {
    return this.outcome === "not-sent"
  }
  get countsForBreaker(): boolean {
    return true
  }
}

/**
 * A socket could not be opened or broke; `code` is the system's name for it.
 *
 * @since 0.1.0
 * @category errors
 */
export class NetworkError extends Schema.TaggedError<NetworkError>("effect-mcp-runtime/NetworkError")("NetworkError", {
  server: Schema.String,
  code: Schema.String,
  detail: Schema.String,
  outcome: Outcome
}) {
  override get message(): string {
    return named(this.server, `network error ${this.code}: ${excerpt(this.detail)}`)
  }
  get isRetryable(): boolean {
    return this.outcome === "not-sent"
  }
  get countsForBreaker(): boolean {
    return true
  }
}

/**
 * The server's TLS could not be used; the client never falls back to plain HTTP.
 *
 * @since 0.1.0
 * @category errors
 */
export class TlsError extends Schema.TaggedError<TlsError>("effect-mcp-runtime/TlsError")("TlsError", {
  server: Schema.String,
  code: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return named(this.server, `TLS failed (${this.code}): ${excerpt(this.detail)}`)
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
 * The server no longer knows the session (404). `outcome` is `unknown` if the server gave that answer to this request,
 * because it can execute a request first; `not-sent` if the request was held back.
 *
 * @since 0.1.0
 * @category errors
 */
export class SessionExpired
  extends Schema.TaggedError<SessionExpired>("effect-mcp-runtime/SessionExpired")("SessionExpired", {
    server: Schema.String,
    detail: Schema.String,
    outcome: Outcome.pipe(Schema.propertySignature, Schema.withConstructorDefault(() => "unknown" as const))
  })
{
  override get message(): string {
    return named(this.server, `the session has expired: ${excerpt(this.detail)}`)
  }
  get isRetryable(): boolean {
    return this.outcome === "not-sent"
  }
  get countsForBreaker(): boolean {
    return false
  }
}

/**
 * The server wants (other) credentials.
 *
 * @since 0.1.0
 * @category errors
 */
export class Unauthorized extends Schema.TaggedError<Unauthorized>("effect-mcp-runtime/Unauthorized")("Unauthorized", {
  server: Schema.String,
  challenge: Schema.optional(Schema.String),
  resourceMetadata: Schema.optional(Schema.String),
  scope: Schema.optional(Schema.String),
  /** Variables without a value, for which headers were left out. */
  unset: Unset
}) {
  override get message(): string {
    const challenge = this.challenge === undefined ? "" : `: ${excerpt(this.challenge, 256)}`
    return named(this.server, because(this.unset, `the server asks for credentials (401)${challenge}`))
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
 * The credentials do not suffice.
 *
 * @since 0.1.0
 * @category errors
 */
export class Forbidden extends Schema.TaggedError<Forbidden>("effect-mcp-runtime/Forbidden")("Forbidden", {
  server: Schema.String,
  scope: Schema.optional(Schema.String),
  challenge: Schema.optional(Schema.String),
  /** Variables without a value, for which headers were left out. */
  unset: Unset
}) {
  override get message(): string {
    const scope = this.scope === undefined ? "" : `; it asks for the scope ${quote(this.scope)}`
    return named(this.server, because(this.unset, `the server refused access (403)${scope}`))
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
 * The server asks to come back later (429).
 *
 * @since 0.1.0
 * @category errors
 */
export class RateLimited extends Schema.TaggedError<RateLimited>("effect-mcp-runtime/RateLimited")("RateLimited", {
  server: Schema.String,
  retryAfter: Schema.optional(Schema.DurationFromSelf),
  detail: Schema.String,
  /** The request was not sent, because the server had asked for a pause before. */
  paused: Schema.optional(Schema.Boolean)
}) {
  override get message(): string {
    return named(this.server, `rate limited (429)${after(this.retryAfter)}`)
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
 * The server says that it is unavailable for a while (503 with Retry-After).
 *
 * @since 0.1.0
 * @category errors
 */
export class Unavailable extends Schema.TaggedError<Unavailable>("effect-mcp-runtime/Unavailable")("Unavailable", {
  server: Schema.String,
  retryAfter: Schema.optional(Schema.DurationFromSelf),
  detail: Schema.String,
  /** The request was not sent, because the server had asked for a pause before. */
  paused: Schema.optional(Schema.Boolean)
}) {
  override get message(): string {
    return named(this.server, `unavailable (503)${after(this.retryAfter)}: ${excerpt(this.detail)}`)
  }
  get outcome(): Outcome {
    return "not-sent"
  }
  get isRetryable(): boolean {
    return true
  }
  get countsForBreaker(): boolean {
    return this.paused !== true
  }
}

/**
 * The server answered with a status that means failure.
 *
 * @since 0.1.0
 * @category errors
 */
export class HttpStatus extends Schema.TaggedError<HttpStatus>("effect-mcp-runtime/HttpStatus")("HttpStatus", {
  server: Schema.String,
  status: Schema.Number,
  excerpt: Schema.String,
  outcome: Outcome,
  /** Variables without a value, for which headers were left out. */
  unset: Unset
}) {
  override get message(): string {
    return named(this.server, because(this.unset, `HTTP status ${this.status}: ${excerpt(this.excerpt)}`))
  }
  get isRetryable(): boolean {
    // any other status says the same to whoever asks again
    return this.outcome === "not-sent" && this.countsForBreaker
  }
  get countsForBreaker(): boolean {
    return this.status >= 500 || this.status === 408
  }
}

/**
 * The server redirects to a place the client does not go to; nothing was sent there.
 *
 * @since 0.1.0
 * @category errors
 */
export class RedirectBlocked
  extends Schema.TaggedError<RedirectBlocked>("effect-mcp-runtime/RedirectBlocked")("RedirectBlocked", {
    server: Schema.String,
    to: Schema.String,
    reason: Schema.Literal("other-origin", "loop", "method", "malformed")
  })
{
  override get message(): string {
    return named(
      this.server,
      `a redirect to ${quote(this.to)} was not followed (${this.reason}); use that URL if it is the server you mean`
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
 * The server names an endpoint on another origin; nothing was sent there.
 *
 * @since 0.1.0
 * @category errors
 */
export class OriginMismatch
  extends Schema.TaggedError<OriginMismatch>("effect-mcp-runtime/OriginMismatch")("OriginMismatch", {
    server: Schema.String,
    to: Schema.String
  })
{
  override get message(): string {
    return named(this.server, `the server names an endpoint on another origin, ${quote(this.to)}`)
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
 * The server sent something that the protocol does not allow.
 *
 * @since 0.1.0
 * @category errors
 */
export class ProtocolViolation
  extends Schema.TaggedError<ProtocolViolation>("effect-mcp-runtime/ProtocolViolation")("ProtocolViolation", {
    server: Schema.String,
    what: Schema.String,
    excerpt: Schema.String,
    outcome: Outcome,
    phase: Phase
  })
{
  override get message(): string {
    return named(
      this.server,
      `protocol violation in the ${this.phase} phase: ${this.what}${
        this.excerpt === "" ? "" : `: ${excerpt(this.excerpt)}`
      }`
    )
  }
  get isRetryable(): boolean {
    return false
  }
  get countsForBreaker(): boolean {
    return true
  }
}

/**
 * The server answered with a content type that MCP does not use.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnexpectedContentType
  extends Schema.TaggedError<UnexpectedContentType>("effect-mcp-runtime/UnexpectedContentType")(
    "UnexpectedContentType",
    {
      server: Schema.String,
      got: Schema.String,
      excerpt: Schema.String,
      outcome: Outcome.pipe(Schema.propertySignature, Schema.withConstructorDefault(() => "unknown" as const))
    }
  )
{
  override get message(): string {
    return named(this.server, `unexpected content type ${quote(this.got)}: ${excerpt(this.excerpt, 256)}`)
  }
  get isRetryable(): boolean {
    return false
  }
  get countsForBreaker(): boolean {
    return true
  }
}

/**
 * A message is over the limit that is set for the server.
 *
 * @since 0.1.0
 * @category errors
 */
export class MessageTooLarge
  extends Schema.TaggedError<MessageTooLarge>("effect-mcp-runtime/MessageTooLarge")("MessageTooLarge", {
    server: Schema.String,
    limit: Schema.Number,
    direction: Schema.Literal("received", "sent"),
    /** Whether it came in place of a connection, so that nothing else had been sent yet. */
    connecting: Schema.optional(Schema.Boolean)
  })
{
  override get message(): string {
    return named(this.server, `a message ${this.direction} is larger than ${this.limit} bytes (maxMessageBytes)`)
  }
  get outcome(): Outcome {
    return this.direction === "sent" || this.connecting === true ? "not-sent" : "unknown"
  }
  get isRetryable(): boolean {
    return false
  }
  get countsForBreaker(): boolean {
    return false
  }
}

/**
 * The server answered the request with an error.
 *
 * @since 0.1.0
 * @category errors
 */
export class RemoteError extends Schema.TaggedError<RemoteError>("effect-mcp-runtime/RemoteError")("RemoteError", {
  server: Schema.String,
  code: Schema.Number,
  detail: Schema.String,
  data: Schema.optional(Schema.Unknown)
}) {
  override get message(): string {
    return named(this.server, `the server answered ${this.code}: ${excerpt(this.detail)}`)
  }
  get outcome(): Outcome {
    return "executed"
  }
  get isRetryable(): boolean {
    return false
  }
  get countsForBreaker(): boolean {
    return false
  }
}
