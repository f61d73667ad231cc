/** How a request ends without a result, or why it was not sent. */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as Row from "./errorRow.ts"
import type * as McpError from "./McpError.ts"
import * as ShellWords from "./text/shellWords.ts"
import { excerpt, quote } from "./text/UntrustedText.ts"

const { configuration, connection, tool, usage } = Row.exitCodes

const optionalText = Schema.optional(Schema.String)

const remedies: ReadonlyMap<number, string> = new Map([
  [-32602, "Correct the arguments as the server says and as the schema of the tool asks, and call again."],
  [-32601, `The server does not know the method. ${Row.stop}`],
  [-32002, "The resource does not exist. List the resources before you try another name."]
])

const seeArguments = "See what it takes with `mcp-runtime show`."

/** The server answered the request with an error. */
export class RemoteError extends Row.error<RemoteError>()(
  "RemoteError",
  { code: Schema.Number, detail: Schema.String, data: Schema.optional(Schema.Unknown) },
  Row.answered(({ code }) => `the server answered ${code}`, {
    model: ({ code }) =>
      remedies.get(code) ?? "Follow its answer if that is part of your task; do not repeat the call unchanged.",
    theirs: ({ detail }) => detail,
    person: ({ code }) => code === -32602 ? seeArguments : ""
  })
) {}

/** A tool reported failure in its result; the server is healthy. */
export class ToolError extends Row.error<ToolError>()(
  "ToolError",
  { tool: Schema.String, detail: Schema.String, result: Schema.Unknown },
  Row.answered(({ tool }) => `the tool ${quote(tool)} failed`)
) {}

/** No answer in time: none and no progress within the idle limit, or none within the total limit. */
export class RequestTimeout extends Row.error<RequestTimeout>()(
  "RequestTimeout",
  {
    kind: Schema.Literal("idle", "total"),
    operation: Schema.String,
    limit: Schema.DurationFromSelf,
    outcome: Row.Outcome,
    /** What the request waited for, if it was not sent. */
    waitedFor: Schema.optional(Schema.Literal("connection", "permit")),
    /** The error of the last attempt to connect, if it waited for a connection. */
    lastError: Schema.optional(Schema.declare((u): u is McpError.ConnectError => u instanceof Error && "outcome" in u))
  },
  Row.unanswered(({ kind, limit, operation, waitedFor }) => {
    const within = `within the ${kind} limit of ${Duration.format(limit)}`
    if (waitedFor === undefined) return `${operation} had no answer ${within}`
    const why = waitedFor === "permit" ? "other calls used all permits" : "there was no connection"
    return `${operation} was not sent, because ${why} ${within}`
  }, {
    countsForBreaker: ({ waitedFor }) => waitedFor === undefined,
    detail: ({ lastError }) =>
      lastError === undefined ? "" : `; the last attempt to connect failed: ${lastError.message}`,
    person: (error) => `${Row.lookFirst(error)} Wait longer with --timeout.`
  })
) {}

/** The operation was cancelled, by the peer or on our side, before it ended. */
export class Cancelled extends Row.error<Cancelled>()(
  "Cancelled",
  { operation: Schema.String, detail: Schema.String, outcome: Row.Outcome },
  Row.unanswered(({ operation }) => `${operation} was cancelled`, { isRetryable: false, exitCode: tool })
) {}

/** The circuit breaker of the server is open. */
export class CircuitOpen extends Row.error<CircuitOpen>()(
  "CircuitOpen",
  {
    retryAfter: Schema.DurationFromSelf,
    /** The application isolated the server; only a reset of the breaker ends that. */
    isolated: Schema.optional(Schema.Boolean)
  },
  Row.later(({ isolated }) => `the circuit breaker is ${isolated === true ? "isolated" : "open"}`, {
    isRetryable: ({ isolated }) => isolated !== true,
    detail: (error) => error.isolated === true ? "; reset it to use the server" : Row.after(error),
    model: (error) => error.isolated === true ? Row.withoutServer : Row.pause(error)
  })
) {}

