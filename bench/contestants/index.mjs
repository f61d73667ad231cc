/**
 * The contestants by name. Each is loaded on its own, so that a cell pays for nothing but its own imports. `needs` is the
 * package of a client that is installed on demand.
 */
const runtime = (face) => async (dist) => (await import("./runtime.mjs")).make({ dist, face })
const client = (adapter) => async (dist) => (await import("./client.mjs")).make({ adapter, dist })

/** The one that every ratio is taken to. */
export const reference = "sdk1"

/** The contestants that the targets are for: `McpRuntime` in one long fiber, and with one `runPromise` for each call. */
export const ours = ["runtime", "runtime-promise"]

export const contestants = {
  sdk1: { title: "SDK 1.x", load: async () => (await import("./sdk1.mjs")).contestant },
  sdk2: { title: "client 2.x", load: async () => (await import("./sdk2.mjs")).contestant },
  "ai-sdk": {
    title: "ai-sdk",
    needs: "@ai-sdk/mcp",
    load: async () => (await import("../peers/aiSdk.mjs")).contestant
  },
  mcporter: {
    title: "mcporter",
    needs: "mcporter",
    load: async () => (await import("../peers/mcporter.mjs")).contestant
  },
  runtime: { title: "McpRuntime, fiber", load: runtime("fiber") },
  "runtime-promise": { title: "McpRuntime, runPromise", load: runtime("promise") },
  client: { title: "McpClient", load: client("layer") },
  "client-sdk1": { title: "McpClient over SDK 1.x", load: client("layerSdk") }
}
