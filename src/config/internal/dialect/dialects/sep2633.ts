/**
 * SEP-2633, the draft of a `mcp.json` for all hosts.
 *
 * @internal
 */
import type { HostTable } from "./table.ts"

/** @internal */
export const sep2633: HostTable = {
  host: "sep-2633",
  title: "SEP-2633",
  format: "json",
  // a draft: no host has its files anywhere yet
  locations: [],
  typeRequired: { for: "all", is: "fault" },
  variables: { syntax: { env: true, input: true, pipes: true } },
  fields: { title: { is: "title" } }
}
