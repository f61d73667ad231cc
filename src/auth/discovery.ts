/**
 * Where a login is made: the metadata of the MCP server (RFC 9728), and of the authorization server that it names (RFC 8414,
 * OpenID Connect). All of it is untrusted.
 */
import * as Sdk from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import type * as Grant from "./Grant.ts"
import { type Fetch, GuardedFetchError } from "./guardedFetch.ts"
import { failed, type Reason, type Step } from "./oauthError.ts"
import * as UrlGuard from "./UrlGuard.ts"

/** The configuration of a login, which may change between two connects. */
export interface Settings {
  readonly configured: Exclude<ServerConfig.HttpServer["oauth"], false | undefined> | undefined
  readonly grant: Grant.Grant
}

/** The MCP server that a login is for. */
export interface Target {
  readonly server: string
  readonly url: URL
  /**
   * Whether the user wrote the configuration. Only then may the resource be another URL than that of the server, because the
   * author of a workspace must not get tokens for other servers.
   */
  readonly isOwn: boolean
  readonly settings: Settings
  /** The URL of the resource metadata that the server named when it refused. */
  readonly resourceMetadata: string | undefined
  readonly fetch: Fetch
}

// Requests to authorization servers

/** Codes of an authorization server that cannot answer now. */
const temporary: ReadonlySet<string> = new Set(["server_error", "temporarily_unavailable", "too_many_requests"])

const blocked = ["blocked", "the authorization server names an address that is not permitted"] as const
const unreachable = ["unreachable", "the authorization server does not answer"] as const

const fetchFailures: Readonly<Record<GuardedFetchError["reason"], readonly [reason: Reason, detail: string]>> = {
  blocked,
  redirect: blocked,
  "too-large": ["metadata", "an answer of the authorization server is too large"],
  timeout: unreachable,
  unreachable
}

/** Whether another attempt may succeed later, whatever the body says. A gateway that fails (502) has no metadata. */
const isLater = ({ status }: Response, init: RequestInit | undefined): boolean =>
  (status >= 500 && (status !== 502 || init?.method === "POST")) || status === 408 || status === 429

/**
 * Runs functions of the SDK, with a fetch that fails if another attempt may succeed, because the SDK reads the body first. Only
 * codes are taken from their errors, because the texts quote what came over the network.
 */
export const attempt = <A>(
  target: Pick<Target, "server" | "fetch">,
  reason: Reason,
  detail: string,
  run: (fetch: Fetch) => Promise<A>
): Effect.Effect<A, McpError.AuthorizationFailed> =>
  Effect.tryPromise({
    try: (signal) =>
      run(async (url, init) => {
        const response = await target.fetch(url, { ...init, signal })
        if (isLater(response, init)) throw new GuardedFetchError("unreachable", "try again later")
        return response
      }),
    catch: (error) => {
      if (error instanceof GuardedFetchError && error.proxy !== undefined) {
        const detail = `the authorization server is not reached through the proxy ${error.proxy} (${error.errno})`
        return failed(target, "unreachable", detail)
      }
      if (error instanceof GuardedFetchError) return failed(target, ...fetchFailures[error.reason])
      if (Sdk.IssuerMismatchError.isInstance(error)) {
        return failed(target, reason, "the authorization server says that it is another one")
      }
      if (!Sdk.OAuthError.isInstance(error)) return failed(target, reason, detail)
      return temporary.has(error.code)
        ? failed(target, "unreachable", "the authorization server cannot answer now", error.code)
        : failed(target, "refused", detail, error.code)
    }
  })

// What the servers say

const Texts = Schema.mutable(Schema.Array(Schema.String))

const ResourceMetadata = Schema.Struct({
  resource: Schema.String,
  authorization_servers: Schema.optional(Texts),
  scopes_supported: Schema.optional(Texts)
})

/** Not the schemas of the SDK: they trim names, drop fields of OpenID Connect servers, and refuse servers without pages. */
const Metadata = Schema.Struct({
  issuer: Schema.String,
  /** Empty for a server that only gives tokens to programs. */
  authorization_endpoint: Schema.optionalWith(Schema.String, { default: () => "" }),
  token_endpoint: Schema.String,
  registration_endpoint: Schema.optional(Schema.String),
  revocation_endpoint: Schema.optional(Schema.String),
  scopes_supported: Schema.optional(Texts),
  response_types_supported: Schema.optionalWith(Texts, { default: () => ["code"] }),
  token_endpoint_auth_methods_supported: Schema.optional(Texts),
  revocation_endpoint_auth_methods_supported: Schema.optional(Texts),
  code_challenge_methods_supported: Schema.optional(Texts),
  client_id_metadata_document_supported: Schema.optional(Schema.Boolean),
  authorization_response_iss_parameter_supported: Schema.optional(Schema.Boolean),
  dpop_signing_alg_values_supported: Schema.optional(Texts)
})

