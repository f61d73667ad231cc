/** The commands of the program, in the order of its help. A command is loaded when it is run or explained. */
import type * as Command from "./Command.ts"

type Row = readonly [name: string, summary: string, load: Command.Entry["load"]]

const rows: ReadonlyArray<Row> = [
  ["list", "List servers with their state and source", () => import("./commands/list.ts")],
  ["tools", "List the tools of all servers or of one server", () => import("./commands/tools.ts")],
  ["show", "Show a tool: description, parameters and result", () => import("./commands/show.ts")],
  ["call", "Call a tool and print its result", () => import("./commands/call.ts")],
  ["resources", "List resources and resource templates", () => import("./commands/resources.ts")],
  ["read", "Read a resource and print it", () => import("./commands/read.ts")],
  ["prompts", "List prompts and their arguments", () => import("./commands/prompts.ts")],
  ["prompt", "Get a prompt and print its messages", () => import("./commands/prompt.ts")],
  ["status", "Show state, circuit breaker, latency and calls of servers", () => import("./commands/status.ts")],
  ["events", "Connect to the servers and print their events", () => import("./commands/events.ts")],
  ["config", "Show, edit and validate configuration files", () => import("./commands/config.ts")],
  ["add", "Add a server from the MCP registry", () => import("./commands/add.ts")],
  ["approve", "List and approve servers and tools that need approval", () => import("./commands/approve.ts")],
  ["revoke", "List and revoke approvals", () => import("./commands/revoke.ts")],
  ["auth", "Log in to and out of remote servers", () => import("./commands/auth.ts")],
  ["doctor", "Check each server step by step and explain failures", () => import("./commands/doctor.ts")],
  ["serve", "Serve all servers as one MCP server, over stdio or HTTP", () => import("./commands/serve.ts")],
  ["smoke", "Test the runtime on this machine with a demo server", () => import("./commands/smoke.ts")],
  ["repl", "Run commands interactively over open connections", () => import("./commands/repl.ts")]
]

export const all: ReadonlyArray<Command.Entry> = rows.map(([name, summary, load]) => ({ name, summary, load }))
