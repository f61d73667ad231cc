/**
 * The way from a refusal (401) to tokens, after `discovery`: the client that this program is at the authorization server, the
 * page for a person, the request for tokens; then renewal and revocation. The steps are functions of the SDK inside the checks
 * that it leaves to its host.
 */
import * as Sdk from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as McpError from "../McpError.ts"
import * as Discovery from "./discovery.ts"
import type * as Grant from "./Grant.ts"
import type * as Interaction from "./Interaction.ts"
import { failed, type Step } from "./oauthError.ts"
import * as StoredLogin from "./storedLogin.ts"
import * as UrlGuard from "./UrlGuard.ts"

type Client = StoredLogin.Client
type Tokens = StoredLogin.Tokens

/** A target whose authorization server is known. */
export interface Request extends Discovery.Target {
  readonly found: Discovery.Discovered
  /** The login of this authorization server that there is. */
  readonly before: StoredLogin.Login | undefined
  readonly scope: string | undefined
  readonly proof: Proof | undefined
  readonly now: number
}

// 1. The key that tokens are bound to (DPoP, RFC 9449)

export interface Proof {
  readonly session: Sdk.DpopSession
  readonly key: Redacted.Redacted
}

const algorithm = "ES256"
const curve = { name: "ECDSA", namedCurve: "P-256" }

export const supportsProof = (algorithms: ReadonlyArray<string> | undefined): boolean =>
  algorithms?.includes(algorithm) === true

const Jwk = Schema.parseJson(
  Schema.Struct({ crv: Schema.String, kty: Schema.String, x: Schema.String, y: Schema.String, d: Schema.String })
)

/** `undefined` if it is no such key, which counts as no login. */
export const proofOf = (key: Redacted.Redacted): Effect.Effect<Proof | undefined> =>
  Effect.orElseSucceed(
    Effect.gen(function*() {
      const { d, ...publicJwk } = yield* Schema.decode(Jwk)(Redacted.value(key))
      const { crv, kty, x, y } = publicJwk
      // the form that RFC 7638 prescribes
      const canonical = new TextEncoder().encode(`{"crv":"${crv}","kty":"${kty}","x":"${x}","y":"${y}"}`)
      return yield* Effect.tryPromise(async () => {
        const privateKey = await crypto.subtle.importKey("jwk", { ...publicJwk, d }, curve, false, ["sign"])
        const publicKey = await crypto.subtle.importKey("jwk", publicJwk, curve, true, ["verify"])
        const thumbprint = Buffer.from(await crypto.subtle.digest("SHA-256", canonical)).toString("base64url")
        const keyPair = { privateKey, publicKey, publicJwk, thumbprint, alg: algorithm } as const
        return { session: await Sdk.DpopSession.create({ keyPair }), key }
      })
    }),
    () => undefined
  )

const encodeJwk = Schema.encodeUnknownSync(Jwk)

export const freshKey: Effect.Effect<Redacted.Redacted> = Effect.promise(async () => {
  const { privateKey } = await crypto.subtle.generateKey(curve, true, ["sign", "verify"])
  return Redacted.make(encodeJwk(await crypto.subtle.exportKey("jwk", privateKey)))
})

// 2. The client, and what it asks for

const offlineAccess = "offline_access"

/**
 * The scope of the next request: that of the last challenge, else the configured one, else all of the resource; with the
 * scope of the requests before. `undefined` leaves it to the authorization server.
 */
export const scopeFor = (
  { settings: { configured, grant } }: Pick<Request, "settings">,
  { metadata, scopes }: Pick<Discovery.Discovered, "metadata" | "scopes">,
  asked: string | undefined,
  challenge: string | undefined
): string | undefined => {
  const otherwise = configured?.scopes === undefined ? scopes?.join(" ") : undefined
  const scope = StoredLogin.scopeUnion(asked, configured?.scopes?.join(" "), challenge ?? otherwise)
  const isOffline = grant._tag === "AuthorizationCode" && metadata.scopes_supported?.includes(offlineAccess)
  return isOffline === true ? StoredLogin.scopeUnion(scope, offlineAccess) : scope
}

/** The client that the configuration names. */
const givenClient = ({ configured }: Discovery.Settings): Client | undefined => {
  if (configured?.clientId === undefined) return undefined
  const { clientId: id, clientSecret: secret, tokenEndpointAuthMethod: method } = configured
  return { how: "given", id, secret, method }
}