export interface Discovered {
  /** As the metadata writes it, because it is compared character by character. */
  readonly issuer: string
  readonly metadata: typeof Metadata.Type
  /** The resource that each request names (RFC 8707). */
  readonly resource: string
  /** The scopes of the resource. */
  readonly scopes: ReadonlyArray<string> | undefined
}

/** The issuer that the configuration expects; `undefined` (any issuer) is allowed only without a secret. */
export const expectedIssuer = ({ configured, grant }: Settings): string | undefined =>
  grant._tag === "AuthorizationCode" ? configured?.issuer : grant.issuer

export const discover = (target: Target): Step<Discovered> =>
  Effect.gen(function*() {
    const described = yield* resourceMetadata(target)
    const resource = yield* resourceFor(target, described?.resource)
    const metadata = yield* serverMetadata(target, yield* issuerFrom(target, described?.authorization_servers ?? []))
    return { issuer: metadata.issuer, metadata, resource, scopes: described?.scopes_supported }
  })

const absentIfElsewhere = (error: unknown): undefined => {
  if (!(error instanceof GuardedFetchError) || error.reason !== "redirect") throw error
}

/** The first document at one of these places; `undefined` if there is none. */
const documentAt = <A, I>(target: Target, places: ReadonlyArray<string | URL>, schema: Schema.Schema<A, I>) =>
  Effect.gen(function*() {
    const unreadable = "the description of the server, or of its authorization server, cannot be read"
    for (const place of places) {
      const text = yield* attempt(target, "metadata", unreadable, async (fetch) => {
        const response = await fetch(place, { headers: { accept: "application/json" } }).catch(absentIfElsewhere)
        return response?.ok === true ? await response.text() : undefined
      })
      if (text === undefined) continue
      return yield* Effect.mapError(
        Schema.decodeUnknown(Schema.parseJson(schema))(text),
        () => failed(target, "metadata", unreadable)
      )
    }
    return undefined
  })

const resourceMetadata = (target: Target) => {
  const { resourceMetadata: named, url: { origin, pathname, search } } = target
  if (named !== undefined && /^https?:/i.test(named) && URL.canParse(named)) {
    return documentAt(target, [named], ResourceMetadata)
  }
  const root = "/.well-known/oauth-protected-resource"
  const path = pathname.replace(/\/$/, "")
  const places = path === "" ? [root] : [`${root}${path}${search}`, root]
  return documentAt(target, places.map((place) => new URL(place, origin)), ResourceMetadata)
}

const resourceFor = (target: Target, described: string | undefined) => {
  const { isOwn, settings, url } = target
  const configured = settings.configured?.resource
  if (isOwn && configured !== undefined) return Effect.succeed(configured)
  const requestedResource = UrlGuard.identity(url)
  const resource = configured ?? described ?? requestedResource
  const isAllowed = UrlGuard.identity(resource) === requestedResource ||
    (isOwn && URL.canParse(resource) && Sdk.checkResourceAllowed({ requestedResource, configuredResource: resource }))
  return isAllowed ? Effect.succeed(resource) : failed(target, "metadata", "the server describes another resource")
}

/** Without characters that a person would not see. */
const isVisible = (issuer: string): boolean => /^[\u0021-\u007e]+$/.test(issuer) && URL.canParse(issuer)

const issuerFrom = (target: Target, named: ReadonlyArray<string>) => {
  const { settings, url } = target
  const issuer = expectedIssuer(settings) ?? named[0] ?? (settings.configured?.legacy === true ? url.origin : undefined)
  if (issuer === undefined) return failed(target, "metadata", "the server does not say which server logs people in")
  if (!isVisible(issuer)) return failed(target, "metadata", "the authorization server has no valid address")
  return named.length === 0 || named.includes(issuer)
    ? Effect.succeed(issuer)
    : failed(target, "metadata", "the server names other authorization servers than the one that is configured")
}

const serverMetadata = (target: Target, issuer: string) =>
  Effect.gen(function*() {
    const { configured } = target.settings
    const legacy = configured?.legacy === true
    const places = configured?.authServerMetadataUrl === undefined
      ? Sdk.buildDiscoveryUrls(issuer).map(({ url }) => url)
      : [configured.authServerMetadataUrl]
    const metadata = yield* documentAt(target, places, Metadata)
    if (metadata !== undefined) {
      const { issuer: named } = metadata
      if (legacy ? isVisible(named) : named === issuer || `${named}/` === issuer) return metadata
      return yield* failed(target, "metadata", "the authorization server says that it is another one")
    }
    if (!legacy) return yield* failed(target, "metadata", "the authorization server does not describe itself")
    const endpoint = (path: string) => new URL(path, issuer).href
    return {
      issuer,
      authorization_endpoint: endpoint("/authorize"),
      token_endpoint: endpoint("/token"),
      registration_endpoint: endpoint("/register"),
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"]
    }
  })
