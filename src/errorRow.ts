/**
 * Defines errors: a tag, its fields, and a row with its message, its advice and the decisions that follow from it. A tag
 * with several reasons has a row for each.
 */
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as StderrReader from "./stderrReader.ts"
import { excerpt } from "./text/UntrustedText.ts"

/**
 * What is known of the request: the server never received it (`not-sent`), may have executed it (`unknown`), or has
 * dealt with it (`executed`).
 */
export const Outcome = Schema.Literal("not-sent", "unknown", "executed")
export type Outcome = typeof Outcome.Type

/** What follows a failed connect or a lost connection: another attempt, a login, or nothing until a person acts. */
export type Next = "retry" | "login" | "final"

/** The exit codes of the terminal that an error can lead to. */
export const exitCodes = { tool: 1, usage: 2, configuration: 3, connection: 4, permission: 5 } as const
export type ExitCode = typeof exitCodes[keyof typeof exitCodes]

export type Rule<E, A> = A | ((error: E) => A)

export interface Row<E> {
  /** Absent where the field `outcome` of the error decides. */
  readonly outcome?: Rule<E, Outcome>
  readonly isRetryable: Rule<E, boolean>
  readonly countsForBreaker: Rule<E, boolean>
  /** After a failed connect. Default: `retry` if it is retryable, else `final`. */
  readonly next?: Rule<E, Next>
  /** After the loss of a working connection. Default: `login` if `next` is, else `retry`. */
  readonly nextAfterLoss?: Rule<E, Next>
  readonly exitCode: Rule<E, ExitCode>
  /** What happened, without any text of a server or a process, because a model reads it unguarded. */
  readonly fault: Rule<E, string>
  /** The rest of the message. Default: the field `detail`. Untrusted text in it is escaped and short. */
  readonly detail?: Rule<E, string>
  /** Replaces the message, where the fault does not begin it. */
  readonly message?: Rule<E, string>
  /** The next step for a model, also without untrusted text. */
  readonly model: Rule<E, string>
  /** The answer of the server, which a model sees guarded as untrusted. */
  readonly theirs?: Rule<E, string>
  /** The next step for a person. Absent if the message names it. */
  readonly person?: Rule<E, string>
}

type Reason<E> = E extends { readonly reason: infer R extends string } ? R
  : E extends { readonly why: infer R extends string } ? R
  : never

/** One row, a row for each reason, or rows for some reasons and `others`. */
type Rows<E> = [Reason<E>] extends [never] ? Row<E>
  :
    | { readonly [R in Reason<E>]: Row<E> }
    | { readonly [R in Reason<E>]?: Row<E> } & { readonly others: Row<E> }

export interface Facets {
  readonly outcome: Outcome
  readonly isRetryable: boolean
  readonly countsForBreaker: boolean
}

/** The fields by which a row is found, and those that every message shows. */
interface AnyError extends Facets {
  readonly _tag: string
  readonly server: string
  readonly reason?: string
  readonly why?: string
  readonly detail?: string
  readonly stderrTail?: string | undefined
}

/** The rows by tag. */
export const table = new Map<string, Row<never> | Readonly<Record<string, Row<never>>>>()

const isRow = <E>(rows: Row<E> | Readonly<Record<string, Row<E>>>): rows is Row<E> => "exitCode" in rows

const rowOf = (error: AnyError): Row<never> => {
  const rows = table.get(error._tag)!
  return isRow(rows) ? rows : rows[error.reason ?? error.why ?? ""] ?? rows["others"]!
}

const apply = <A extends string | number | boolean>(rule: Rule<never, A>, error: AnyError): A =>
  // the rows of a tag take the errors of that tag
  typeof rule === "function" ? rule(error as never) : rule

const isRetryable = (error: AnyError): boolean => apply(rowOf(error).isRetryable, error)

/** The outcome that follows from the tag and the reason; undefined where the field `outcome` decides. */
export const outcome = (error: AnyError): Outcome | undefined => {
  const rule = rowOf(error).outcome
  return rule && apply(rule, error)
}

/** The next step for a server that could not be connected. */
export const next = (error: AnyError): Next =>
  apply<Next>(rowOf(error).next ?? (isRetryable(error) ? "retry" : "final"), error)

/** The next step for a server whose connection was lost: it worked before, so most failures are worth an attempt. */
export const nextAfterLoss = (error: AnyError): Next =>
  apply<Next>(rowOf(error).nextAfterLoss ?? (next(error) === "login" ? "login" : "retry"), error)

export const exitCode = (error: AnyError): ExitCode => apply(rowOf(error).exitCode, error)

/** Begins with the likely cause, if stderr names it. */
const message = (error: AnyError): string => {
  const { fault, message, ...row } = rowOf(error)
  const detail = row.detail ?? (error.detail === undefined ? "" : `: ${excerpt(error.detail)}`)
  const stderr = StderrReader.read(error.stderrTail)
  const text = [
    ...(stderr.fault === undefined ? [] : [excerpt(stderr.fault.cause, 200)]),
    message === undefined ? apply(fault, error) + apply(detail, error) : apply(message, error),
    ...(stderr.line === undefined ? [] : [`its stderr: ${excerpt(stderr.line, 200)}`])
  ].join("; ")
  const isNamed = error.server !== "" && error._tag !== "RequiredServersFailed"
  return isNamed ? `${excerpt(error.server, 128)}: ${text}` : text
}

/** The next step for a person; the party that stderr blames comes first. */
export const forPerson = (error: AnyError): string | undefined =>
  StderrReader.read(error.stderrTail).fault?.remedy ?? (apply(rowOf(error).person ?? "", error) || undefined)

