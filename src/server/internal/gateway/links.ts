/**
 * The servers whose results have linked to a URI. An ordinary link leads to the server that gave it last; the page of an
 * app belongs to no server in particular once several have linked to it.
 */
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import { objectOf } from "../exchange.ts"
import * as Extensions from "./extensions.ts"

/** @internal */
export interface Links {
  readonly seen: (server: string, content: JsonRpc.Json | undefined) => void
  readonly whose: (uri: string) => ReadonlyArray<string>
}

/** How many are remembered; those named longest ago are forgotten. */
const most = 4_096

/** @internal */
export const make = (): Links => {
  const links = new Map<string, ReadonlyArray<string>>()
  const note = (server: string, uri: JsonRpc.Json | undefined): void => {
    if (typeof uri !== "string" || uri.length > 8_192) return
    const others = Extensions.isPage(uri) ? (links.get(uri) ?? []).filter((one) => one !== server) : []
    links.delete(uri)
    links.set(uri, [...others, server])
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
    whose: (uri) => links.get(uri) ?? []
  }
}
