/**
 * Definitions of servers as a model may see them: nothing hides in their words, and descriptions are of bounded length.
 *
 * @internal
 */
import * as HiddenText from "../safety/HiddenText.ts"
import type * as Tool from "../tools/Tool.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"

const isTrail = (unit: number): boolean => (unit & 0xfc00) === 0xdc00

/**
 * A short text of a server, such as a title or a description, with a note of how much was left out.
 *
 * @internal
 */
export const words = (text: string, limit: number): string => {
  // a little more than the limit, because what hides takes room
  const seen = HiddenText.clean(text.slice(0, 2 * limit), "metadata").text
  if (seen.length <= limit && text.length <= 2 * limit) return seen
  const end = isTrail(seen.charCodeAt(limit)) ? limit - 1 : limit
  return `${seen.slice(0, end)}… (cut from ${text.length} characters)`
}

/** The same value where there is nothing to change, so that what is measured and indexed once stays so. */
const json = (value: JsonRpc.Json): JsonRpc.Json => {
  if (typeof value === "string") return HiddenText.clean(value, "metadata").text
  if (Array.isArray(value)) {
    const items = value.map((item: JsonRpc.Json) => json(item))
    return items.every((item, at) => item === value[at]) ? value : items
  }
  return JsonRpc.isObject(value) ? object(value) : value
}

/**
 * The same object where there is nothing to change.
 *
 * @internal
 */
export const object = (value: JsonRpc.JsonObject): JsonRpc.JsonObject => {
  let same = true
  const entries = Object.entries(value).flatMap(([key, before]): ReadonlyArray<readonly [string, JsonRpc.Json]> => {
    if (before === undefined) return []
    const name = HiddenText.clean(key, "metadata").text
    const after = json(before)
    same &&= name === key && after === before
    return [[name, after]]
  })
  return same ? value : Object.fromEntries(entries)
}

/**
 * Cleans each definition once, however often it is asked for.
 *
 * @internal
 */
export const make = (maxDescription: number): (tool: Tool.Tool) => Tool.Tool => {
  const cleaned = new WeakMap<Tool.Tool, Tool.Tool>()
  return (tool) => {
    const known = cleaned.get(tool)
    if (known !== undefined) return known
    const { annotations, description, inputSchema, title } = tool
    const fresh: Tool.Tool = {
      ...tool,
      title: title === undefined ? undefined : words(title, 256),
      description: description === undefined ? undefined : words(description, maxDescription),
      inputSchema: object(inputSchema),
      annotations: annotations.title === undefined
        ? annotations
        : { ...annotations, title: words(annotations.title, 256) }
    }
    cleaned.set(tool, fresh)
    return fresh
  }
}
