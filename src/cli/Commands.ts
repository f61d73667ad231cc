/** The commands of the program, in the order of its help. A command is loaded when it is run or explained. */
import type * as Command from "./Command.ts"

export const all: ReadonlyArray<Command.Entry> = [
  {
    name: "list",
    summary: "List the servers: where each comes from, and whether it works.",
    load: () => import("./commands/list.ts")
  },
  {
    name: "tools",
    summary: "List the tools of all servers, or of one, or those that fit some words.",
    load: () => import("./commands/tools.ts")
  },
  {
    name: "show",
    summary: "Show a tool: its description, its arguments and its result.",
    load: () => import("./commands/show.ts")
  },
  {
    name: "call",
    summary: "Call a tool, and write its result.",
    load: () => import("./commands/call.ts")
  },
  {
    name: "resources",
    summary: "List the resources of the servers, and the templates for more.",
    load: () => import("./commands/resources.ts")
  },
  {
    name: "read",
    summary: "Read a resource of a server, and write it.",
    load: () => import("./commands/read.ts")
  },
  {
    name: "prompts",
    summary: "List the prompts of the servers, and their arguments.",
    load: () => import("./commands/prompts.ts")
  },
  {
    name: "prompt",
    summary: "Write the messages of a prompt.",
    load: () => import("./commands/prompt.ts")
  },
  {
    name: "status",
    summary: "Show how the servers are: state, circuit breaker, answer times, calls and losses.",
    load: () => import("./commands/status.ts")
  },
  {
    name: "events",
    summary: "Start the servers, and follow what happens to them.",
    load: () => import("./commands/events.ts")
  },
  {
    name: "config",
    summary: "Show which configurations were found, what shadows what, and what is wrong with them.",
    load: () => import("./commands/config.ts")
  },
  {
    name: "add",
    summary: "Look a server up in the MCP registry, and add it to a configuration.",
    load: () => import("./commands/add.ts")
  },
  {
    name: "approve",
    summary: "Show the servers and tools that wait for approval, and approve them.",
    load: () => import("./commands/approve.ts")
  },
  {
    name: "revoke",
    summary: "Show the approvals of this workspace, and take one back.",
    load: () => import("./commands/revoke.ts")
  },
  {
    name: "auth",
    summary: "Log in to remote servers and out, and show the logins.",
    load: () => import("./commands/auth.ts")
  },
  {
    name: "doctor",
    summary: "Try every server step by step, and say what is wrong and what to do.",
    load: () => import("./commands/doctor.ts")
  },
  {
    name: "serve",
    summary: "Offer all servers as one MCP server, to the program that starts this one, or at an address.",
    load: () => import("./commands/serve.ts")
  },
  {
    name: "smoke",
    summary: "Try the whole runtime on this machine: one line for each promise.",
    load: () => import("./commands/smoke.ts")
  },
  {
    name: "repl",
    summary: "Keep the servers connected, and run one command after the other.",
    load: () => import("./commands/repl.ts")
  }
]