/** The stored client, with the secret that the configuration has now. */
const currentClient = (settings: Discovery.Settings, stored: Client): Client => {
  const given = stored.how === "given" ? givenClient(settings) : undefined
  return given?.id === stored.id ? given : stored
}

export interface Person {
  readonly interaction: Interaction.Interaction["Type"]
  readonly nonce: Effect.Effect<string>
  readonly clientName: string
  readonly clientMetadataUrl: string | undefined
}

/** The configured client, else a document that describes it, else the registration before or a new one. */
const clientFor = (request: Request, person: Person, redirectUri: string): Step<Client> => {
  const { before, found: { metadata }, now, scope, settings } = request
  const given = givenClient(settings)
  if (given !== undefined) return Effect.succeed(given)
  const document = settings.configured?.clientMetadataUrl ?? person.clientMetadataUrl
  if (document !== undefined && metadata.client_id_metadata_document_supported === true) {
    return Effect.succeed({ how: "document", id: document })
  }
  const stored = before?.client
  const isUsable = stored?.how === "registered" && stored.redirectUri === redirectUri &&
    (stored.scope === undefined || StoredLogin.covers(stored.scope, scope)) &&
    (stored.secretExpiresAt ?? Infinity) > now
  if (isUsable) return Effect.succeed(stored)
  return metadata.registration_endpoint === undefined
    ? failed(request, "registration", "it accepts only clients that were registered before: set oauth.clientId")
    : register(request, person, redirectUri)
}

/** The methods by preference: a program on a desk keeps no secret. */
const methodFor = (supported: ReadonlyArray<string> = []): string =>
  ["none", "client_secret_basic", "client_secret_post"].find((method) => supported.includes(method)) ?? "none"

const printable = /^[\u0020-\u007e]{1,4096}$/

const register = (request: Request, { clientName }: Person, redirectUri: string): Step<Client> =>
  Effect.gen(function*() {
    const { found: { issuer, metadata }, scope } = request
    const provider = {
      redirectUrl: redirectUri,
      clientMetadata: {
        client_name: clientName,
        redirect_uris: [redirectUri],
        response_types: ["code"],
        token_endpoint_auth_method: methodFor(metadata.token_endpoint_auth_methods_supported)
      }
    }
    const detail = "it did not register this client"
    const given = yield* Discovery.attempt(request, "registration", detail, (fetchFn) => {
      const clientMetadata = Sdk.resolveClientMetadata(provider)
      return Sdk.registerClient(issuer, {
        metadata,
        clientMetadata,
        fetchFn,
        ...(scope === undefined ? {} : { scope })
      })
    })
    const { client_id: id, client_secret: secret, client_secret_expires_at: end = 0, redirect_uris: uris } = given
    const isSame = uris.length === 0 || uris.includes(redirectUri)
    if (!isSame || !printable.test(id) || (secret !== undefined && !printable.test(secret))) {
      return yield* failed(request, "registration", "it registered another client than this")
    }
    return {
      how: "registered",
      id,
      secret: secret === undefined ? undefined : Redacted.make(secret),
      secretExpiresAt: end === 0 ? undefined : end * 1000,
      redirectUri,
      method: given.token_endpoint_auth_method,
      scope
    }
  })

const information = ({ id, method, secret }: Client): Sdk.OAuthClientInformationMixed => ({
  client_id: id,
  client_secret: secret === undefined ? undefined : Redacted.value(secret),
  token_endpoint_auth_method: method,
  redirect_uris: []
})

// 3. The page, and the code that comes back (OAuth 2.1 with PKCE)

/** A person logs in. Interrupted, it leaves nothing behind. */
export const byPerson = (request: Request, person: Person): Step<StoredLogin.Login, Scope.Scope> =>
  Effect.gen(function*() {
    const { found: { metadata }, server, settings: { configured } } = request
    if (metadata.authorization_endpoint === "") return yield* failed(request, "metadata", "it has no page for a login")
    if (metadata.code_challenge_methods_supported?.includes("S256") !== true) {
      const detail =
        "its metadata does not declare PKCE with S256, without which another login could be exchanged for ours"
      return yield* failed(request, "metadata", detail)
    }
    const page = yield* person.interaction.open({
      server,
      redirectUri: configured?.redirectUri,
      callbackPort: configured?.callbackPort
    })
    const client = yield* clientFor(request, person, page.redirectUri)
    const parameters = yield* codeFrom(request, person, page, client)
    return loginWith(request, client, yield* requestTokens(request, client, parameters), request.scope)
  })

