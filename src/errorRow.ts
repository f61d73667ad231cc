/** Defines errors: a tag and its fields, and what follows from the rows of `errorRows.ts`. */
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { kinds, phrases, rows } from "./errorRows.ts"
import * as StderrReader from "./stderrReader.ts"
import * as ShellWords from "./text/shellWords.ts"
import { excerpt, listed, quote } from "./text/UntrustedText.ts"

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

/** A value, or one that is at least `from`; `true` if the field is present, `false` if it is absent or empty. */
type Condition = string | number | boolean | { readonly from: number }

/** The decisions that follow from an error, and its texts. */
export interface Row {
  /** The fields that the row is for. Default: all errors of its tag. */
  readonly when?: Readonly<Record<string, Condition>>
  /** One of `kinds`, which replaces the rows before. */
  readonly kind?: string
  /** Absent where the field `outcome` of the error decides. */
  readonly outcome?: Outcome
  readonly isRetryable?: boolean | "if not sent"
  readonly countsForBreaker?: boolean
  /** After a failed connect. Default: `retry` if it is retryable, else `final`. */
  readonly next?: Next
  /** After the loss of a working connection. Default: `login` if `next` is, else `retry`. */
  readonly nextAfterLoss?: Next
  readonly exitCode?: keyof typeof exitCodes
  /** What happened, without any text of a server or a process, because a model reads it unguarded. */
  readonly fault?: string
  /** The rest of the message. Default: the field `detail`. */
  readonly detail?: string
  /** Replaces the message, where the fault does not begin it. */
  readonly message?: string
  /** The next step for a model, also without untrusted text. */
  readonly model?: string
  /** The next step for a person. Absent if the message names it. */
  readonly person?: string
  /** The field with the answer of the server, which a model sees guarded as untrusted. */
  readonly theirs?: "detail"
}

export type Rows = Readonly<Record<string, ReadonlyArray<Row>>>

export type Texts = Readonly<Record<string, string | Readonly<Record<Outcome, string>>>>

export interface Facets {
  readonly outcome: Outcome
  readonly isRetryable: boolean
  readonly countsForBreaker: boolean
}

interface AnyError extends Facets {
  readonly _tag: string
  readonly server: string
  readonly detail?: string
  readonly stderrTail?: string | undefined
}

/** A field of an error, or of a struct in it; `undefined` if it is empty. */
const fieldOf = (error: unknown, path: string): unknown => {
  let value: unknown = error
  for (const key of path.split(".")) {
    value = typeof value === "object" && value !== null && Object.hasOwn(value, key)
      ? Reflect.get(value, key)
      : undefined
  }
  const isEmpty = value === null || value === "" || value === false || (Array.isArray(value) && value.length === 0)
  return isEmpty ? undefined : value
}

const holds = (condition: Condition, value: unknown): boolean => {
  if (typeof condition === "boolean") return condition === (value !== undefined)
  if (typeof condition === "object") return typeof value === "number" && value >= condition.from
  return condition === value
}

/** The rows that hold for an error, the later ones over the earlier. */
const merged = (error: AnyError): Row =>
  (rows[error._tag] ?? [])
    .filter(({ when = {} }) =>
      Object.entries(when).every(([path, condition]) => holds(condition, fieldOf(error, path)))
    )
    .reduce((before, row) => ({ ...(row.kind === undefined ? before : kinds[row.kind]), ...row }), {})

/** The outcome that follows from the tag and the reason; undefined where the field `outcome` decides. */
export const outcome = (error: AnyError): Outcome | undefined => merged(error).outcome

const isRetryable = (error: AnyError): boolean => {
  const rule = merged(error).isRetryable
  return rule === "if not sent" ? error.outcome === "not-sent" : rule === true
}

/** The next step for a server that could not be connected. */
export const next = (error: AnyError): Next => merged(error).next ?? (isRetryable(error) ? "retry" : "final")

/** The next step for a server whose connection was lost: it worked before, so most failures are worth an attempt. */
export const nextAfterLoss = (error: AnyError): Next =>
  merged(error).nextAfterLoss ?? (next(error) === "login" ? "login" : "retry")

export const exitCode = (error: AnyError): ExitCode => exitCodes[merged(error).exitCode ?? "connection"]

// The texts

const words: Readonly<Record<string, (text: string) => string>> = {
  shell: (text) => ShellWords.quote(excerpt(text, 256)),
  /** The name of an input without its kind. */
  input: (text) => ShellWords.quote(text.replace(/^\w+:/, ""))
}

