/**
 * How a request can end without a result.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { Outcome } from "./Facet.ts"
import { after, excerpt, named, quote } from "./internal/wording.ts"

/**
 * A tool reported failure in its result; the server is healthy.
 *
 * @since 0.1.0
 * @category errors
 */
export class ToolError extends Schema.TaggedError<ToolError>("effect-mcp-runtime/ToolError")("ToolError", {
  server: Schema.String,
  tool: Schema.String,
  detail: Schema.String,
  result: Schema.Unknown
}) {
  override get message(): string {
    return named(this.server, `the tool ${quote(this.tool)} failed: ${excerpt(this.detail)}`)
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

/**
 * The result of a tool does not fit what the tool declares or what the protocol allows.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidToolResult
  extends Schema.TaggedError<InvalidToolResult>("effect-mcp-runtime/InvalidToolResult")("InvalidToolResult", {
    server: Schema.String,
    tool: Schema.String,
    path: Schema.String,
    detail: Schema.String
  })
{
  override get message(): string {
    return named(
      this.server,
      `the result of ${quote(this.tool)} is invalid at ${quote(this.path)}: ${excerpt(this.detail)}`
    )
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

/**
 * No answer in time: none and no progress for the idle limit, or none within the total limit.
 *
 * @since 0.1.0
 * @category errors
 */
export class RequestTimeout
  extends Schema.TaggedError<RequestTimeout>("effect-mcp-runtime/RequestTimeout")("RequestTimeout", {
    server: Schema.String,
    kind: Schema.Literal("idle", "total"),
    operation: Schema.String,
    limit: Schema.DurationFromSelf,
    outcome: Outcome,
    /** What the request waited for, if it was not sent. */
    waitedFor: Schema.optional(Schema.Literal("connection", "permit")),
    /** The error of the last attempt to connect, if it waited for a connection. */
    lastError: Schema.optional(Schema.Unknown)
  })
{
  override get message(): string {
    return named(this.server, this.#detail)
  }
  get #detail(): string {
    const { kind, lastError, limit, operation, waitedFor } = this
    const within = `within the ${kind} limit of ${Duration.format(limit)}`
    if (waitedFor === undefined) return `${operation} had no answer ${within}`
    if (waitedFor === "permit") return `${operation} was not sent, because other calls used all permits ${within}`
    const reason = lastError instanceof Error ? `; the last attempt to connect failed: ${lastError.message}` : ""
    return `${operation} was not sent, because there was no connection ${within}${reason}`
  }
  get isRetryable(): boolean {
    return this.outcome === "not-sent"
  }
  get countsForBreaker(): boolean {
    return this.waitedFor === undefined
  }
}

/**
 * A list does not end.
 *
 * @since 0.1.0
 * @category errors
 */
export class PaginationLimit
  extends Schema.TaggedError<PaginationLimit>("effect-mcp-runtime/PaginationLimit")("PaginationLimit", {
    server: Schema.String,
    operation: Schema.String,
    reason: Schema.Literal("pages", "items", "cursor-size", "cursor-repeated"),
    pages: Schema.Number,
    limit: Schema.Number
  })
{
  override get message(): string {
    return named(
      this.server,
      `${this.operation} was given up after ${this.pages} pages (${this.reason}, limit ${this.limit})`
    )
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

/**
 * The server kept asking for input instead of finishing the request.
 *
 * @since 0.1.0
 * @category errors
 */
export class InputRoundsExceeded
  extends Schema.TaggedError<InputRoundsExceeded>("effect-mcp-runtime/InputRoundsExceeded")("InputRoundsExceeded", {
    server: Schema.String,
    operation: Schema.String,
    rounds: Schema.Number
  })
{
  override get message(): string {
    return named(this.server, `${this.operation} asked for input ${this.rounds} times without finishing`)
  }
  get outcome(): Outcome {
    return "unknown"
  }
  get isRetryable(): boolean {
    return false
  }
  get countsForBreaker(): boolean {
    return false
  }
}

/**
 * The operation was cancelled, by the peer or on our side, before it ended.
 *
 * @since 0.1.0
 * @category errors
 */
export class Cancelled extends Schema.TaggedError<Cancelled>("effect-mcp-runtime/Cancelled")("Cancelled", {
  server: Schema.String,
  operation: Schema.String,
  reason: Schema.String,
  outcome: Outcome
}) {
  override get message(): string {
    return named(this.server, `${this.operation} was cancelled: ${excerpt(this.reason)}`)
  }
  get isRetryable(): boolean {
    return false
  }
  get countsForBreaker(): boolean {
    return false
  }
}

/**
 * The connection is closed, and closed is final.
 *
 * @since 0.1.0
 * @category errors
 */
export class Closed extends Schema.TaggedError<Closed>("effect-mcp-runtime/Closed")("Closed", {
  server: Schema.String,
  operation: Schema.String,
  outcome: Outcome,
  /** Why the server must not be used any more, where that is what has closed it. */
  blocked: Schema.optional(Schema.Literal("denied", "untrusted"))
}) {
  override get message(): string {
    const why = this.blocked === undefined ? "" : `, because the server was blocked (${this.blocked}) meanwhile`
    return named(this.server, `${this.operation} was not possible: the connection is closed${why}`)
  }
  get isRetryable(): boolean {
    return false
  }
  get countsForBreaker(): boolean {
    return false
  }
}

/**
 * Too much is waiting already; the request was not sent.
 *
 * @since 0.1.0
 * @category errors
 */
export class Overloaded extends Schema.TaggedError<Overloaded>("effect-mcp-runtime/Overloaded")("Overloaded", {
  server: Schema.String,
  queue: Schema.Literal("write", "calls"),
  queued: Schema.Number,
  limit: Schema.Number
}) {
  override get message(): string {
    return named(this.server, `overloaded: ${this.queued} in the ${this.queue} queue (limit ${this.limit})`)
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
 * The circuit breaker of the server is open.
 *
 * @since 0.1.0
 * @category errors
 */
export class CircuitOpen extends Schema.TaggedError<CircuitOpen>("effect-mcp-runtime/CircuitOpen")("CircuitOpen", {
  server: Schema.String,
  retryAfter: Schema.DurationFromSelf,
  /** Somebody has isolated the server, and time will not change that. */
  isolated: Schema.optional(Schema.Boolean)
}) {
  override get message(): string {
    return named(
      this.server,
      this.isolated === true
        ? "the server is isolated until its breaker is reset"
        : `the circuit is open; try again in ${Duration.format(this.retryAfter)}`
    )
  }
  get outcome(): Outcome {
    return "not-sent"
  }
  get isRetryable(): boolean {
    return this.isolated !== true
  }
  get countsForBreaker(): boolean {
    return false
  }
}

/**
 * The configuration of a server cannot be used.
 *
 * @since 0.1.0
 * @category errors
 */
export class ConfigurationError
  extends Schema.TaggedError<ConfigurationError>("effect-mcp-runtime/ConfigurationError")("ConfigurationError", {
    server: Schema.String,
    path: Schema.String,
    detail: Schema.String,
    /** The variable that has no value, where that is what is wrong. */
    variable: Schema.optional(Schema.Struct({
      name: Schema.String,
      why: Schema.Literal("variable-unset", "variable-forbidden", "input-required"),
      /** The environment variable that sets it. */
      from: Schema.optional(Schema.String)
    }))
  })
{
  override get message(): string {
    return named(
      this.server,
      this.variable === undefined
        ? `invalid configuration at ${quote(this.path)}: ${this.detail}`
        : `${this.detail}; the configuration uses it in ${quote(this.path)}`
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
 * What the caller gave cannot be sent: it is no JSON, or too large, or a duration that is none.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidArguments
  extends Schema.TaggedError<InvalidArguments>("effect-mcp-runtime/InvalidArguments")("InvalidArguments", {
    server: Schema.String,
    operation: Schema.String,
    path: Schema.String,
    detail: Schema.String
  })
{
  override get message(): string {
    return named(this.server, `${this.operation} was not sent: ${excerpt(this.detail)} at ${quote(this.path)}`)
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
 * There is no such server, tool, resource or prompt; `suggestions` are names that come near. `server` is empty where no
 * single server was asked.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotFound extends Schema.TaggedError<NotFound>("effect-mcp-runtime/NotFound")("NotFound", {
  server: Schema.String,
  kind: Schema.Literal("server", "tool", "resource", "prompt"),
  name: Schema.String,
  suggestions: Schema.optional(Schema.Array(Schema.String))
}) {
  override get message(): string {
    const near = this.suggestions ?? []
    const text = `there is no ${this.kind} ${quote(this.name)}${
      near.length === 0 ? "" : `; did you mean ${near.slice(0, 3).map(quote).join(" or ")}?`
    }`
    return this.server === "" ? text : named(this.server, text)
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
 * The server cannot be used now. `why: "connecting"`: the wait for its first list has ended, and the server is still
 * connecting.
 *
 * @since 0.1.0
 * @category errors
 */
export class ServerUnavailable
  extends Schema.TaggedError<ServerUnavailable>("effect-mcp-runtime/ServerUnavailable")("ServerUnavailable", {
    server: Schema.String,
    why: Schema.Literal("disabled", "disconnected", "denied", "untrusted", "storm", "connecting"),
    detail: Schema.String,
    retryAfter: Schema.optional(Schema.DurationFromSelf)
  })
{
  override get message(): string {
    const what = this.why === "connecting" ? "" : `unavailable (${this.why}): `
    return named(this.server, `${what}${excerpt(this.detail)}${after(this.retryAfter)}`)
  }
  get outcome(): Outcome {
    return "not-sent"
  }
  get isRetryable(): boolean {
    return this.why === "storm" || this.why === "connecting"
  }
  get countsForBreaker(): boolean {
    return false
  }
}

/**
 * A decision about trust could not be kept, so it does not hold.
 *
 * @since 0.1.0
 * @category errors
 */
export class TrustNotKept extends Schema.TaggedError<TrustNotKept>("effect-mcp-runtime/TrustNotKept")("TrustNotKept", {
  server: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return named(this.server, `the decision could not be kept: ${excerpt(this.detail)}`)
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
 * The call is not permitted: a rule denies it, or somebody had to be asked and did not agree. Nothing was sent.
 *
 * @since 0.1.0
 * @category errors
 */
export class PermissionDenied
  extends Schema.TaggedError<PermissionDenied>("effect-mcp-runtime/PermissionDenied")("PermissionDenied", {
    server: Schema.String,
    kind: Schema.Literal("tool", "resource", "prompt"),
    name: Schema.String,
    /**
     * `rule`: a rule denies it. `unanswered`: it needs approval, and no person can be asked. `refused`: a person said no.
     * `changed`: it differs from what was approved. `crowded`: too many calls wait for approval. `too-long`: it needs
     * approval, and a person cannot be shown all of it.
     */
    why: Schema.Literal("rule", "unanswered", "refused", "changed", "crowded", "too-long"),
    /** The rule that decided, as it was written. */
    rule: Schema.optional(Schema.String),
    /** The narrowest `allow` rule that permits it. Set with `unanswered` and `too-long`. */
    allow: Schema.optional(Schema.String),
    /**
     * The next step in the program that refused it, such as a flag of `mcp-runtime serve`; it replaces `allow` in the
     * message.
     */
    remedy: Schema.optional(Schema.String),
    /** With `too-long`: the length of its name and arguments as shown, in characters; `limit` is the maximum. */
    length: Schema.optional(Schema.Number),
    limit: Schema.optional(Schema.Number)
  })
{
  override get message(): string {
    return named(this.server, `the ${this.kind} ${quote(this.name)} is not permitted: ${denials[this.why](this)}`)
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

type Denial = Pick<PermissionDenied, "allow" | "length" | "limit" | "remedy" | "rule">

const denials: Record<PermissionDenied["why"], (denied: Denial) => string> = {
  rule: ({ rule }) => rule === undefined ? "a rule denies it" : `the rule ${quote(rule)} denies it`,
  unanswered: ({ allow, remedy, rule }) => {
    const wanted = rule === undefined ? "no rule allows it" : `the rule ${quote(rule)} asks for approval`
    const how = remedy ?? (allow === undefined ? undefined : `allow it with the rule allow ${quote(allow)}`)
    return how === undefined ? `${wanted}, and no person answered` : `${wanted}, and no person can be asked; ${how}`
  },
  refused: () => "it was not approved",
  changed: () => "it has changed since it was approved",
  crowded: () => "too many calls wait for approval already",
  "too-long": (denied) =>
    "it needs approval, but its name and arguments are " +
    `${denied.length ?? "too many"} characters, and at most ${denied.limit ?? "fewer"} can be shown; ` +
    `make the arguments shorter, or ${denied.remedy ?? allowing(denied)}`
}

/** Names the `ask` rule to replace, because an `ask` overrides an `allow`. */
const allowing = ({ allow, rule }: Denial): string => {
  const how = allow === undefined ? "allow it with a rule" : `allow it with the rule allow ${quote(allow)}`
  return rule === undefined ? how : `${how} in place of ${quote(rule)}, which asks for approval`
}

/**
 * The definition of a tool is not what it was when it was first seen. It is not called until somebody has looked at the
 * difference and approved it; the server's other tools are unharmed.
 *
 * @since 0.1.0
 * @category errors
 */
export class ToolQuarantined
  extends Schema.TaggedError<ToolQuarantined>("effect-mcp-runtime/ToolQuarantined")("ToolQuarantined", {
    server: Schema.String,
    tool: Schema.String,
    /** The places in the definition that have changed, such as `/description`. */
    changed: Schema.Array(Schema.String)
  })
{
  override get message(): string {
    const places = this.changed.slice(0, 3).map(quote).join(", ")
    const more = this.changed.length > 3 ? ` and ${this.changed.length - 3} more` : ""
    return named(
      this.server,
      `the tool ${quote(this.tool)} has changed since it was first seen (${places}${more}); approve it anew to call it`
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
