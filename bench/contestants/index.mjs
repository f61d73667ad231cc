/**
 * The contestants by name. Each is loaded on its own, so that a cell pays for nothing but its own imports.
 */
const session = (adapter, face) => async (dist) => (await import("./session.mjs")).make({ adapter, dist, face })

/** The one that every ratio is taken to. */
export const reference = "sdk1"

/** Those that the targets are for. */
export const ours = ["session", "runtime"]

export const contestants = {
  sdk1: { title: "sdk 1.x", load: async () => (await import("./sdk1.mjs")).contestant },
  sdk2: { title: "client 2.x", load: async () => (await import("./sdk2.mjs")).contestant },
  session: { title: "Session", load: session("layer", "fiber") },
  "session-promise": { title: "Session, runPromise", load: session("layer", "promise") },
  runtime: { title: "McpRuntime", load: async (dist) => (await import("./runtime.mjs")).make({ dist }) },
  "session-sdk1": { title: "Session, 1.x adapter", load: session("layerSdk", "fiber") }
}