const lists: Readonly<Record<string, (items: ReadonlyArray<unknown>) => string>> = {
  count: (items) => `${items.length}`,
  failures: (items) =>
    items.map((item) => `${excerpt(`${fieldOf(item, "server")}`, 128)}: ${excerpt(`${fieldOf(item, "reason")}`)}`)
      .join("; "),
  or: (items) => items.slice(0, 3).map((item) => quote(`${item}`)).join(" or "),
  and: (items) => listed(items.map((item) => quote(`${item}`)), 3)
}

const shown = (value: unknown, format: string): string => {
  if (Duration.isDuration(value)) return Duration.format(value)
  if (value instanceof Error) return value.message
  if (Array.isArray(value)) return lists[format]?.(value) ?? value.join(", ")
  return words[format]?.(`${value}`) ?? excerpt(`${value}`, Number(format) || undefined)
}

/** A placeholder with a format, such as `{scope:shell}`, or the most characters of the text: 256 in quotes, else 1024. */
const placeholder = /("?)\{([\w.]+)(?::(\w+))?\}/g

/** Not whole if a field is absent. */
const filled = (template: string, error: AnyError) => {
  let isWhole = true
  const text = template.replace(placeholder, (_, before: string, name: string, format = before && "256") => {
    const value = fieldOf(error, name)
    const text = value === undefined ? render(phrases[name] ?? "", error) : shown(value, format)
    isWhole &&= text !== ""
    return before + text
  })
  return { text, isWhole }
}

const render = (text: Texts[string], error: AnyError): string => {
  const template = typeof text === "string" ? text : text[error.outcome]
  const texts = template.split(/(\[[^\]]*\])/).map((part) => {
    if (!part.startsWith("[")) return filled(part, error)
    return part.slice(1, -1).split("|").map((each) => filled(each, error)).find(({ isWhole }) => isWhole)
  })
  return texts.map((found) => found?.text ?? "").join("")
}

/** Begins with the likely cause, if stderr names it. */
const message = (error: AnyError): string => {
  const { detail, fault = "", message } = merged(error)
  const rest = detail ?? (error.detail === undefined ? "" : ": {detail}")
  const stderr = StderrReader.read(error.stderrTail)
  const text = [
    ...(stderr.fault === undefined ? [] : [excerpt(stderr.fault.cause, 200)]),
    render(message ?? fault + rest, error),
    ...(stderr.line === undefined ? [] : [`its stderr: ${excerpt(stderr.line, 200)}`])
  ].join("; ")
  const isNamed = error.server !== "" && error._tag !== "RequiredServersFailed"
  return isNamed ? `${excerpt(error.server, 128)}: ${text}` : text
}

/** The next step for a person; the party that stderr blames comes first. */
export const forPerson = (error: AnyError): string | undefined =>
  StderrReader.read(error.stderrTail).fault?.remedy ?? (render(merged(error).person ?? "", error) || undefined)

export const logIn = (server: string): string => render("{logIn}", { server } as AnyError)

/** What happened, in a few words. */
export const fault = (error: AnyError): string => render(merged(error).fault ?? "", error)

export interface Advice {
  readonly what: string
  readonly next: string
  /** The answer of the server, which has to be guarded. */
  readonly theirs: string | undefined
}

export const forModel = (error: AnyError): Advice => {
  const { model = "", theirs } = merged(error)
  const what = fault(error)
  return {
    what: error.server === ""
      ? `${what.charAt(0).toUpperCase()}${what.slice(1)}.`
      : `The server "${excerpt(error.server, 128)}": ${what}.`,
    next: render(model, error),
    theirs: theirs && error[theirs]
  }
}

// The classes

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

/** A tagged error with a `server`, and a message and facets that follow from its rows. */
export const error = <Self>() =>
<Tag extends string, Fields extends Schema.Struct.Fields>(
  tag: Tag,
  fields: Fields
): ErrorClass<Self, Tag, WithServer<Fields>> => {
  const Class = Schema.TaggedError<unknown>(`effect-mcp-runtime/${tag}`)(tag, { server: Schema.String, ...fields })
  Object.defineProperties(Class.prototype, {
    isRetryable: getter(isRetryable),
    countsForBreaker: getter((error) => merged(error).countsForBreaker === true),
    ...("outcome" in fields ? {} : { outcome: getter(outcome) }),
    message: getter(message)
  })
  // the class knows its facets only after they were defined
  return Class as unknown as ErrorClass<Self, Tag, WithServer<Fields>>
}
