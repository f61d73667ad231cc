/**
 * Keeps a noisy server from drowning the event bus: the first few oddities of a kind are told, then every hundredth.
 *
 * @internal
 */
import * as McpEvent from "../../McpEvent.ts"
import type * as Transport from "../../transport/Transport.ts"

const told = 20
const every = 100

/** @internal */
export const make = (
  server: string,
  publish: (event: McpEvent.McpEvent) => void,
  hidden: (text: string) => string
): (diagnostic: Transport.Diagnostic) => void => {
  const seen = new Map<Transport.Diagnostic["kind"], number>()
  return (diagnostic) => {
    const count = (seen.get(diagnostic.kind) ?? 0) + 1
    seen.set(diagnostic.kind, count)
    if (count > told && count % every !== 0) return
    const { detail, kind } = diagnostic
    publish(McpEvent.McpEvent.Diagnostic({
      server,
      diagnostic: { kind, detail: hidden(detail) },
      suppressed: count > told ? every - 1 : 0
    }))
  }
}
