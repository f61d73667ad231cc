/**
 * @internal
 */
import type * as ConfigDocument from "../../ConfigDocument.ts"
import type * as Merge from "../../Merge.ts"

const value = (of: ConfigDocument.Value): string => {
  if (of instanceof Map) {
    return `{${Array.from(of, ([key, inner]) => `${JSON.stringify(key)}:${value(inner)}`).join()}}`
  }
  if (of instanceof Date) return `date${of.getTime()}`
  if (typeof of === "bigint") return `${of}n`
  if (Array.isArray(of)) return `[${of.map(value).join()}]`
  return typeof of === "number" ? String(of) : JSON.stringify(of)
}

/**
 * What a file says of its servers as one text: a last resort to order two layers of which nothing else says which is
 * the stronger.
 *
 * @internal
 */
export const written = (items: ReadonlyArray<Merge.LayerItem>): string =>
  items.map(({ item }) => `${JSON.stringify(item.name)}${item._tag}${value(item.raw)}`).join()
