/**
 * The address of a server, as far as it can be judged by itself.
 *
 * @internal
 */

/**
 * Once, where to ask first whether it can be parsed would be twice.
 *
 * @internal
 */
export const parsed = (text: string): URL | undefined => {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

/** No longer than addresses are: of a host of millions of labels a pattern would remember each. */
const longestPlain = 512

const plain =
  /^https?:\/\/(?:(?!xn--)[a-z0-9-]+\.)*(?!xn--)[a-z][a-z0-9-]*(?::[1-9]\d{3})?(?:\/[A-Za-z0-9_~-][\w.~-]*)+$/

/**
 * Whether an address is one that every reader takes as it is written, with nobody's name before the host: there is
 * nothing in it that could be a number in another notation, in another script or a way back. Most are, and to parse each
 * several times is what the discovery of thousands would spend most on.
 *
 * @internal
 */
export const isPlain = (text: string): boolean => text.length <= longestPlain && plain.test(text)

/** @internal */
export const fault = (text: string, protocols: ReadonlyArray<string>): string | undefined => {
  if (isPlain(text) && protocols.includes(text.slice(0, text.indexOf(":") + 1))) return undefined
  // a template says only when it is resolved where it leads
  if (text.includes("${")) return undefined
  const url = parsed(text)
  if (url === undefined) return `not a URL: ${JSON.stringify(text.slice(0, 256))}`
  if (!protocols.includes(url.protocol)) return `the scheme must be one of ${protocols.join(" ")}`
  return url.username === "" && url.password === "" ? undefined : "credentials belong in headers, not in the URL"
}

/** @internal */
export const http: ReadonlyArray<string> = ["http:", "https:"]

/** @internal */
export const webSocket: ReadonlyArray<string> = ["ws:", "wss:"]
