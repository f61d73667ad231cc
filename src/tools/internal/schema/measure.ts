/**
 * How many steps judging a value may take: generous for honest schemas, and linear in the value whatever the schema.
 *
 * @internal
 */
export const measure = (value: unknown): number => {
  let nodes = 1
  let characters = 0
  const pending: Array<unknown> = [value]
  while (pending.length > 0) {
    const node = pending.pop()
    if (typeof node === "string") characters += node.length
    else if (Array.isArray(node)) {
      nodes += node.length
      for (const item of node) pending.push(item)
    } else if (typeof node === "object" && node !== null) {
      for (const [key, item] of Object.entries(node)) {
        nodes++
        characters += key.length
        pending.push(item)
      }
    }
  }
  return 20_000 + 50 * nodes + 4 * characters
}
