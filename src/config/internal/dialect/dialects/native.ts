/**
 * Our own format: `mcp-client.*` and `.mcp.json` in camel case, and the TOML of `[mcp_servers.<name>]` in snake case.
 *
 * @internal
 */
import * as Interpolation from "../../../Interpolation.ts"
import * as ServerPolicy from "../../../ServerPolicy.ts"
import { faults } from "../../native/nativeBeside.ts"
import * as permissionsDocument from "../../policy/permissionsDocument.ts"
import { isList, isText, list, scalar, tables } from "../values.ts"
import { common, type Field, type Fields, type HostTable } from "./table.ts"

const camel: Fields = {
  timeout: { is: "unknown", instead: "requestTimeoutMs" },
  inheritEnv: { is: "inheritEnv" },
  withoutEnv: { is: "withoutEnv" },
  headersCommand: { is: "headersCommand" },
  required: { is: "required" },
  lazy: { is: "lazy" },
  startupTimeoutMs: { is: "startupTimeout", unit: "ms" },
  requestTimeoutMs: { is: "requestTimeout", unit: "ms" },
  title: { is: "title" },
  protocol: { is: "protocol" },
  source: { is: "extra" }
}

/**
 * The same in snake case, with the words that only the TOML has.
 *
 * @internal
 */
export const snake: Fields = {
  program: { is: "command" },
  env_file: { is: "envFile" },
  inherit_env: { is: "inheritEnv" },
  env_http_headers: { is: "headerVariables" },
  bearer_token_env_var: { is: "bearerVariable" },
  headers_command: { is: "headersCommand" },
  startup_timeout_sec: { is: "startupTimeout", unit: "s" },
  startup_timeout_ms: { is: "startupTimeout", unit: "ms" },
  tool_timeout_sec: { is: "requestTimeout", unit: "s" },
  request_timeout_ms: { is: "requestTimeout", unit: "ms" },
  enabled_tools: { is: "allow" },
  disabled_tools: { is: "deny" },
  auto_approve: { is: "autoApprove" }
}

/** The spelling in camel case; what has none of its own is written among the headers. */
const successor = (meaning: Field["is"]): string =>
  Object.entries({ ...common, ...camel }).find(([, { is }]) => is === meaning)?.[0] ?? "headers"

const deprecated = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [key, { ...field, deprecated: true, instead: successor(field.is) }])
  )

const files = (folder: string, name: string): ReadonlyArray<string> =>
  ["json", "jsonc", "toml"].map((ending) => `${folder}/${name}.${ending}`)

/** @internal */
export const native: HostTable = {
  host: "native",
  title: "this application",
  format: "json",
  locations: [
    {
      scope: "managed",
      origin: "system",
      path: {
        linux: files("/etc/{app}", "mcp-client"),
        darwin: files("/Library/Application Support/{app}", "mcp-client"),
        win32: files("{programdata}/{app}", "mcp-client")
      }
    },
    {
      scope: "local",
      origin: "workspace",
      path: [...files("{dir}", "mcp-client.local"), "{dir}/.cocode.local.toml"]
    },
    { scope: "project", origin: "workspace", path: [...files("{dir}", "mcp-client"), "{dir}/.mcp.toml"] },
    { scope: "user", origin: "home", path: [...files("{config}/{app}", "mcp-client"), "{config}/{app}/mcp.toml"] }
  ],
  roots: [["mcpServers"], ["mcp_servers"]],
  aside: ["imports", "policy", "inputs", "security", "permissions"],
  variables: { syntax: Interpolation.native },
  fields: { ...camel, ...deprecated(snake) },
  under: { mcp_servers: { fields: snake } },
  inputs: (beside) =>
    tables(beside.get("inputs")).flatMap((input) => {
      const [id, description, fallback] = [input.get("id"), input.get("description"), input.get("default")]
      const choices = input.get("choices")
      return isText(id) && id !== ""
        ? [{
          id,
          ...(isText(description) ? { description } : {}),
          ...(input.get("secret") === true ? { secret: true } : {}),
          ...(scalar(fallback) === undefined ? {} : { default: scalar(fallback) }),
          ...(isList(choices) ? { choices: choices.filter(isText) } : {})
        }]
        : []
    }),
  policy: (root, { origin, scope }) => ServerPolicy.fromDocument(root, { provider: "native", origin, scope }).policy,
  permissions: (root, context) => permissionsDocument.fromDocument(root, context).rules,
  inspect: (root, { origin, scope }) => [
    ...faults(root),
    ...ServerPolicy.fromDocument(root, { provider: "native", origin, scope }).invalid
      .map(({ at, detail }) => ({ kind: "invalid-policy", severity: "warning", at, detail }) as const),
    ...permissionsDocument.fromDocument(root, { origin, scope }).faults
      .map(({ at, detail }) => ({ kind: "invalid-permission", severity: "warning", at, detail }) as const)
  ],
  imports: (root) => root.has("imports") ? list(root.get("imports")).filter(isText) : undefined
}
