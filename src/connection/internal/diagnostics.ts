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
  publish: (event: McpEvent.McpEvent) => void
): (diagnostic: Transport.Diagnostic) => void => {
  const seen = new Map<Transport.Diagnostic["kind"], number>()
  return (diagnostic) => {
    const count = (seen.get(diagnostic.kind) ?? 0) + 1
    seen.set(diagnostic.kind, count)
    if (count <= told) publish(McpEvent.McpEvent.Diagnostic({ server, diagnostic, suppressed: 0 }))
    else if (count % every === 0) publish(McpEvent.McpEvent.Diagnostic({ server, diagnostic, suppressed: every - 1 }))
  }
}
