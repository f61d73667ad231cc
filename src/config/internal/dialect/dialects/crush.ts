/**
 * Crush: `mcp`, with the shell's variables in every text. Its `crushrc` is a program, and never looked at.
 *
 * @internal
 */
import type { HostTable } from "./table.ts"

/** @internal */
export const crush: HostTable = {
  host: "crush",
  title: "Crush",
  format: "json",
  shared: true,
  locations: [
    { scope: "project", origin: "workspace", path: ["{dir}/.crush.json", "{dir}/crush.json"] },
    {
      scope: "user",
      origin: "home",
      path: {
        linux: "{config}/crush/crush.json",
        darwin: "{config}/crush/crush.json",
        win32: ["~/.config/crush/crush.json", "{localappdata}/crush/crush.json"]
      },
      variable: ["CRUSH_GLOBAL_CONFIG", "crush.json"]
    },
    {
      // of the machine, and yet the weakest
      scope: "user",
      origin: "system",
      path: { linux: "/etc/crush/crush.json", darwin: "/etc/crush/crush.json" }
    }
  ],
  roots: [["mcp"]],
  typeRequired: { for: "all", is: "host-would-reject" },
  variables: { syntax: { bare: true, dollar: true, command: true } },
  fields: {
    timeout: { is: "startupTimeout", unit: "s" },
    enabled_tools: { is: "allow" },
    disabled_tools: { is: "deny" },
    oauth_client_id: { is: "oauth", part: "clientId" },
    oauth_client_secret: { is: "oauth", part: "clientSecret" },
    oauth_callback_port: { is: "oauth", part: "callbackPort" }
  }
}