/** Shows the page, and makes the parameters that exchange the code of the answer. */
const codeFrom = (
  request: Request,
  { nonce }: Person,
  page: Interaction.Page,
  client: Client
): Step<URLSearchParams> =>
  Effect.gen(function*() {
    const { found: { issuer, metadata, resource }, scope } = request
    const state = (yield* nonce) + (yield* nonce)
    const detail = "it cannot be asked for a code"
    const { authorizationUrl, codeVerifier } = yield* Discovery.attempt(request, "metadata", detail, () =>
      Sdk.startAuthorization(issuer, {
        metadata,
        clientInformation: information(client),
        redirectUrl: page.redirectUri,
        state,
        resource,
        ...(scope === undefined ? {} : { scope })
      }))
    const shown = yield* Effect.mapError(
      UrlGuard.openable(authorizationUrl),
      () =>
        failed(request, "blocked", "the URL of its page is not shown in a browser")
    )
    const { code, error, iss } = yield* page.ask(shown, state)
    // before anything else of the answer is used
    yield* Discovery.attempt(request, "answer", "the answer has a wrong issuer", async () =>
      Sdk.validateAuthorizationResponseIssuer({
        iss,
        expectedIssuer: issuer,
        issParameterSupported: metadata.authorization_response_iss_parameter_supported === true
      }))
    if (error !== undefined) {
      return yield* failed(request, "refused", "the authorization server, or the person, refused the login", error)
    }
    if (code === undefined) {
      return yield* failed(request, "answer", "the answer has no code")
    }
    return new URLSearchParams({
      grant_type: "authorization_code",
      code,
      code_verifier: codeVerifier,
      redirect_uri: page.redirectUri
    })
  })

// 4. The request for tokens

/** Requests tokens with the parameters of a grant. `before`: the tokens that they replace. */
const requestTokens = (
  request: Request,
  client: Client,
  parameters: URLSearchParams,
  more: { readonly authenticate?: Sdk.AddClientAuthentication | undefined; readonly before?: Tokens } = {}
): Step<Tokens> => {
  const { found: { issuer, metadata, resource }, now, proof } = request
  const given = Discovery.attempt(request, "answer", "it gave no token", (fetchFn) =>
    Sdk.fetchToken(
      {
        redirectUrl: undefined,
        clientMetadata: { redirect_uris: [] },
        clientInformation: () => information(client),
        prepareTokenRequest: () => parameters,
        ...(more.authenticate === undefined ? {} : { addClientAuthentication: more.authenticate }),
        dpop: () => proof?.session,
        // the function uses nothing else of a provider
        tokens: () => undefined,
        saveTokens: () => undefined,
        redirectToAuthorization: () => undefined,
        saveCodeVerifier: () => undefined,
        codeVerifier: () => ""
      },
      issuer,
      { metadata, resource, fetchFn }
    ))
  return Effect.filterOrFail(
    Effect.map(given, (given) => StoredLogin.tokensFrom(given, now, more.before)),
    (tokens) => tokens !== undefined,
    () => failed(request, "answer", "it gave a token that cannot be used")
  )
}

/** The login to store. A secret of the configuration stays there, where it may change. */
const loginWith = (
  { found: { issuer }, proof }: Request,
  client: Client,
  tokens: Tokens,
  asked: string | undefined
): StoredLogin.Login => ({
  version: 1,
  issuer,
  client: client.how === "given" ? { how: client.how, id: client.id } : client,
  tokens,
  asked,
  key: tokens.type === "DPoP" ? proof?.key : undefined
})

/** Renews the tokens of a stored login. */
export const refresh = (
  request: Request,
  { asked, client }: StoredLogin.Login,
  before: Tokens,
  token: Redacted.Redacted
): Step<StoredLogin.Login> => {
  const parameters = new URLSearchParams({ grant_type: "refresh_token", refresh_token: Redacted.value(token) })
  const next = requestTokens(request, currentClient(request.settings, client), parameters, { before })
  return Effect.map(next, (tokens) => loginWith(request, client, tokens, asked))
}

export type ProgramGrant = Exclude<Grant.Grant, { readonly _tag: "AuthorizationCode" }>

