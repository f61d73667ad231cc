/**
 * OpenCode, and Kilo after it: commands as lists, `{env:NAME}`, and entries that only switch what a weaker file defines.
 *
 * @internal
 */
import { isTable } from "../values.ts"
import type { Fields, HostTable } from "./table.ts"

const fields: Fields = {
  environment: { is: "env" },
  timeout: { is: "timeouts", unit: "ms" }
}

const shape: Pick<HostTable, "format" | "merge" | "shared" | "patch" | "variables" | "beside"> = {
  format: "jsonc",
  merge: "deep",
  shared: true,
  patch: true,
  variables: { syntax: { braces: true } },
  beside: { tools: { is: "extra", lacking: "it switches none of its tools on or off here", byPrefix: true } }
}

/** The later of two files of a folder is the stronger one. */
const both = (
  folder: string,
  name: string
): ReadonlyArray<string> => [`${folder}/${name}.jsonc`, `${folder}/${name}.json`]

/** @internal */
export const opencode: HostTable = {
  host: "opencode",
  title: "OpenCode",
  ...shape,
  locations: [
    {
      scope: "managed",
      origin: "system",
      path: {
        linux: both("/etc/opencode", "opencode"),
        darwin: both("/Library/Application Support/opencode", "opencode"),
        win32: both("{programdata}/opencode", "opencode")
      }
    },
    { scope: "session", origin: "home", path: [], variable: ["OPENCODE_CONFIG", ""] },
    { scope: "session", origin: "home", path: [], variable: ["OPENCODE_CONFIG_DIR", "opencode.json"] },
    {
      scope: "project",
      origin: "workspace",
      path: [...both("{root}/.opencode", "opencode"), ...both("{dir}", "opencode")]
    },
    {
      scope: "user",
      origin: "home",
      // XDG on every platform, also on Windows
      path: [...both("~/.config/opencode", "opencode"), "~/.config/opencode/config.json"]
    }
  ],
  roots: [["mcp", "servers"], ["mcp"]],
  firstRoot: true,
  fields
}

const asks = (headers: unknown): boolean =>
  headers instanceof Map &&
  Array.from(headers.values()).some((value) => typeof value === "string" && /\{(env|file):/.test(value))

/** @internal */
export const kilo: HostTable = {
  host: "kilo",
  title: "Kilo Code",
  ...shape,
  locations: [
    {
      scope: "project",
      origin: "workspace",
      path: [
        ...both("{root}/.kilo", "kilo"),
        ...both("{root}/.kilocode", "kilo"),
        ...both("{root}", "kilo"),
        ...both("{root}", "opencode")
      ]
    },
    { scope: "user", origin: "home", path: both("~/.config/kilo", "kilo") }
  ],
  roots: [["mcp"]],
  fields,
  prepare: (entry, { fail }, { origin }) => {
    const headers = entry.get("headers")
    if (origin === "workspace" && isTable(headers) && asks(headers)) fail("variable-forbidden", "headers")
    return entry
  }
}
