/** `mcp-runtime serve`: all servers behind one. */
import type * as Command from "../Command.ts"

export const command: Command.Command = {
  name: "serve",
  summary: "Offer all servers as one MCP server, to the program that starts this one, or at an address.",
  description: [
    "Tools and prompts are named after their server. A server that fails costs the others nothing, changes of files are "
    + "followed, and what nobody has agreed to is not started. Every caller has connections of its own to the servers that "
    + "it calls, except those that --share names.",
    "A tool that a rule denies is not offered. A call that no rule decides is put to the person behind the client, if the "
    + "client can ask (elicitation). For a client that cannot ask, read-only tools of trusted servers are allowed and all "
    + "other calls are refused, unless --allow or --caller-decides allows them. A server is trusted if a file of the user or "
    + "the administrator, or of --config, names it; one that a workspace or a plugin names is not.",
    "Without --http it speaks over the standard input and output until the input ends. With --http it listens on this "
    + "machine alone, and callers show a bearer token: that of the variable MCP_RUNTIME_TOKEN or of --token-file, or one "
    + "that is made and told. /health is for anybody; /status and /metrics want the token."
  ],
  args: [],
  options: [
    { name: "stdio", about: "Over the standard input and output (that is what happens without --http)." },
    { name: "http", value: "PORT", about: "At this port of this machine; 0 is any that is free." },
    { name: "host", value: "ADDRESS", about: "The address to listen at (default: 127.0.0.1)." },
    { name: "allow-host", value: "NAME", repeated: true, about: "A name by which it may be called, beside localhost." },
    { name: "allow-origin", value: "ORIGIN", repeated: true, about: "A page of a browser that may call it." },
    { name: "token-file", value: "FILE", about: "The bearer token of callers is in this file." },
    { name: "no-token", about: "Callers need no token. Any program of this machine can call it then." },
    { name: "search", about: "Offer a search, a description and a call in place of all tools." },
    { name: "plain", about: "Name tools as their servers do, where no two servers have the same name." },
    {
      name: "output",
      value: "HOW",
      choices: ["clean", "wrap", "asis"],
      about:
        "What becomes of the texts of servers: what hides in them is taken out (clean, the default), they are also "
        + "marked as somebody else's (wrap), or nothing (asis)."
    },
    { name: "share", value: "SERVER", repeated: true, about: "All callers share the connection to this server." },
    {
      name: "allow",
      value: "RULE",
      repeated: true,
      about: "Allow these calls without asking: demo/echo, demo/* or demo/resource:URI."
    },
    { name: "caller-decides", about: "Allow every call that no rule decides. The client must ask its user." }
  ],
  examples: [
    ["serve", "For the configuration of another program: command mcp-runtime, argument serve."],
    ["serve --http 3333 --server github --server files", "Two servers, at http://127.0.0.1:3333/mcp."],
    ["serve --allow 'github/*'", "All tools of a server, for clients that cannot ask a person."],
    ["serve --search", "Three tools, however many there are."]
  ],
  load: () => import("../internal/serve.ts")
}
