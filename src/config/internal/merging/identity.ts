/**
 * @internal
 */
import type * as ConfigEntry from "../../ConfigEntry.ts"
import * as Address from "../servers/address.ts"

/** Foreign names, so an order that no locale changes. */
const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => a < b ? -1 : a > b ? 1 : 0

const sorted = (
  fields: ReadonlyMap<string, string | null> | undefined,
  name: (name: string) => string
): ReadonlyArray<readonly [string, string | null]> => {
  if (fields === undefined) return []
  const found: Array<readonly [string, string | null]> = []
  fields.forEach((value, key) => found.push([name(key), value]))
  return found.length > 1 ? found.toSorted(byName) : found
}

/** An address can be written in many ways: with a dot at the end of the host, with a part behind # that is never sent. */
const address = (url: ConfigEntry.Template): string => {
  if (Address.isPlain(url) || url.includes("${")) return url
  const parsed = Address.parsed(url)
  if (parsed === undefined) return url
  // each change is another look at all of it
  if (url.includes("#")) parsed.hash = ""
  if (parsed.hostname.endsWith(".")) parsed.hostname = parsed.hostname.replace(/\.$/, "")
  return parsed.href
}

const asWritten = (name: string): string => name
const inSmall = (name: string): string => name.toLowerCase()

/**
 * What an entry starts or reaches, and as whom: equal texts for servers that differ in nothing but name and use.
 *
 * @internal
 */
export const identity = (entry: ConfigEntry.ConfigEntry): string =>
  JSON.stringify(
    entry.transport === "stdio"
      ? [entry.transport, entry.command, entry.args, sorted(entry.env, asWritten), entry.cwd, entry.envFile]
      : [
        entry.transport,
        address(entry.url),
        sorted(entry.headers, inSmall),
        sorted(entry.env, asWritten),
        entry.headersCommand,
        entry.oauth === false ? false : entry.oauth?.clientId
      ]
  )
