/** The constants of the protocol: versions by era, and the names of the stateless era's `_meta` keys. */

/** The versions with a handshake, the best first. */
export const sessionVersions: ReadonlyArray<string> = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07"
]

/** The versions without a handshake, the best first. */
export const statelessVersions: ReadonlyArray<string> = ["2026-07-28"]

/** All versions, the best first. */
export const versions: ReadonlyArray<string> = [...statelessVersions, ...sessionVersions]

/** The first version of the stateless era; versions are dates, so they compare as texts. */
export const firstStatelessVersion = "2026-07-28"

/** Keys of `_meta` that the stateless era reserves. */
export const metaKey = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  logLevel: "io.modelcontextprotocol/logLevel"
} as const

/** The name and version that servers get. */
export const clientInfo = { name: "effect-mcp-runtime", version: "0.2.0" } as const