/** Servers that are marked `required` did not start; `failures` names all of them. */
export class RequiredServersFailed extends Row.error<RequiredServersFailed>()(
  "RequiredServersFailed",
  {
    failures: Schema.Array(Schema.Struct({ server: Schema.String, reason: Schema.String, error: Schema.Unknown }))
  },
  Row.later(({ failures }) => `${failures.length} required servers did not start`, {
    detail: ({ failures }) =>
      `: ${failures.map(({ reason, server }) => `${excerpt(server, 128)}: ${excerpt(reason)}`).join("; ")}`
  })
) {}

interface Unavailable extends Row.Facets {
  readonly server: string
  readonly why: string
  readonly detail: string
  readonly retryAfter?: Duration.Duration | undefined
}

/** The cause, unless the error has a detail of its own, and the time of the next try if it is known. */
const unavailable = (row: typeof Row.refused, cause: string, rest: Partial<Row.Row<Unavailable>>) =>
  row<Unavailable>(({ why }) => `unavailable (${why})`, {
    detail: ({ detail, retryAfter }) =>
      `: ${excerpt(detail) || cause}${retryAfter === undefined ? "" : Row.after({ retryAfter })}`,
    ...rest
  })

/** The server cannot be used now. `connecting`: the wait for its first list ended before the connection was ready. */
export class ServerUnavailable extends Row.error<ServerUnavailable>()("ServerUnavailable", {
  why: Schema.Literal("disabled", "disconnected", "denied", "untrusted", "storm", "connecting"),
  detail: Schema.String.pipe(Schema.propertySignature, Schema.withConstructorDefault(() => "")),
  retryAfter: Schema.optional(Schema.DurationFromSelf)
}, {
  disabled: unavailable(Row.refused, "it is disabled; enable it first", {
    exitCode: configuration,
    person: "Switch it on in the file that configures it; `mcp-runtime list` names the file."
  }),
  disconnected: unavailable(Row.refused, "it was disconnected; connect it first", {
    exitCode: connection,
    person: "Connect it again."
  }),
  denied: unavailable(
    Row.refused,
    "a policy denies it or allows only others; the policy has to allow it, an approval does not help",
    { person: "Ask the author of the policy." }
  ),
  untrusted: unavailable(Row.refused, "its present configuration is not approved; approve it first", {
    person: ({ server }) =>
      `Look at what it would start, and approve it, with \`mcp-runtime approve ${ShellWords.quote(server)}\`.`
  }),
  storm: unavailable(Row.later, "its connections do not last", { person: "See its output with --verbose." }),
  connecting: Row.later("still connecting", {
    detail: ({ detail }) => detail === "" ? "" : `; ${excerpt(detail)}`,
    person: ({ server }) =>
      `Wait longer with --timeout, or find the cause with \`mcp-runtime doctor ${ShellWords.quote(server)}\`.`
  })
}) {}

const near = (suggestions: ReadonlyArray<string>): string =>
  suggestions.slice(0, 3).map((name) => quote(name)).join(" or ")

/** There is no such server, tool, resource or prompt. `server` is empty where no single server was asked. */
export class NotFound extends Row.error<NotFound>()(
  "NotFound",
  {
    kind: Schema.Literal("server", "tool", "resource", "prompt"),
    name: Schema.String,
    /** Similar names. */
    suggestions: Schema.optional(Schema.Array(Schema.String))
  },
  Row.refused(({ kind, name }) => `there is no ${kind} ${quote(name)}`, {
    exitCode: usage,
    detail: ({ suggestions = [] }) => suggestions.length === 0 ? "" : `; did you mean ${near(suggestions)}?`,
    model: ({ suggestions = [] }) =>
      suggestions.length === 0
        ? "Use a name from the lists exactly as written there; do not guess."
        : `Did you mean ${near(suggestions)}? Use the exact name.`,
    person: ({ kind, suggestions = [] }) => {
      const command = kind === "server" ? "list" : kind === "tool" ? "tools" : undefined
      return suggestions.length > 0 || command === undefined ? "" : `List them with \`mcp-runtime ${command}\`.`
    }
  })
) {}

