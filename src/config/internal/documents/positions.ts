/**
 * Where the parts of a document begin: the offsets of each table's and list's members, found by pointer when somebody
 * asks.
 *
 * @internal
 */
import type * as ConfigDocument from "../../ConfigDocument.ts"

type Container = ConfigDocument.Table | ReadonlyArray<ConfigDocument.Value>

/** @internal */
export interface Positions {
  /** The offsets of a container's members, in their order. */
  readonly set: (container: Container, offsets: ReadonlyArray<number>) => void
  /** A member that was written twice begins where it was written last. */
  readonly moved: (table: ConfigDocument.Table, key: string, offset: number) => void
  readonly find: (root: ConfigDocument.Value | undefined, pointer: ConfigDocument.Pointer) => number | undefined
}

const member = (container: ConfigDocument.Value, key: string | number): ConfigDocument.Value | undefined => {
  if (container instanceof Map) return container.get(String(key))
  return Array.isArray(container) && typeof key === "number" ? container[key] : undefined
}

/** @internal */
export const make = (start: number): Positions => {
  const members = new Map<Container, ReadonlyArray<number>>()
  const moves = new Map<Container, Map<string, number>>()
  const byKey = new Map<Container, Map<string, number>>()

  const index = (table: ConfigDocument.Table): ReadonlyMap<string, number> => {
    const known = byKey.get(table)
    if (known !== undefined) return known
    const offsets = members.get(table) ?? []
    const made = new Map<string, number>()
    let at = 0
    for (const key of table.keys()) {
      const offset = offsets[at++]
      if (offset !== undefined) made.set(key, offset)
    }
    for (const [key, offset] of moves.get(table) ?? []) made.set(key, offset)
    byKey.set(table, made)
    return made
  }

  return {
    set: (container, offsets) => {
      members.set(container, offsets)
    },
    moved: (table, key, offset) => {
      const known = moves.get(table)
      if (known === undefined) moves.set(table, new Map([[key, offset]]))
      else known.set(key, offset)
    },
    find: (root, pointer) => {
      let container = root
      let offset: number | undefined = root === undefined ? undefined : start
      for (const key of pointer) {
        const parent = container
        if (parent === undefined) return undefined
        container = member(parent, key)
        if (container === undefined) return undefined
        if (parent instanceof Map) offset = index(parent).get(String(key))
        else if (Array.isArray(parent) && typeof key === "number") offset = members.get(parent)?.[key]
      }
      return offset
    }
  }
}
