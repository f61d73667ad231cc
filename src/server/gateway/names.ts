/** The names of the items of several servers, as callers see them. */

export interface Identity {
  /** The name on the server. */
  readonly name: string
  /** The unique name, with the server. */
  readonly qualified: string
}

/** The gateway tool that reads the rest of a long output. Shortened texts refer to it. */
export const readOutput = "mcp_read_output"

export interface Named<A> {
  readonly items: ReadonlyArray<{ readonly name: string; readonly item: A }>
  readonly find: (name: string) => A | undefined
}

/**
 * `plain`: an item keeps its name unless another item has the same plain or qualified name. In a conflict all of them are
 * qualified, so that no name silently changes its meaning. A qualified name is always found.
 */
export const make = <A>(
  items: ReadonlyArray<A>,
  naming: "plain" | "qualified",
  identify: (item: A) => Identity,
  /** Names that are taken. */
  reserved: ReadonlyArray<string> = []
): Named<A> => {
  const identified = items.map((item) => ({ item, ...identify(item) }))
  const claims = new Map(reserved.map((name) => [name, new Set([name])]))
  for (const { name, qualified } of naming === "plain" ? identified : []) {
    for (const claimed of [name, qualified]) claims.set(claimed, (claims.get(claimed) ?? new Set()).add(qualified))
  }
  const named = identified.map(({ item, name, qualified }) => ({
    name: claims.get(name)?.size === 1 && naming === "plain" ? name : qualified,
    item
  }))
  const byName = new Map<string, A>()
  for (const { item, name } of [...named, ...identified.map(({ item, qualified }) => ({ item, name: qualified }))]) {
    if (!byName.has(name)) byName.set(name, item)
  }
  return { items: named, find: (name) => byName.get(name) }
}
