/**
 * Documents that come near to those of the registry and of policies.
 */
import * as FastCheck from "effect/FastCheck"
import type * as Document from "../../src/config/document.ts"

const keys = [
  "name",
  "version",
  "packages",
  "remotes",
  "server",
  "registryType",
  "registry_type",
  "identifier",
  "transport",
  "type",
  "runtimeHint",
  "runtimeArguments",
  "packageArguments",
  "environmentVariables",
  "value",
  "default",
  "isRequired",
  "isSecret",
  "variables",
  "choices",
  "url",
  "headers",
  "command",
  "args",
  "env",
  "valueHint",
  "allowedMcpServers",
  "deniedMcpServers",
  "serverName",
  "serverUrl",
  "serverCommand",
  "mcp",
  "allowed",
  "excluded",
  "disabledServers",
  "mcp_servers",
  "identity",
  "amp.mcpPermissions",
  "matches",
  "action",
  "enabledMcpjsonServers",
  "disabledMcpjsonServers",
  "__proto__",
  "constructor"
]
const words = [
  "npm",
  "pypi",
  "oci",
  "nuget",
  "stdio",
  "sse",
  "streamable-http",
  "named",
  "positional",
  "allow",
  "reject",
  "@a/b",
  "a",
  "--evil",
  "{a}",
  "{{{",
  "${",
  "${user_config.a}",
  "${HOME}",
  "https://a.example.com/{a}",
  "file:///x",
  "*"
]

/** Documents that come near to being sensible, and then are not. */
export const documents: FastCheck.Arbitrary<Document.Value> = FastCheck.letrec<{ value: Document.Value }>((tie) => ({
  value: FastCheck.oneof(
    { maxDepth: 6, depthSize: "medium" },
    FastCheck.constantFrom<Document.Value>(...words, null, true, false, 0, -1, Infinity, 2n ** 60n),
    FastCheck.string(),
    FastCheck.array(tie("value"), { maxLength: 4 }),
    FastCheck.array(FastCheck.tuple(FastCheck.constantFrom(...keys), tie("value")), { maxLength: 8 }).map((pairs) =>
      new Map(pairs)
    )
  )
})).value

/** The table that a document is, or one in which it is. */
export const tableOf = (value: Document.Value): Document.Table =>
  value instanceof Map ? value : new Map([["server", value]])
/** Plain data as a document. */
export const json = (value: unknown): Document.Value => {
  if (Array.isArray(value)) return value.map(json)
  return typeof value === "object" && value !== null
    ? new Map(Object.entries(value).map(([key, part]): [string, Document.Value] => [key, json(part)]))
    : value as Document.Value
}