export interface Advice {
  readonly what: string
  readonly next: string
  /** The answer of the server, which has to be guarded. */
  readonly theirs: string | undefined
}

export const forModel = (error: AnyError): Advice => {
  const { fault, model, theirs } = rowOf(error)
  const what = apply(fault, error)
  return {
    what: error.server === ""
      ? `${what.charAt(0).toUpperCase()}${what.slice(1)}.`
      : `The server "${excerpt(error.server, 128)}": ${what}.`,
    next: apply(model, error),
    theirs: theirs && apply(theirs, error)
  }
}

type WithServer<Fields> = { readonly server: typeof Schema.String } & Fields

export interface ErrorClass<Self, Tag extends string, Fields extends Schema.Struct.Fields> extends
  Schema.Class<
    Self,
    { readonly _tag: Schema.tag<Tag> } & Fields,
    Schema.Struct.Encoded<{ readonly _tag: Schema.tag<Tag> } & Fields>,
    Schema.Struct.Context<{ readonly _tag: Schema.tag<Tag> } & Fields>,
    Schema.Struct.Constructor<Fields>,
    Facets,
    Cause.YieldableError
  >
{
  readonly _tag: Tag
}

const getter = (get: (error: AnyError) => unknown): PropertyDescriptor => ({
  configurable: true,
  get(this: AnyError) {
    return get(this)
  }
})

/** A tagged error with a `server`, and a message and facets that follow from its row. */
export const error = <Self>() =>
<Tag extends string, Fields extends Schema.Struct.Fields>(
  tag: Tag,
  fields: Fields,
  rows: Rows<Schema.Struct.Type<WithServer<Fields>> & Facets>
): ErrorClass<Self, Tag, WithServer<Fields>> => {
  const Class = Schema.TaggedError<unknown>(`effect-mcp-runtime/${tag}`)(tag, { server: Schema.String, ...fields })
  table.set(tag, rows)
  Object.defineProperties(Class.prototype, {
    isRetryable: getter(isRetryable),
    countsForBreaker: getter((error) => apply(rowOf(error).countsForBreaker, error)),
    ...("outcome" in fields ? {} : { outcome: getter(outcome) }),
    message: getter(message)
  })
  // the class knows its facets only after they were defined
  return Class as unknown as ErrorClass<Self, Tag, WithServer<Fields>>
}

// The kinds of rows: what several errors have in common, around the fault and the rest of one of them.

interface Base extends Facets {
  readonly retryAfter?: Duration.Duration | undefined
}

const kind =
  (common: Omit<Row<Base>, "fault">) =>
  <E extends Base>(fault: Rule<NoInfer<E>, string>, rest?: Partial<Row<NoInfer<E>>>): Row<E> => ({
    ...common,
    fault,
    ...rest
  })

export const stop = "Do not try again: the same would happen."
export const withoutServer = `${stop} Go on without this server, and tell the user if the task needs it.`
export const once = "You may try once more; if it fails again, go on without it."

/** A request that may have changed something must not be repeated blindly. */
export const checkEffect = ({ outcome }: Facets): string =>
  outcome === "not-sent"
    ? `Nothing was sent, so nothing has happened. ${once}`
    : outcome === "unknown"
    ? "The server may have executed the request. Check its effect before you do it again; a read is safe to repeat."
    : "The server has executed the request. Do not repeat it."

/** The same, for a person. */
export const lookFirst = ({ outcome }: Facets): string =>
  outcome === "not-sent"
    ? "Nothing was sent; try again."
    : outcome === "unknown"
    ? "The server may have executed the request: look before you repeat it."
    : "The server has executed the request: do not repeat it blindly."

/** The end of a message that names the time of the next try. */
export const after = ({ retryAfter }: Pick<Base, "retryAfter">): string =>
  `; try again ${retryAfter === undefined ? "later" : `in ${Duration.format(retryAfter)}`}`

export const pause = ({ retryAfter }: Pick<Base, "retryAfter">): string => {
  const when = retryAfter === undefined
    ? "You may try again later"
    : `Do not try again within ${Duration.format(retryAfter)}`
  return `${when}; until then, go on with something else.`
}

export const ifNotSent = ({ outcome }: Facets): boolean => outcome === "not-sent"

const { connection, permission, tool } = exitCodes

const faulty = {
  isRetryable: false,
  countsForBreaker: true,
  exitCode: connection,
  model: (error: Facets) => ifNotSent(error) ? withoutServer : `${checkEffect(error)} ${withoutServer}`
}
/** The server or its process does not work, and the next attempt would fail in the same way. */
export const broken = kind(faulty)
/** The same, before a request was sent. */
export const unusable = kind({ ...faulty, outcome: "not-sent" })

const doubtful = { isRetryable: ifNotSent, exitCode: connection, model: checkEffect, person: lookFirst }
/** No result came; the request can be sent again if it was not sent. */
export const unanswered = kind({ ...doubtful, countsForBreaker: false })
/** The connection failed. */
export const lost = kind({ ...doubtful, countsForBreaker: true, next: "retry" })

const healthy = { outcome: "not-sent", isRetryable: false, countsForBreaker: false } as const
/** Refused before it was sent, and for a reason that is no fault of the server. */
export const refused = kind({ ...healthy, exitCode: permission, model: withoutServer })
/** The server asks for a pause, or there is no capacity at the moment. */
export const later = kind({ ...healthy, isRetryable: true, exitCode: connection, detail: after, model: pause })
/** The server answered, so it is healthy. */
export const answered = kind({ ...healthy, outcome: "executed", exitCode: tool, model: stop })
