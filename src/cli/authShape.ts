/** Logins as a document and as a table. */
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import type * as Credentials from "../auth/Credentials.ts"
import * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import type * as Screen from "./Screen.ts"
import * as Table from "./table.ts"

const State = Schema.Literal("logged-in", "logged-out", "configured", "blocked", "disabled", "invalid", "unknown")

const Login = Schema.Struct({
  server: Schema.String,
  /** `configured`: there is no login, because the configuration has the credentials. */
  state: State,
  issuer: Schema.NullOr(Schema.String),
  scopes: Schema.Array(Schema.String),
  /** Milliseconds since 1970. */
  expiresAt: Schema.NullOr(Schema.Number),
  /** Whether it goes on after that by itself. */
  renewable: Schema.Boolean,
  error: Schema.NullOr(Schema.Struct({ tag: Schema.String, message: Schema.String }))
})

/** The document of `auth --json`. */
export const Logins = Schema.Struct({
  /** In words for a person. */
  keptIn: Schema.String,
  servers: Schema.Array(Login)
})

export type Login = typeof Login.Type

export const without = (
  server: string,
  state: Login["state"],
  error?: McpRuntime.ConnectFailure
): Login => ({
  server,
  state,
  issuer: null,
  scopes: [],
  expiresAt: null,
  renewable: false,
  error: error === undefined ? null : { tag: McpError.label(error), message: error.message }
})

export const of = (server: string, status: Credentials.Status): Login => {
  switch (status._tag) {
    case "Configured":
      return without(server, "configured")
    case "LoggedOut":
      return without(server, "logged-out")
    case "LoggedIn":
      return {
        server,
        state: "logged-in",
        issuer: status.issuer,
        scopes: status.scope?.split(" ").filter((scope) => scope !== "") ?? [],
        expiresAt: status.expiresAt ?? null,
        renewable: status.renewable,
        error: null
      }
  }
}

const styles: Record<Login["state"], Screen.Style> = {
  "logged-in": "good",
  "logged-out": "warning",
  "configured": "plain",
  "blocked": "warning",
  "disabled": "weak",
  "invalid": "bad",
  "unknown": "bad"
}

const minute = (milliseconds: number): string =>
  `${DateTime.formatIso(DateTime.unsafeMake(milliseconds)).slice(0, 16).replace("T", " ")} UTC`

const until = ({ expiresAt, renewable, state }: Login): string => {
  if (state !== "logged-in") return "-"
  if (renewable) return "renewed by itself"
  return expiresAt === null ? "not said" : minute(expiresAt)
}

const header: ReadonlyArray<Table.Column> = [
  { title: "SERVER" },
  { title: "LOGIN" },
  { title: "RIGHTS", rank: 3 },
  { title: "UNTIL", rank: 2 },
  { title: "ISSUER", rank: 1 }
]

export const table = (logins: ReadonlyArray<Login>, columns: number): ReadonlyArray<Screen.Line> =>
  Table.narrowed(
    header,
    logins.map((login) => [
      { text: login.server, style: "strong" },
      { text: login.state, style: styles[login.state] },
      login.scopes.length === 0 ? "-" : login.scopes.join(" "),
      until(login),
      login.issuer ?? "-"
    ]),
    columns
  )
