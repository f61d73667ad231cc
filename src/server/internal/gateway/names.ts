/** Under which names callers know what servers have, and whose that is. */
import type * as McpServe from "../../McpServe.ts"

/** @internal */
export interface Known {
  readonly server: string
  /** What the server calls it. */
  readonly name: string
  /** What it is called where there are others. */
  readonly qualified: string
}

/** @internal */
export interface Names<A> {
  readonly items: ReadonlyArray<{ readonly name: string; readonly item: A }>
  readonly find: (name: string) => A | undefined
}

/**
 * Plain names are only for what nobody else has; what two servers have is qualified on both sides, so that no name comes
 * to mean something else than before without anybody noticing.
 */
export const make = <A>(
  items: ReadonlyArray<A>,
  naming: McpServe.Options["naming"],
  known: (item: A) => Known,
  /** Names that mean something else already. */
  taken: ReadonlyArray<string> = []
): Names<A> => {
  const counts = new Map(taken.map((name) => [name, 1]))
  if (naming === "plain") {
    for (const item of items) {
      const { name, qualified } = known(item)
      for (const one of new Set([name, qualified])) counts.set(one, (counts.get(one) ?? 0) + 1)
    }
  }
  const byName = new Map<string, A>()
  const named = items.map((item) => {
    const { name, qualified } = known(item)
    const own = naming === "plain" && counts.get(name) === 1 ? name : qualified
    if (!byName.has(own)) byName.set(own, item)
    return { name: own, item }
  })
  // a qualified name is always understood
  for (const item of items) {
    const { qualified } = known(item)
    if (!byName.has(qualified)) byName.set(qualified, item)
  }
  return { items: named, find: (name) => byName.get(name) }
}
