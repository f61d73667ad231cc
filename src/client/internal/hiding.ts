/**
 * What a connection tells, without the secrets that are known while it lives and without what looks like one. Errors
 * leave it here and nowhere else, so none of them has to know of secrets.
 *
 * @internal
 */
import type * as McpError from "../../McpError.ts"
import type * as Redaction from "../../safety/Redaction.ts"
import type * as Connector from "../Connector.ts"

/** @internal */
export interface Hiding {
  /** The same error where it holds no secret. */
  readonly error: <E extends McpError.McpError>(error: E) => E
  readonly text: (text: string) => string
}

/** Our own words, and names that are decided on: a secret that happens to be one of them must not change what happens. */
const own: ReadonlySet<string> = new Set([
  "_tag",
  "code",
  "direction",
  "errno",
  "kind",
  "operation",
  "outcome",
  "phase",
  "server",
  "signal",
  "why"
])

type Unset = ReadonlyArray<Connector.Unset>

/** Statuses that refuse the request itself, and not its address or its rate. */
const isRefusal = (status: number): boolean => status === 400 || status === 407 || status === 422

/** Names the unset variables in an error that their missing headers may have caused. */
const explained = <E extends McpError.McpError>(unset: Unset, error: E): E => {
  // the casts: its own class makes it anew of the same fields
  const fields = { ...error, unset }
  switch (error._tag) {
    case "HttpStatus":
      return isRefusal(error.status) ? Reflect.construct(error.constructor, [fields]) as E : error
    case "Unauthorized":
    case "Forbidden":
    case "AuthorizationFailed":
    case "InitializeRejected":
      return Reflect.construct(error.constructor, [fields]) as E
    default:
      return error
  }
}

/** @internal */
export const make = (redaction: Redaction.Redactor, unset: Unset = []): Hiding => ({
  text: redaction.text,
  error: (given) => {
    const error = unset.length === 0 ? given : explained(unset, given)
    const fields = new Map<string, unknown>(Object.entries(error))
    let isHidden = false
    for (const [key, value] of fields) {
      // the one reason that is a text of the server
      if (own.has(key) || (key === "reason" && error._tag !== "Cancelled")) continue
      const hidden = redaction.json(value)
      if (hidden === value) continue
      fields.set(key, hidden)
      isHidden = true
    }
    // the cast: its own class makes it anew of fields of the same types, so that its stack has nothing of the old text
    return isHidden ? Reflect.construct(error.constructor, [Object.fromEntries(fields)]) as typeof error : error
  }
})
