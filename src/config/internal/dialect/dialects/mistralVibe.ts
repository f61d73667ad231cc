/**
 * Mistral Vibe: an array of tables, and keys of which the header and the form are said beside them.
 *
 * @internal
 */
import type * as ConfigDocument from "../../../ConfigDocument.ts"
import * as Interpolation from "../../../Interpolation.ts"
import { isTable, isText } from "../values.ts"
import { type HostTable, otherLogin, sampled } from "./table.ts"

/** The header that holds a key, as the template that the host's three fields mean. */
const keyHeader = (entry: ConfigDocument.Table): readonly [string, string] | undefined => {
  const [variable, header, format] = ["api_key_env", "api_key_header", "api_key_format"].map((key) => entry.get(key))
  if (!isText(variable) || !/^\w+$/.test(variable)) return undefined
  const form = isText(format) ? format : "Bearer {token}"
  return [
    isText(header) ? header : "Authorization",
    form.split("{token}").map(Interpolation.literal).join(`\${env:${variable}}`)
  ]
}

/** @internal */
export const mistralVibe: HostTable = {
  host: "mistral-vibe",
  title: "Mistral Vibe",
  format: "toml",
  shared: true,
  locations: [
    { scope: "project", origin: "workspace", path: "{root}/.vibe/config.toml" },
    { scope: "user", origin: "home", path: "~/.vibe/config.toml", variable: ["VIBE_HOME", "config.toml"] }
  ],
  roots: [["mcp_servers"]],
  list: true,
  // it has none itself: this is for the header that `prepare` makes
  variables: { syntax: Interpolation.native, in: ["headers"] },
  fields: {
    api_key_env: { is: "ignored" },
    api_key_header: { is: "ignored" },
    api_key_format: { is: "ignored" },
    auth: { is: "extra", lacking: otherLogin },
    prompt: { is: "extra" },
    sampling_enabled: { is: "extra", lacking: sampled },
    startup_timeout_sec: { is: "startupTimeout", unit: "s" },
    tool_timeout_sec: { is: "requestTimeout", unit: "s" },
    disabled_tools: { is: "deny" }
  },
  prepare: (entry, notes) => {
    const written = entry.get("headers")
    const key = entry.has("url") ? keyHeader(entry) : undefined
    if (key === undefined && !isTable(written)) return entry
    const headers = new Map<string, ConfigDocument.Value>()
    for (const [name, value] of isTable(written) ? written : []) {
      const { template, warnings } = Interpolation.canonical({}, isText(value) ? value : "")
      for (const warning of warnings) notes.warn(warning, `headers.${name}`)
      headers.set(name, isText(value) ? template : value)
    }
    if (key !== undefined) headers.set(...key)
    return new Map([...entry, ["headers", headers]])
  }
}
