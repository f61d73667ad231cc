/**
 * What stands beside the servers in the native format.
 *
 * @internal
 */
import * as Schema from "effect/Schema"
import { lookAlike } from "../names/lookAlike.ts"
import { anyCase, flag, older, optional, reserved, server, text } from "./nativeShape.ts"

/**
 * No control characters, no `*` and no blanks that nobody sees, and no hyphen in front: a name that begins like an option
 * is one on a command line.
 */
const nameCharacters = new RegExp(
  `^(?!(?:${reserved})$)(?![- ])(?!.* (?: |$))[^\\u0000-\\u001f\\u007f-\\u009f*]+$`
)

const name = Schema.String.pipe(
  Schema.pattern(nameCharacters),
  Schema.maxLength(128),
  // what a pattern cannot say
  Schema.filter((written) => lookAlike(written) === undefined, { jsonSchema: {} })
)

const list = (key: string, of: string) =>
  Schema.Array(Schema.NonEmptyString).annotations({ description: `${key}: ${of}` })

const scheme = `${anyCase("https?")}|${anyCase("wss?")}|[^:/?#\\s]*\\*[^:/?#\\s]*`
const authority = "\\[[0-9A-Fa-f:.*]+\\](?::[0-9*]+)?|[^/?#\\s<>^|%\\\\[\\]]+"

/** A variable says what it stands for only later. */
const addresses = new RegExp(`^(?:\\*|(?:${scheme})://(?:${authority})(?:[/?#]\\S*)?|.*\\$\\{.*)$`)

const ruled = {
  name: Schema.NonEmptyString.annotations({
    description: "By name, with * for any characters: a convenience, and no protection, because a name can be changed."
  }),
  command: Schema.Tuple([Schema.NonEmptyString], Schema.String).annotations({
    description: "By the whole command line, word by word."
  }),
  commandLine: Schema.NonEmptyString.annotations({
    description: "By the command line, its words joined by spaces, with * for any characters."
  }),
  program: Schema.NonEmptyString.annotations({ description: "By the program, whatever its arguments." }),
  url: text(addresses, "By address, with * for any characters: https://*.example.com/*"),
  fingerprint: Schema.NonEmptyString.annotations({ description: "By fingerprint: this very configuration." })
}

const rule = Schema.Union(
  Schema.Struct({ name: ruled.name }),
  Schema.Struct({ command: ruled.command }),
  Schema.Struct({ commandLine: ruled.commandLine }),
  Schema.Struct({ program: ruled.program }),
  Schema.Struct({ url: ruled.url }),
  Schema.Struct({ fingerprint: ruled.fingerprint })
).annotations({ identifier: "rule" })

/** @internal */
export const policy = Schema.Struct({
  allow: optional(Schema.Array(rule).annotations({ description: "Only these servers, if there is any rule." })),
  deny: optional(Schema.Array(rule).annotations({ description: "Not these servers, whatever allows them." })),
  managedOnly: optional(flag("Whether only an administrator's list of what is allowed counts.")),
  requireIdentity: optional(
    flag("Whether rules about names alone allow nothing: then each server needs one about its command or url.")
  ),
  managed_only: optional(older(Schema.Boolean, "`managedOnly`")),
  exclusive: optional(flag("Whether an administrator's file silences all other files.")),
  providers: optional(list("providers", "the hosts whose files may be read."))
}).annotations({ identifier: "policy", title: "Which servers may be used" })

const patterns = (description: string) => Schema.Array(Schema.NonEmptyString).annotations({ description })

/** @internal */
export const permissions = Schema.Struct({
  rules: optional(
    Schema.Array(
      Schema.Struct({
        tool: Schema.NonEmptyString.annotations({
          description: "server/tool or mcp__server__tool, with * for any characters; server/resource:URI."
        }),
        action: Schema.Literal("allow", "ask", "deny"),
        args: optional(
          Schema.Record({ key: Schema.String, value: Schema.String }).annotations({
            description: "Only calls with these arguments, each a pattern."
          })
        )
      }).annotations({ identifier: "permission" })
    ).annotations({ description: "deny counts more than ask, and ask more than allow." })
  ),
  allow: optional(patterns("What a model may use without asking: each needs the name of a server, or is mcp__*.")),
  ask: optional(patterns("What somebody has to agree to.")),
  deny: optional(patterns("What nobody may use."))
}).annotations({ identifier: "permissions", title: "Which tools may be used" })

/** @internal */
export const input = Schema.Struct({
  id: Schema.NonEmptyString.annotations({ description: "What ${input:id} asks for." }),
  description: optional(Schema.String),
  secret: optional(flag("Whether the answer is hidden while it is typed.")),
  default: optional(Schema.String),
  choices: optional(Schema.Array(Schema.String))
}).annotations({ identifier: "input", title: "A question to a person" })

/** @internal */
export const document = Schema.Struct(
  {
    $schema: optional(Schema.String),
    mcpServers: optional(
      Schema.Record({ key: name, value: server })
        .annotations({
          description: "The servers, by name."
        })
    ),
    inputs: optional(Schema.Array(input).annotations({ description: "What is asked before a server is connected." })),
    imports: optional(
      Schema.Array(Schema.String).annotations({
        description: "The hosts whose files are read too, the strongest first; []: none; absent: what is usual."
      })
    ),
    policy: optional(policy),
    permissions: optional(permissions),
    security: optional(
      Schema.Struct(
        {
          mcp_server_allowlist: optional(list("mcp_server_allowlist", "only the servers of these names.")),
          mcp_server_denylist: optional(list("mcp_server_denylist", "not the servers of these names."))
        },
        Schema.Record({ key: Schema.String, value: Schema.Unknown })
      )
    )
  },
  Schema.Record({ key: Schema.String, value: Schema.Unknown })
).annotations({
  title: "MCP client configuration",
  description:
    "Servers of the Model Context Protocol, as effect-mcp-runtime reads them (mcp-client.json, .jsonc, .toml)."
})
