/**
 * @internal
 */
import type * as ConfigEntry from "../../ConfigEntry.ts"

/** Foreign names, so an order that no locale changes. */
const byName = ([self]: readonly [string, unknown], [that]: readonly [string, unknown]): number =>
  self < that ? -1 : self > that ? 1 : 0

const sorted = (
  fields: ReadonlyMap<string, string | null> | undefined,
  name: (name: string) => string
): ReadonlyArray<readonly [string, string | null]> =>
  fields === undefined
    ? []
    : Array.from(fields, ([key, value]): readonly [string, string | null] => [name(key), value]).toSorted(byName)

/** An address can be written in many ways: with a dot at the end of the host, with a part behind # that is never sent. */
const address = (url: ConfigEntry.Template): string => {
  if (url.includes("${") || !URL.canParse(url)) return url
  const parsed = new URL(url)
  parsed.hash = ""
  parsed.hostname = parsed.hostname.replace(/\.$/, "")
  return parsed.href
}

/**
 * What an entry starts or reaches, and as whom: equal texts for servers that differ in nothing but name and use.
 *
 * @internal
 */
export const identity = (entry: ConfigEntry.ConfigEntry): string =>
  JSON.stringify(
    entry.transport === "stdio"
      ? [entry.transport, entry.command, entry.args, sorted(entry.env, (name) => name), entry.cwd, entry.envFile]
      : [
        entry.transport,
        address(entry.url),
        sorted(entry.headers, (name) => name.toLowerCase()),
        sorted(entry.env, (name) => name),
        entry.headersCommand,
        entry.oauth === false ? false : entry.oauth?.clientId
      ]
  )
