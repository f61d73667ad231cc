/**
 * Where a server's logins are made: what it says about itself (RFC 9728), and what the authorization server that it names
 * says about itself (RFC 8414, OpenID Connect). Every word of both is the network's.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as McpError from "../../McpError.ts"
import * as UrlGuard from "../UrlGuard.ts"
import * as OAuthSdk from "./oauthSdk.ts"

/** @internal */
export interface Options {
  readonly server: string
  readonly url: URL
  readonly oauth: OAuthSdk.OAuth
  readonly fetch: OAuthSdk.Fetch
  /** Where the server said that it describes itself, when it refused. */
  readonly resourceMetadata: string | undefined
  readonly issuer: string | undefined
  readonly metadataUrl: string | undefined
  readonly resource: string | undefined
  /**
   * Whether a person wrote the configuration: then a resource may be a folder that the server is in, or what they say. A
   * file that came with a workspace does not make tokens for others than its server.
   */
  readonly isOwn: boolean
  /**
   * A server of before there were descriptions of resources (2025-03-26): its own origin is the authorization server, what
   * that calls itself is not looked at, and where it says nothing the endpoints are the usual ones.
   */
  readonly legacy: boolean
}

const Texts = Schema.Array(Schema.String)

const Resource = Schema.Struct({
  resource: Schema.String,
  authorization_servers: Schema.optional(Texts),
  scopes_supported: Schema.optional(Texts)
})

const Server = Schema.Struct({
  issuer: Schema.String,
  authorization_endpoint: Schema.optional(Schema.String),
  token_endpoint: Schema.String,
  registration_endpoint: Schema.optional(Schema.String),
  scopes_supported: Schema.optional(Texts),
  response_types_supported: Schema.optionalWith(Texts, { default: () => ["code"] }),
  grant_types_supported: Schema.optional(Texts),
  token_endpoint_auth_methods_supported: Schema.optional(Texts),
  code_challenge_methods_supported: Schema.optional(Texts),
  client_id_metadata_document_supported: Schema.optional(Schema.Boolean),
  authorization_response_iss_parameter_supported: Schema.optional(Schema.Boolean),
  dpop_signing_alg_values_supported: Schema.optional(Texts)
})

const decodeResource = Schema.decodeUnknownOption(Schema.parseJson(Resource))
const decodeServer = Schema.decodeUnknownOption(Schema.parseJson(Server))

/** @internal */
export type Server = typeof Server.Type

/** @internal */
export interface Discovered {
  /** As it is recorded: what is compared with it is compared letter by letter. */
  readonly issuer: string
  readonly metadata: Server
  /** The resource indicator (RFC 8707) that every request names. */
  readonly resource: string
  /** The rights that the resource knows of. */
  readonly scopes: ReadonlyArray<string> | undefined
}

/** @internal */
export const discover = (options: Options): Effect.Effect<Discovered, McpError.AuthorizationFailed> =>
  Effect.gen(function*() {
    const { issuer: wanted, server } = options
    const described = yield* describedBy(options)
    if (described === undefined && !options.legacy && options.metadataUrl === undefined && wanted === undefined) {
      return yield* metadataFault(server, "the server does not say where to log in")
    }
    const resource = options.isOwn && options.resource !== undefined
      ? options.resource
      : yield* resourceOf(options, options.resource ?? described?.resource)
    const issuer = yield* issuerOf(options, described?.authorization_servers)
    const metadata = yield* serverOf(options, issuer)
    return { issuer: metadata.issuer, metadata, resource, scopes: described?.scopes_supported }
  })

const metadataFault = (server: string, detail: string) =>
  new McpError.AuthorizationFailed({ server, reason: "metadata", detail })

type Got = { readonly _tag: "Text"; readonly text: string } | { readonly _tag: "Absent" }

const absent: Got = { _tag: "Absent" }