/** The arguments of the caller cannot be sent: they are not JSON, too large, or hold an invalid duration. */
export class InvalidArguments extends Row.error<InvalidArguments>()(
  "InvalidArguments",
  { operation: Schema.String, path: Schema.String, detail: Schema.String },
  Row.refused(({ detail, operation, path }) => `${operation} was not sent: ${excerpt(detail)} at ${quote(path)}`, {
    exitCode: usage,
    detail: "",
    model: "Nothing was sent. Correct them as the schema of the tool asks, and call again.",
    person: seeArguments
  })
) {}

const notPermitted = ({ kind, name }: { readonly kind: string; readonly name: string }): string =>
  `the ${kind} ${quote(name)} is not permitted`

const refusal = "Do not try again, and do not look for a way around it."

interface Wanted {
  readonly allow?: string | undefined
  readonly remedy?: string | undefined
  readonly rule?: string | undefined
}

/** The rule that permits it, or another way of the program that refused it. */
const remedyOf = ({ allow, remedy }: Wanted): string | undefined =>
  remedy ?? (allow === undefined ? undefined : `allow it with the rule allow ${quote(allow)}`)

/** Names the `ask` rule to replace, because an `ask` overrides an `allow`. */
const allowing = (error: Wanted): string => {
  const how = remedyOf(error) ?? "allow it with a rule"
  const { remedy, rule } = error
  return remedy !== undefined || rule === undefined
    ? how
    : `${how} in place of ${quote(rule)}, which asks for approval`
}

/**
 * Not permitted. `policy`: a policy does not allow the server; `quarantined`: the definition of the tool changed since
 * it was first seen, and has to be approved anew; `rule`: a rule denies it; `unanswered`: it needs approval, and no
 * person can be asked; `refused`: a person refused; `changed`: it differs from what was approved; `crowded`: too many
 * calls wait for approval; `too-long`: it needs approval, and is too long to be shown.
 */
export class PermissionDenied extends Row.error<PermissionDenied>()("PermissionDenied", {
  kind: Schema.Literal("server", "tool", "resource", "prompt"),
  name: Schema.String,
  why: Schema.Literal("policy", "quarantined", "rule", "unanswered", "refused", "changed", "crowded", "too-long"),
  /** With `policy`: a rule denies the server, or a list allows only others. */
  decision: Schema.optional(Schema.Literal("denied", "not-allowed")),
  /** With `quarantined`: the changed places of the definition, such as `/description`. */
  changed: Schema.optional(Schema.Array(Schema.String)),
  /** With `quarantined`: why the definition cannot be compared with an approved one. */
  unpinned: Schema.optional(Schema.Literal("unreadable", "crowded")),
  /** The rule that decided, as it was written. */
  rule: optionalText,
  /** The narrowest `allow` rule that permits it. Set with `unanswered` and `too-long`. */
  allow: optionalText,
  /** The next step in the program that refused it, such as a flag of `mcp-runtime serve`; replaces `allow`. */
  remedy: optionalText,
  /** With `too-long`: the characters of its name and arguments as shown, and the maximum. */
  length: Schema.optional(Schema.Number),
  limit: Schema.optional(Schema.Number)
}, {
  policy: Row.refused(({ decision }) => {
    const why = decision === "denied" ? "a policy denies it" : "a policy allows only others"
    return `not connected: ${why}; ask the author of the policy`
  }),
  quarantined: Row.refused(notPermitted, {
    detail: ({ changed = [], unpinned }) => {
      if (unpinned === "unreadable") return ": the stored pins of its server cannot be read; approve it anew to call it"
      if (unpinned === "crowded") return ": its server has more tools than are pinned; approve it to call it"
      const places = changed.slice(0, 3).map((place) => quote(place)).join(", ")
      const more = changed.length > 3 ? ` and ${changed.length - 3} more` : ""
      return `: it has changed since it was first seen (${places}${more}); approve it anew to call it`
    },
    model: ({ unpinned }) =>
      unpinned === undefined
        ? `It has changed since the user approved it. ${refusal} Tell the user to look at the change.`
        : `The user has to approve its definition first. ${refusal} Tell the user to look at it.`,
    person: "Look at it with `mcp-runtime show`, and approve it with `mcp-runtime approve`."
  }),
  rule: Row.refused(notPermitted, {
    detail: ({ rule }) => rule === undefined ? ": a rule denies it" : `: the rule ${quote(rule)} denies it`,
    model: `A rule of the user denies it. ${refusal} Tell the user if the task needs it.`,
    person: "Change the rule in the permissions of the configuration, if it is yours."
  }),
  unanswered: Row.refused(notPermitted, {
    detail: (error) => {
      const wanted = error.rule === undefined ? "no rule allows it" : `the rule ${quote(error.rule)} asks for approval`
      const how = remedyOf(error)
      return `: ${wanted}, and no person ${how === undefined ? "answered" : `can be asked; ${how}`}`
    },
    model: ({ allow, remedy }) => {
      const how = remedy ?? (allow === undefined ? undefined : `the rule allow ${quote(allow)} permits it`)
      return `It needs approval, and the user cannot be asked now. ${refusal} If the task needs it, tell the user${
        how === undefined ? "" : `, and how to allow it: ${how}`
      }.`
    },
    person: "Run it on a terminal to be asked, or allow it with a rule in the permissions of the configuration."
  }),
  refused: Row.refused(notPermitted, {
    detail: ": it was not approved",
    model: `The user was asked, and did not agree. ${refusal} Go on without it, or ask the user what to do.`
  }),
  changed: Row.refused(notPermitted, {
    detail: ": it has changed since it was approved",
    model:
      "It has changed since it was approved. You may try once more for a new approval; otherwise go on without it.",
    person: "Look at it with `mcp-runtime show`, and call it again."
  }),
  crowded: Row.refused(notPermitted, {
    detail: ": too many calls wait for approval",
    model: "Too many calls wait for approval. Wait until they have ended, then try again.",
    person: "Wait until other calls have been approved or refused, then try again."
  }),
  "too-long": Row.refused(notPermitted, {
    detail: (error) => {
      const { length = "too many", limit = "fewer" } = error
      const size = `its name and arguments have ${length} characters, and at most ${limit} can be shown`
      return `: it needs approval, but ${size}; make the arguments shorter, or ${allowing(error)}`
    },
    model: "It needs the approval of the user, and its arguments are too long to be shown. Try again with shorter "
      + "arguments, or in several calls; otherwise tell the user that a rule has to allow it."
  })
}) {}

