/**
 * Where a login is made: the metadata of the MCP server (RFC 9728), and of the authorization server that it names (RFC 8414,
 * OpenID Connect). All of it is untrusted.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import type * as Grant from "./Grant.ts"
import type { Fetch } from "./guardedFetch.ts"
import { attempt, forMetadata, type Reason, type Sdk } from "./oauthError.ts"
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
  readonly sdk: Sdk
  readonly fetch: Fetch
}

const Texts = Schema.mutable(Schema.Array(Schema.String))

/** Not the schemas of the SDK: they drop fields of OpenID Connect servers, and refuse servers without pages. */
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

const decodeMetadata = Schema.decodeUnknownOption(Schema.parseJson(Metadata))

export interface Discovered {
  /** As the metadata writes it, because it is compared character by character. */
  readonly issuer: string
  readonly metadata: typeof Metadata.Type
  /** The resource that each request names (RFC 8707). */
  readonly resource: string
  /** The scopes of the resource. */
  readonly scopes: ReadonlyArray<string> | undefined
}

const failed = ({ server }: Target, detail: string) =>
  new McpError.AuthorizationFailed({ server, reason: "metadata" satisfies Reason, detail })

/** The issuer that the configuration expects; `undefined` (any issuer) is allowed only without a secret. */
export const expectedIssuer = ({ configured, grant }: Settings): string | undefined =>
  grant._tag === "AuthorizationCode" ? configured?.issuer : grant.issuer

export const discover = (target: Target): Effect.Effect<Discovered, McpError.AuthorizationFailed> =>
  Effect.gen(function*() {
    const described = yield* resourceMetadata(target)
    const resource = yield* resourceFor(target, described?.resource)
    const metadata = yield* serverMetadata(target, yield* issuerFrom(target, described?.authorization_servers ?? []))
    return { issuer: metadata.issuer, metadata, resource, scopes: described?.scopes_supported }
  })

/** `undefined` if the server does not describe itself, or in a way that cannot be read. */
const resourceMetadata = ({ fetch, resourceMetadata: named, sdk, server, url }: Target) => {
  const isUrl = named !== undefined && /^https?:/i.test(named) && URL.canParse(named)
  return attempt(
    sdk,
    { server, reason: "metadata", detail: "the server does not describe itself" },
    (signal) =>
      sdk.discoverOAuthProtectedResourceMetadata(
        UrlGuard.identity(url),
        isUrl ? { resourceMetadataUrl: named } : {},
        forMetadata(fetch, signal)
      )
  ).pipe(Effect.catchIf(({ reason }) => reason === "metadata", () => Effect.succeed(undefined)))
}

const resourceFor = (target: Target, described: string | undefined) => {
  const { isOwn, sdk, settings, url } = target
  const configured = settings.configured?.resource
  if (isOwn && configured !== undefined) return Effect.succeed(configured)
  const requestedResource = UrlGuard.identity(url)
  const resource = configured ?? described ?? requestedResource
  const isAllowed = UrlGuard.identity(resource) === requestedResource ||
    (isOwn && URL.canParse(resource) && sdk.checkResourceAllowed({ requestedResource, configuredResource: resource }))
  return isAllowed ? Effect.succeed(resource) : failed(target, "the server describes another resource")
}

/** Without characters that a person would not see. */
const isVisible = (issuer: string): boolean => /^[\u0021-\u007e]+$/.test(issuer) && URL.canParse(issuer)

const issuerFrom = (target: Target, named: ReadonlyArray<string>) => {
  const { settings, url } = target
  const issuer = expectedIssuer(settings) ?? named[0] ?? (settings.configured?.legacy === true ? url.origin : undefined)
  if (issuer === undefined) return failed(target, "the server does not say which server logs people in")
  if (!isVisible(issuer)) return failed(target, "the authorization server has no valid address")
  return named.length === 0 || named.includes(issuer)
    ? Effect.succeed(issuer)
    : failed(target, "the server names other authorization servers than the one that is configured")
}

const serverMetadata = (target: Target, issuer: string) =>
  Effect.gen(function*() {
    const { fetch, sdk, server, settings: { configured } } = target
    const legacy = configured?.legacy === true
    const unreadable = "the authorization server describes itself in a way that cannot be read"
    const places = configured?.authServerMetadataUrl === undefined
      ? sdk.buildDiscoveryUrls(issuer).map(({ url }) => url)
      : [configured.authServerMetadataUrl]
    for (const place of places) {
      const text = yield* attempt(sdk, { server, reason: "metadata", detail: unreadable }, async (signal) => {
        const response = await forMetadata(fetch, signal)(place)
        return response.ok ? await response.text() : undefined
      })
      if (text === undefined) continue
      const metadata = Option.getOrUndefined(decodeMetadata(text))
      if (metadata === undefined || !isVisible(metadata.issuer)) return yield* failed(target, unreadable)
      if (!legacy && metadata.issuer !== issuer && `${metadata.issuer}/` !== issuer) {
        return yield* failed(target, "the authorization server says that it is another one")
      }
      return metadata
    }
    if (!legacy) return yield* failed(target, "the authorization server does not describe itself")
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
