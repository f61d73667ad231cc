/** The commands of the program, in the order of its help. A command is loaded when it is run or explained. */
import type * as Command from "./Command.ts"

type Row = readonly [name: string, summary: string, load: Command.Entry["load"]]

const rows: ReadonlyArray<Row> = [
  ["list", "List the servers: where each comes from, and whether it works.", () => import("./commands/list.ts")],
  [
    "tools",
    "List the tools of all servers, or of one, or those that fit some words.",
    () => import("./commands/tools.ts")
  ],
  ["show", "Show a tool: its description, its arguments and its result.", () => import("./commands/show.ts")],
  ["call", "Call a tool, and write its result.", () => import("./commands/call.ts")],
  [
    "resources",
    "List the resources of the servers, and the templates for more.",
    () => import("./commands/resources.ts")
  ],
  ["read", "Read a resource of a server, and write it.", () => import("./commands/read.ts")],
  ["prompts", "List the prompts of the servers, and their arguments.", () => import("./commands/prompts.ts")],
  ["prompt", "Write the messages of a prompt.", () => import("./commands/prompt.ts")],
  [
    "status",
    "Show how the servers are: state, circuit breaker, answer times, calls and losses.",
    () => import("./commands/status.ts")
  ],
  ["events", "Start the servers, and follow what happens to them.", () => import("./commands/events.ts")],
  [
    "config",
    "Show which configurations were found, what shadows what, and what is wrong with them.",
    () => import("./commands/config.ts")
  ],
  ["add", "Look a server up in the MCP registry, and add it to a configuration.", () => import("./commands/add.ts")],
  [
    "approve",
    "Show the servers and tools that wait for approval, and approve them.",
    () => import("./commands/approve.ts")
  ],
  ["revoke", "Show the approvals of this workspace, and take one back.", () => import("./commands/revoke.ts")],
  ["auth", "Log in to remote servers and out, and show the logins.", () => import("./commands/auth.ts")],
  [
    "doctor",
    "Try every server step by step, and say what is wrong and what to do.",
    () => import("./commands/doctor.ts")
  ],
  [
    "serve",
    "Offer all servers as one MCP server, to the program that starts this one, or at an address.",
    () => import("./commands/serve.ts")
  ],
  ["smoke", "Try the whole runtime on this machine: one line for each promise.", () => import("./commands/smoke.ts")],
  ["repl", "Keep the servers connected, and run one command after the other.", () => import("./commands/repl.ts")]
]

export const all: ReadonlyArray<Command.Entry> = rows.map(([name, summary, load]) => ({ name, summary, load }))
