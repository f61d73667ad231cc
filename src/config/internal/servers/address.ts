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

/** @internal */
export const fault = (text: string, protocols: ReadonlyArray<string>): string | undefined => {
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
