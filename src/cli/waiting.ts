/** What waits for somebody to agree to it, for people and programs. */
import * as Schema from "effect/Schema"
import * as Trust from "../config/Trust.ts"
import { isCredential } from "../text/credentialName.ts"
import * as Asking from "./asking.ts"
import type * as Screen from "./Screen.ts"

export const Waiting = Schema.Struct({
  server: Schema.String,
  root: Schema.String,
  /** What is agreed to: everything below, as it is now. */
  fingerprint: Schema.String,
  why: Schema.Literal("new", "changed", "unreadable"),
  /** For `unreadable`: the file, the fault and its remedy. */
  detail: Schema.optional(Schema.String),
  /** The variables of the environment that it asks for. */
  variables: Schema.Array(Schema.Struct({ name: Schema.String, credential: Schema.Boolean })),
  consent: Schema.Array(Schema.Struct({
    label: Schema.String,
    text: Schema.String,
    level: Schema.Literal("plain", "warning")
  }))
})

export const of = (one: Trust.Pending): typeof Waiting.Type => ({
  server: one.server,
  root: one.root,
  fingerprint: one.fingerprint,
  why: one.why,
  ...(one.detail === undefined ? {} : { detail: one.detail }),
  variables: one.variables.map((name) => ({ name, credential: isCredential(name) })),
  consent: Trust.consent(one)
})

const reasons: Record<Trust.Why, string> = {
  new: "nobody has agreed to it yet",
  changed: "it is not what was agreed to",
  unreadable: "its approval cannot be read"
}

export const lines = (one: Trust.Pending): ReadonlyArray<Screen.Line> => [
  [{ text: one.server, style: "strong" }, `: ${reasons[one.why]}`],
  ...(one.detail === undefined ? [] : [`  ${one.detail}`]),
  ...Asking.candidate(one),
  [{ text: "  fingerprint:  ", style: "weak" }, one.fingerprint]
]

/** What it may read of the environment if it is agreed to now. */
export const grants = (
  { variables }: Pick<Trust.Candidate, "variables">,
  wanted: ReadonlyArray<string>
): ReadonlyArray<string> =>
  wanted.length === 0
    ? variables.filter((name) => !isCredential(name))
    : variables.filter((name) => wanted.includes(name))
