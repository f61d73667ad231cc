/** @internal */

/** Endings that the public name servers do not give to anybody, and networks of companies, homes and clusters use. */
const privateEndings: ReadonlyArray<string> = [
  "corp",
  "home",
  "home.arpa",
  "internal",
  "intranet",
  "lan",
  "local",
  "localdomain",
  "localhost",
  "private",
  "svc"
]

/** Names of public endings under which clouds give their machines credentials. */
const metadataNames: ReadonlySet<string> = new Set([
  "metadata.goog",
  "metadata.packet.net",
  "metadata.platformequinix.com",
  "metadata.tencentyun.com"
])

const isUnder = (name: string, ending: string): boolean => name === ending || name.endsWith(`.${ending}`)

/** @internal */
export const isLoopback = (name: string): boolean => isUnder(name, "localhost")

/**
 * Whether a name, as the URL parser writes it, is one of somebody's own network: also each one without a dot.
 *
 * @internal
 */
export const isPrivate = (name: string): boolean =>
  !name.includes(".") || metadataNames.has(name) || privateEndings.some((ending) => isUnder(name, ending))

/** @internal */
export const withoutFinalDot = (name: string): string => name.endsWith(".") ? name.slice(0, -1) : name

/** As the URL parser writes it, so that a person may write it in capitals or with letters of any alphabet. */
const canonical = (written: string): string => {
  const host = /^[^[].*:.*:/.test(written) ? `[${written}]` : written
  return withoutFinalDot(URL.canParse(`https://${host}/`) ? new URL(`https://${host}/`).hostname : host)
}

/**
 * Whether a list of hosts has this one: by its name, or by `*.` and a name that it is below.
 *
 * @internal
 */
export const isAmong = (host: string, list: ReadonlyArray<string>): boolean =>
  list.some((written) =>
    written.startsWith("*.")
      ? host.endsWith(`.${canonical(written.slice(2))}`)
      : host === canonical(written)
  )
