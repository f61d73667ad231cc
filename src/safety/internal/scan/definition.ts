/**
 * Every string of a tool's definition, by its place.
 *
 * @internal
 */
import type * as Tool from "../../../tools/Tool.ts"
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import type { Channel, Signal } from "../../InjectionScan.ts"
import { scan } from "./scanning.ts"

/** Deeper schemas are not offered at all. */
const deepest = 64

const pointer = (path: string, key: string | number): string =>
  `${path}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`

type Tell = (text: string, path: string, channel: Channel) => void

const walk = (value: JsonRpc.Json | undefined, path: string, channel: Channel, depth: number, tell: Tell): void => {
  if (typeof value === "string") tell(value, path, channel)
  if (typeof value !== "object" || value === null || depth > deepest) return
  if (Array.isArray(value)) {
    value.forEach((item, index) => walk(item, pointer(path, index), channel, depth + 1, tell))
    return
  }
  for (const [key, item] of Object.entries(value)) {
    tell(key, pointer(path, key), "name")
    const inner = depth === 0
      ? (key === "name" ? "name" : key === "title" ? "title" : "description")
      : "param_description"
    walk(item, pointer(path, key), inner, depth + 1, tell)
  }
}

/** @internal */
export const scanTool = (tool: Tool.Tool, maxSignals: number): ReadonlyArray<Signal & { readonly path: string }> => {
  const found: Array<Signal & { readonly path: string }> = []
  const definition: JsonRpc.JsonObject = {
    ...tool.raw,
    name: tool.name,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    ...(tool.description === undefined ? {} : { description: tool.description }),
    inputSchema: tool.inputSchema,
    ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema })
  }
  walk(definition, "", "description", 0, (text, path, channel) => {
    if (text.length < 4 || found.length >= maxSignals) return
    for (const signal of scan(text, channel, maxSignals)) found.push({ ...signal, path })
  })
  return found.slice(0, maxSignals)
}
