/** The login of a server. */
import * as Schema from "effect/Schema"
import { shape } from "./fieldSchema.ts"
import { login } from "./loginFields.ts"

const needsIssuer = "a client secret needs the issuer of its authorization server, such as " +
  "\"https://login.example.com\": without it, the MCP server would choose where the secret is sent"

/** A `clientSecret` needs an `issuer`. */
export const OAuth = Schema.Struct(shape(login))

/** `false`: not at all. The filter names the field instead of one error for each member of the union. */
export const Login = Schema.Union(Schema.Literal(false), OAuth).pipe(
  Schema.filter((oauth) =>
    oauth === false || oauth.clientSecret === undefined || (oauth.issuer ?? "") !== ""
      ? undefined
      : { path: ["issuer"], message: needsIssuer }
  )
)
