/** How people name a tool: `server/tool`, `server.tool`, the name that a model sees, or the tool alone. */
import * as ShellWords from "../text/shellWords.ts"
import * as ToolName from "../tools/ToolName.ts"

export interface Identity {
  readonly server: string
  readonly tool: string
}

const separators = ["/", "__", ".", ":"]

const folded = (text: string): string => text.replace(/[^A-Za-z0-9-]+/g, "_").toLowerCase()

/** The server that is named, of those there are: the longest, where one name begins with another. */
export const identify = (ref: string, servers: Iterable<string>): Identity | undefined => {
  const parsed = ToolName.parse(ref)
  let best: Identity | undefined
  for (const server of servers) {
    const separator = ref.startsWith(server) ? separators.find((one) => ref.startsWith(one, server.length)) : undefined
    const tool = separator === undefined
      ? parsed !== undefined && folded(parsed.server) === folded(server) ? parsed.tool : ""
      : ref.slice(server.length + separator.length)
    if (tool !== "" && (best === undefined || server.length > best.server.length)) best = { server, tool }
  }
  return best
}

export const spelled = ({ server, tool }: Identity): string => `${server}/${tool}`

/** As one types it: in quotes where a shell, or the repl, would take it apart. */
export const format = (identity: Identity): string => ShellWords.quote(spelled(identity))