const get = ({ fetch, server }: Options, url: string): Effect.Effect<Got, McpError.AuthorizationFailed> =>
  Effect.tryPromise({
    try: async (signal): Promise<Got | "later"> => {
      const response = await fetch(url, { headers: { accept: "application/json" }, signal })
      if (response.ok) return { _tag: "Text", text: await response.text() }
      await response.body?.cancel()
      const isLater = response.status === 429 || (response.status >= 500 && response.status !== 502)
      return isLater ? "later" : absent
    },
    // whoever sends on what it does not know has no description either
    catch: (error) =>
      OAuthSdk.isRedirect(error) ? "sent on" : OAuthSdk.ofFetch(server, error) ??
        new McpError.AuthorizationFailed({ server, reason: "unreachable", detail: "a description cannot be read" })
  }).pipe(
    Effect.catchAll((error) => error === "sent on" ? Effect.succeed(absent) : Effect.fail(error)),
    Effect.flatMap((got) =>
      got === "later"
        ? new McpError.AuthorizationFailed({
          server,
          reason: "unreachable",
          detail: "the description is not there now"
        })
        : Effect.succeed(got)
    )
  )

const wellKnown = (name: string, { pathname, search }: URL): ReadonlyArray<string> => {
  const path = pathname.endsWith("/") ? pathname.slice(0, -1) : pathname
  const root = `/.well-known/${name}`
  return path === "" ? [root] : [`${root}${path}${search}`, root]
}

const describedBy = (options: Options) =>
  Effect.gen(function*() {
    const { resourceMetadata, server, url } = options
    // of a scheme that nobody fetches, it was not said
    const said = resourceMetadata !== undefined && /^https?:/i.test(resourceMetadata) && URL.canParse(resourceMetadata)
      ? [resourceMetadata]
      : wellKnown("oauth-protected-resource", url).map((path) => new URL(path, url.origin).href)
    for (const at of said) {
      const got = yield* get(options, at)
      if (got._tag === "Absent") continue
      const decoded = decodeResource(got.text)
      if (Option.isSome(decoded)) return decoded.value
      return yield* metadataFault(server, "the server describes itself in words that mean nothing")
    }
    return undefined
  })

const resourceOf = ({ isOwn, server, url }: Options, said: string | undefined) => {
  const own = UrlGuard.identity(url.href)
  if (said === undefined) return Effect.succeed(own)
  const other = URL.canParse(said) ? UrlGuard.identity(said) : undefined
  return other === own || (other !== undefined && isOwn && isAbove(other, own))
    ? Effect.succeed(said)
    : metadataFault(server, "the server describes another one than itself")
}

/** A folder of the same origin that it is in. */
const isAbove = (outer: string, inner: string): boolean => inner.startsWith(outer.endsWith("/") ? outer : `${outer}/`)

const issuerOf = ({ issuer, legacy, server, url }: Options, named: ReadonlyArray<string> | undefined) => {
  if (named === undefined || named.length === 0) {
    if (issuer !== undefined) return Effect.succeed(issuer)
    return legacy ? Effect.succeed(url.origin) : metadataFault(server, "the server names no authorization server")
  }
  if (issuer === undefined) return Effect.succeed(named[0]!)
  return named.includes(issuer)
    ? Effect.succeed(issuer)
    : metadataFault(server, "the server names other authorization servers than the one that is configured")
}

/** What people are shown, and everything is compared with: nothing in it is hidden. */
const isName = (issuer: string): boolean => /^[\u0021-\u007e]+$/.test(issuer) && URL.canParse(issuer)

const serverOf = (options: Options, issuer: string): Effect.Effect<Server, McpError.AuthorizationFailed> =>
  Effect.gen(function*() {
    const { legacy, metadataUrl, oauth, server } = options
    if (!isName(issuer)) return yield* metadataFault(server, "the authorization server has no address")
    const places = metadataUrl === undefined
      ? oauth.buildDiscoveryUrls(issuer).map(({ url }) => url.href)
      : [metadataUrl]
    for (const at of places) {
      const got = yield* get(options, at)
      if (got._tag === "Absent") continue
      const decoded = decodeServer(got.text)
      if (Option.isNone(decoded)) {
        return yield* metadataFault(server, "the authorization server describes itself in words that mean nothing")
      }
      const metadata = decoded.value
      if (!isName(metadata.issuer)) return yield* metadataFault(server, "the authorization server has no name")
      if (!legacy && metadata.issuer !== issuer && `${metadata.issuer}/` !== issuer) {
        return yield* metadataFault(server, "the authorization server says that it is another one")
      }
      return metadata
    }
    if (!legacy) return yield* metadataFault(server, "the authorization server does not describe itself")
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
