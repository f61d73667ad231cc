/**
 * What a connection tells, without the secrets that are known while it lives and without what looks like one. Errors
 * leave it here and nowhere else, so none of them has to know of secrets.
 *
 * @internal
 */
import * as McpError from "../../McpError.ts"
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
  "decision",
  "direction",
  "errno",
  "exceeds",
  "kind",
  "operation",
  "outcome",
  "phase",
  "reason",
  "redirect",
  "server",
  "signal",
  "why"
])

type Unset = ReadonlyArray<Connector.Unset>

/** The request itself is refused, and not its address or its rate. */
const isRefusal = ({ reason, status }: McpError.HttpError): boolean =>
  reason === "forbidden" || (reason === "status" && (status === 400 || status === 407 || status === 422))

/** Names the unset variables in an error that their missing headers may have caused. */
const explained = (unset: Unset, error: McpError.McpError): McpError.McpError => {
  switch (error._tag) {
    case "HttpError":
      return isRefusal(error) ? new McpError.HttpError({ ...error, unset }) : error
    case "AuthorizationFailed":
      return new McpError.AuthorizationFailed({ ...error, unset })
    case "HandshakeFailed":
      return error.reason === "rejected" ? new McpError.HandshakeFailed({ ...error, unset }) : error
    default:
      return error
  }
}

/** @internal */
export const make = (redaction: Redaction.Redactor, unset: Unset = []): Hiding => ({
  text: redaction.text,
  error: (given) => {
    // the cast: the same class
    const error = unset.length === 0 ? given : explained(unset, given) as typeof given
    const fields = new Map<string, unknown>(Object.entries(error))
    let isHidden = false
    for (const [key, value] of fields) {
      if (own.has(key)) continue
      const hidden = redaction.json(value)
      if (hidden === value) continue
      fields.set(key, hidden)
      isHidden = true
    }
    // the cast: its own class makes it anew of fields of the same types, so that its stack has nothing of the old text
    return isHidden ? Reflect.construct(error.constructor, [Object.fromEntries(fields)]) as typeof error : error
  }
})
