/**
 * Where on this machine a browser is sent back to.
 *
 * @internal
 */
import type * as Interaction from "../../auth/Interaction.ts"

/** @internal */
export interface CallbackAddress {
  /** The port that it has to be; if there is none, any will do. */
  readonly port: number | undefined
  readonly host: "127.0.0.1" | "localhost" | "[::1]"
  readonly path: string
  readonly redirectUri: (port: number) => string
}

const hosts = ["127.0.0.1", "localhost", "[::1]"] as const

/**
 * Nothing, if the address that was registered is none of this machine's. One without a port stands for all ports, as
 * authorization servers have to take it (RFC 8252, 7.3).
 *
 * @internal
 */
export const make = ({ callbackPort, redirectUri }: Interaction.Wanted): CallbackAddress | undefined => {
  if (redirectUri === undefined) {
    return {
      port: callbackPort,
      host: "127.0.0.1",
      path: "/callback",
      redirectUri: (port) => `http://127.0.0.1:${port}/callback`
    }
  }
  if (!URL.canParse(redirectUri)) return undefined
  const url = new URL(redirectUri)
  const host = hosts.find((name) => name === url.hostname)
  if (host === undefined || url.protocol !== "http:" || url.username !== "" || url.password !== "") return undefined
  const registered = url.port === "" ? undefined : Number(url.port)
  return {
    port: registered ?? callbackPort,
    host,
    path: url.pathname,
    redirectUri: (port) => {
      // An authorization server compares letter by letter, so what was registered is not written anew.
      if (registered !== undefined) return redirectUri
      url.port = String(port)
      return url.href
    }
  }
}
