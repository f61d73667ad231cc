/** The names under which callers see the items of several servers. */

export interface Identity {
  /** The name at the server. */
  readonly name: string
  /** The name that no other item has. */
  readonly qualified: string
}

/** The tool of the gateway that reads the rest of a long output. The notes in shortened texts name it. */
export const readOutput = "mcp_read_output"

export interface Named<A> {
  readonly items: ReadonlyArray<{ readonly name: string; readonly item: A }>
  readonly find: (name: string) => A | undefined
}

/**
 * `plain`: an item keeps its name if no other item claims it as its own or its qualified name. Otherwise all of them are
 * qualified, so that no name silently changes its meaning. A qualified name is always found.
 */
export const make = <A>(
  items: ReadonlyArray<A>,
  naming: "plain" | "qualified",
  identify: (item: A) => Identity,
  /** Names with another meaning. */
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
