import type * as ToolIndex from "../ToolIndex.ts"
import { likeness, nearness, pairsOf } from "./nearness.ts"

const most = 5

/** How many of the nearest are compared in earnest. */
const compared = 24

// Found on the tools of published servers: below these, names have little more in common than their language.
const leastNearness = 0.4
const leastScore = 0.9

interface Candidate {
  readonly entry: ToolIndex.Entry
  readonly score: number
}

/** Keeps the best, the earlier before the later of two that are as good. */
const keep = (best: Array<Candidate>, limit: number, candidate: Candidate): void => {
  let at = best.length
  while (at > 0 && best[at - 1]!.score < candidate.score) at -= 1
  if (at >= limit) return
  best.splice(at, 0, candidate)
  if (best.length > limit) best.pop()
}

/**
 * The names that come nearest to one that nobody has, best first and then in their own order. Whether the server is
 * part of what was asked for makes no difference.
 *
 * @internal
 */
export const suggest = (
  servers: Iterable<readonly [server: string, entries: ReadonlyArray<ToolIndex.Entry>]>,
  name: string
): ReadonlyArray<string> => {
  const wanted = name.replace(/^mcp_+/i, "")
  const asked = pairsOf(wanted)
  const near: Array<Candidate> = []
  for (const [server, entries] of servers) {
    const ofServer = asked.among(server)
    for (const entry of entries) {
      const ofTool = asked.among(entry.tool.name)
      const both = { all: ofServer.all + ofTool.all, wanted: ofServer.wanted + ofTool.wanted }
      const score = Math.max(nearness(asked.all, ofTool), nearness(asked.all, both))
      if (score >= leastNearness) keep(near, compared, { entry, score })
    }
  }
  const best: Array<Candidate> = []
  for (const { entry, score } of near) {
    const { server, tool } = entry
    const both = score + Math.max(likeness(wanted, tool.name), likeness(wanted, `${server}_${tool.name}`))
    if (both >= leastScore) keep(best, most, { entry, score: both })
  }
  return best.map(({ entry }) => entry.name)
}