/** The configuration of a server cannot be used. */
export class ConfigurationError extends Row.error<ConfigurationError>()(
  "ConfigurationError",
  {
    path: Schema.String,
    detail: Schema.String,
    /** The variable without a value, if that is the cause. */
    variable: Schema.optional(Schema.Struct({
      name: Schema.String,
      why: Schema.Literal("variable-unset", "variable-forbidden", "input-required"),
      /** The environment variable that sets it. */
      from: optionalText
    }))
  },
  Row.refused("invalid configuration", {
    nextAfterLoss: "final",
    exitCode: configuration,
    message: ({ detail, path, variable }) =>
      variable === undefined
        ? `invalid configuration at ${quote(path)}: ${detail}`
        : `${detail}; the configuration uses it in ${quote(path)}`,
    person: ({ variable }) =>
      variable === undefined
        ? "Correct the file; `mcp-runtime config` names the file, the line and the fault."
        : variable.why === "input-required"
        ? `Answer it with --input ${ShellWords.quote(variable.name.replace(/^\w+:/, ""))}=VALUE.`
        : ""
  })
) {}

/** A decision about trust could not be stored, so it does not hold. */
export class TrustNotKept extends Row.error<TrustNotKept>()(
  "TrustNotKept",
  { detail: Schema.String },
  Row.refused("the decision could not be kept", {
    exitCode: configuration,
    detail: ({ detail }) =>
      `: ${excerpt(detail)}; check the permissions of the state folder ($XDG_STATE_HOME or ~/.local/state)`
  })
) {}

/** A registry did not give an entry for the server, which is named as in the registry. */
export class RegistryError extends Row.error<RegistryError>()(
  "RegistryError",
  { address: Schema.String, detail: Schema.String },
  Row.refused("no entry from the registry", {
    exitCode: configuration,
    detail: ({ address, detail }) => ` ${quote(address)}: ${excerpt(detail)}`
  })
) {}