/** How the program authenticates. */
const programClient = (grant: ProgramGrant) => {
  const secret = "secret" in grant ? grant.secret : "clientSecret" in grant ? grant.clientSecret : undefined
  const client: Client = { how: "given", id: grant.clientId ?? "", secret }
  if ("privateKey" in grant) {
    const { algorithm: alg, clientId, privateKey } = grant
    const key = Redacted.value(privateKey)
    return {
      client,
      authenticate: Sdk.createPrivateKeyJwtAuth({ issuer: clientId, subject: clientId, privateKey: key, alg })
    }
  }
  // without a client, the assertion alone says who asks
  return { client, authenticate: grant.clientId === undefined ? () => undefined : undefined }
}

const jwtBearer = (assertion: string) =>
  new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion })

const programParameters = (request: Request, grant: ProgramGrant): Step<URLSearchParams> =>
  Effect.gen(function*() {
    if (grant._tag === "ClientCredentials") return new URLSearchParams({ grant_type: "client_credentials" })
    const { found: { issuer, resource }, scope } = request
    const given = yield* Effect.timeoutFail(grant._tag === "JwtBearer" ? grant.assertion : grant.idToken, {
      duration: "30 seconds",
      onTimeout: () => failed(request, "timeout", "the application gave no assertion within 30 seconds")
    })
    if (grant._tag === "JwtBearer") return jwtBearer(Redacted.value(given))
    const { clientId, clientSecret, tokenEndpoint } = grant.provider
    const detail = "the identity provider gave no assertion for this person"
    const { jwtAuthGrant } = yield* Discovery.attempt(request, "refused", detail, (fetchFn) =>
      Sdk.requestJwtAuthorizationGrant({
        tokenEndpoint,
        audience: issuer,
        resource,
        idToken: Redacted.value(given),
        clientId,
        fetchFn,
        ...(clientSecret === undefined ? {} : { clientSecret: Redacted.value(clientSecret) }),
        ...(scope === undefined ? {} : { scope })
      }))
    return jwtBearer(jwtAuthGrant)
  })

/** The program logs in by itself. */
export const byProgram = (request: Request, grant: ProgramGrant) =>
  Effect.gen(function*() {
    const parameters = yield* programParameters(request, grant)
    if (request.scope !== undefined) parameters.set("scope", request.scope)
    const { authenticate, client } = programClient(grant)
    const tokens = yield* requestTokens(request, client, parameters, { authenticate })
    return loginWith(request, client, tokens, request.scope)
  })

// 5. Revocation (RFC 7009)

/** Revokes the tokens of a login; `false` if the authorization server has no endpoint for them. */
export const revoke = (request: Request, { client: stored, issuer, tokens }: StoredLogin.Login): Step<boolean> => {
  const { found: { metadata, ...found }, settings } = request
  const { revocation_endpoint: endpoint, revocation_endpoint_auth_methods_supported: methods } = metadata
  if (issuer !== found.issuer) return failed(request, "metadata", "the server names another authorization server now")
  if (endpoint === undefined || tokens === undefined) return Effect.succeed(false)
  const { authenticate, client } = settings.grant._tag === "AuthorizationCode"
    ? { client: currentClient(settings, stored), authenticate: undefined }
    : programClient(settings.grant)
  const known = information(client)
  const { client_id: id, client_secret: secret = "" } = known
  const method = Sdk.selectClientAuthMethod(known, methods ?? metadata.token_endpoint_auth_methods_supported ?? [])
  const post = (token: Redacted.Redacted, hint: string): Step<boolean> =>
    Discovery.attempt(request, "answer", "it did not revoke the tokens", async (fetch) => {
      const headers = new Headers({ accept: "application/json" })
      const parameters = new URLSearchParams({ token: Redacted.value(token), token_type_hint: hint })
      if (authenticate !== undefined) await authenticate(headers, parameters, endpoint, metadata)
      else if (method === "client_secret_basic") headers.set("authorization", `Basic ${btoa(`${id}:${secret}`)}`)
      else parameters.set("client_id", id)
      if (method === "client_secret_post") parameters.set("client_secret", secret)
      const response = await fetch(endpoint, { method: "POST", headers, body: parameters })
      if (!response.ok) throw await Sdk.parseErrorResponse(response)
      return true
    })
  const { access, refresh } = tokens
  // a server need not accept access tokens here, which end soon without the refresh token
  const isUnsupported = ({ code }: McpError.AuthorizationFailed) => code === "unsupported_token_type"
  const withoutAccess = Effect.succeed(refresh !== undefined)
  const revokeAccess = Effect.catchIf(post(access, "access_token"), isUnsupported, () => withoutAccess)
  return refresh === undefined ? revokeAccess : Effect.zipRight(post(refresh, "refresh_token"), revokeAccess)
}
