/** Who may call, by which name and from which page: looked at before anything else of a request is. */
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { sha256 } from "../../../json/canonical.ts"
import type * as HttpEndpoint from "../../HttpEndpoint.ts"
import * as Responses from "./responses.ts"

type Headers = Readonly<Record<string, string | undefined>>

/** @internal */
export interface Admitted {
  readonly principal: string | undefined
  /** Headers for a page of a browser that may see the answer. */
  readonly cors: Readonly<Record<string, string>>
}

/** @internal */
export interface Admission {
  /** The name and the page alone. */
  readonly origin: (headers: Headers) => Either.Either<Admitted["cors"], Responses.Response>
  readonly principal: (headers: Headers) => Either.Either<string | undefined, Responses.Response>
}

const ports = /:\d{1,5}$/

/** A name with its port is that name; one that is allowed with a port needs it. */
const isNamed = (names: ReadonlySet<string>, host: string): boolean => {
  const name = host.toLowerCase()
  return names.has(name) || names.has(name.replace(ports, ""))
}

const hostOf = (origin: string): string | undefined => {
  if (!URL.canParse(origin)) return undefined
  const { host, origin: whole, protocol } = new URL(origin)
  return whole === "null" || (protocol !== "http:" && protocol !== "https:") ? undefined : host
}

const exposed = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate"

/** @internal */
export const make = ({ hosts, origins, tokens }: HttpEndpoint.Options, name: string): Admission => {
  const names = new Set(hosts.map((host) => host.toLowerCase()))
  const pages = new Set(origins.map((origin) => origin.toLowerCase().replace(/\/$/, "")))
  // compared by their digests, which take as long whatever is wrong with them
  const digests = Object.entries(tokens).map(([principal, token]) => ({
    principal,
    digest: sha256(Redacted.value(token))
  }))
  const challenge = { "www-authenticate": `Bearer realm="${name.replace(/[^\w .-]/g, "")}"` }
  return {
    origin: (headers) => {
      const { host, origin } = headers
      if (host === undefined || !isNamed(names, host)) {
        return Either.left(Responses.refused(403, "Forbidden: this server is not called by that name (Host)"))
      }
      if (origin === undefined) return Either.right({})
      const page = hostOf(origin)
      const isOurs = page !== undefined && isNamed(names, page)
      if (!isOurs && !pages.has(origin.toLowerCase())) {
        return Either.left(Responses.refused(403, "Forbidden: pages of that origin may not call this server (Origin)"))
      }
      return Either.right({
        "access-control-allow-origin": origin,
        "access-control-expose-headers": exposed,
        vary: "Origin"
      })
    },
    principal: ({ authorization }) => {
      if (digests.length === 0) return Either.right(undefined)
      const given = /^Bearer +([^\s]+) *$/i.exec(authorization ?? "")?.[1]
      const digest = given === undefined ? undefined : sha256(given)
      const found = digests.find((one) => one.digest === digest)
      return found === undefined
        ? Either.left(Responses.refused(401, "Unauthorized: a bearer token is needed", challenge))
        : Either.right(found.principal)
    }
  }
}
