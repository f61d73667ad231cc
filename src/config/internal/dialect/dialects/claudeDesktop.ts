/**
 * Claude Desktop: programs only, and no variables. What is behind an address is a connector there, and not in the file.
 *
 * @internal
 */
import type { HostTable } from "./table.ts"

const file = "Claude/claude_desktop_config.json"

/** @internal */
export const claudeDesktop: HostTable = {
  host: "claude-desktop",
  title: "Claude Desktop",
  format: "json",
  shared: true,
  locations: [
    {
      scope: "user",
      origin: "home",
      path: {
        linux: `{config}/${file}`,
        darwin: `~/Library/Application Support/${file}`,
        // from the Store first: that one does not see the other
        win32: [`{localappdata}/Packages/Claude_*/LocalCache/Roaming/${file}`, `{appdata}/${file}`]
      }
    }
  ],
  stdioOnly: true
}
