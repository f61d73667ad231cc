/**
 * Which server has named which URI: a link in a result leads to whoever gave it.
 *
 * @internal
 */
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import { objectOf } from "../exchange.ts"

/** @internal */
export interface Links {
  readonly seen: (server: string, content: JsonRpc.Json | undefined) => void
  readonly whose: (uri: string) => string | undefined
}

/** How many are remembered; those named longest ago are forgotten. */
const most = 4_096

/** @internal */
export const make = (): Links => {
  const links = new Map<string, string>()
  const note = (server: string, uri: JsonRpc.Json | undefined): void => {
    if (typeof uri !== "string" || uri.length > 8_192) return
    links.delete(uri)
    links.set(uri, server)
    if (links.size > most) {
      const [oldest] = links.keys()
      if (oldest !== undefined) links.delete(oldest)
    }
  }
  return {
    seen: (server, content) => {
      if (!Array.isArray(content)) return
      for (const part of content) {
        const { resource, type, uri } = objectOf(part)
        if (type === "resource_link") note(server, uri)
        if (type === "resource") note(server, objectOf(resource)["uri"])
      }
    },
    whose: (uri) => links.get(uri)
  }
}
