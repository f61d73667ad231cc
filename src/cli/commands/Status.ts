/** `mcp-runtime status`: how the servers are. */
import type * as Command from "../Command.ts"

export const command: Command.Command = {
  name: "status",
  summary: "Show how the servers are: state, circuit breaker, answer times, calls and losses.",
  description: [
    "Every server that may be started is started and asked whether it is there. With --watch that goes on until Ctrl-C: a "
    + "table on a terminal is kept up to date, and a pipe gets one line for each change. What changes in files is followed.",
    "Calls are those of this program that have ended, and + those under way. Beside the last latency are the ones before "
    + "it, as bars; a cross is an answer that did not come."
  ],
  args: [],
  options: [
    { name: "watch", short: "w", about: "Go on, and show what changes." },
    { name: "every", value: "DURATION", about: "How often servers are asked whether they are there (default: 5s)." },
    { name: "for", value: "DURATION", about: "How long to go on (default: until Ctrl-C)." }
  ],
  examples: [
    ["status", "The servers as they are now."],
    ["status --watch --json", "A line of JSON for each change."]
  ],
  load: () => import("../internal/status.ts")
}
