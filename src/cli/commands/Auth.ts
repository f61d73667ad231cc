/** `mcp-runtime auth`: logs in to remote servers, and out. */
import type * as Command from "../Command.ts"

export const command: Command.Command = {
  name: "auth",
  summary: "Log in to remote servers and out, and show who is logged in where.",
  description: [
    "`auth login SERVER` opens the page of its authorization server in a browser and waits until it comes back, five "
    + "minutes or as long as --timeout says. The page's address is shown too. Where the browser is on another machine, the "
    + "address that it ends at can be put in, at a terminal.",
    "`auth status` asks no server. If the server that it names needs a login and has none, it ends with 5."
  ],
  args: [
    { name: "action", about: "login, logout or status; nothing is status.", required: false },
    { name: "server", about: "Which server.", required: false }
  ],
  options: [
    { name: "no-browser", about: "Open no browser of this machine: only show the address." },
    {
      name: "scope",
      value: "SCOPE",
      repeated: true,
      about: "Ask for this right, beside those that the login has; without it, for those that the server names."
    }
  ],
  examples: [
    ["auth login github", "Log in with a browser."],
    [
      "auth login github --no-browser",
      "Log in from another machine: open the address there, and put in where it ends."
    ],
    ["auth login github --scope repo", "Log in for more than before."],
    ["auth status --json", "Who is logged in where, with which rights and until when."],
    ["auth logout github", "Forget the login."]
  ],
  load: () => import("../internal/auth.ts")
}
