/** An MCP server and its authorization server in one, which does what a test says, and remembers all that reached it. */
import { Deferred, Effect, FiberId, Layer, type Scope } from "effect"
import { createHash, createPublicKey, randomBytes, verify } from "node:crypto"
import * as Http from "node:http"
import type { AddressInfo, Socket } from "node:net"
import * as Interaction from "../../src/auth/Interaction.ts"
import * as TokenStore from "../../src/auth/TokenStore.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as Configs from "./configs.ts"

export interface Heard {
  readonly verb: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Http.IncomingHttpHeaders
  readonly body: string
  /** The body of a request for tokens. */
  readonly form: URLSearchParams
}

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Http.OutgoingHttpHeaders
}

/** What may be changed at any time. */
export interface Script {
  /** Merged over what is usual; `undefined` leaves a field out. */
  resource: Readonly<Record<string, unknown>>
  metadata: Readonly<Record<string, unknown>>
  registration: Readonly<Record<string, unknown>>
  /** Merged over what is given for a code or a refresh token. */
  tokens: Readonly<Record<string, unknown>>
  /** In place of the next answers to requests for tokens. */
  answers: Array<Answer | "hang" | ((request: Heard) => Answer)>
  /** The authorization server that the resource names. */
  issuer: string
  /** The parameters that the person comes back with. */
  back: (parameters: URLSearchParams) => void
  /** What a call of this tool needs. */
  needs: (tool: string) => string | undefined
  /** What is given of what was asked for. */
  gives: (scope: string) => string
  /** What a challenge says of rights when there is no token. */
  scope: string | undefined
  resourceMetadata: string
  lifetime: number
  /** Tokens are bound to a key, and a proof has to name this. */
  dpop: { readonly nonce: string | undefined } | undefined
  /** A request without a token is answered, and only calls need one. */
  open: boolean
  /** Where an MCP request is sent on to. */
  redirect: string | undefined
  /** A challenge says what it was shown. */
  tells: boolean
  /** Waited for before a token is given. */
  delay: Promise<void> | undefined
  /** In place of the answer to a registration. */
  registered: Answer | undefined
  /** The answer to a revocation; without one, tokens are revoked. */
  revocation: Answer | "hang" | undefined
}

export interface AuthServer {
  readonly origin: string
  readonly url: string
  readonly script: Script
  readonly heard: ReadonlyArray<Heard>
  readonly of: (path: string) => ReadonlyArray<Heard>
  /** The requests for tokens of this kind. */
  readonly grants: (type: string) => ReadonlyArray<Heard>
  /** Everything secret that it has seen or given. */
  readonly secrets: ReadonlySet<string>
  /** The scope of a token that was given. */
  readonly scopeOf: (token: string) => string | undefined
  /** No access token is worth anything any more. */
  readonly expire: () => void
  readonly revoke: () => void
  /** A refresh token that was used up came again. */
  readonly reused: () => number
  readonly until: (predicate: () => boolean) => Effect.Effect<void>
  readonly config: (more?: Partial<ServerConfig.HttpInput>) => ServerConfig.ServerConfig
}

const secret = (what: string): string => `${what}-${randomBytes(18).toString("base64url")}`

const merged = (usual: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries({ ...usual, ...more }).filter(([, value]) => value !== undefined))

const part = (text: string | undefined): Readonly<Record<string, unknown>> =>
  JSON.parse(Buffer.from(text ?? "", "base64url").toString("utf8")) as Record<string, unknown>

/** The thumbprint of the key of a proof that is one, and what it says. */
export const proven = (proof: string): { readonly jkt: string; readonly claims: Readonly<Record<string, unknown>> } => {
  const [head, claims, signature] = proof.split(".")
  const { jwk } = part(head) as { readonly jwk: Record<"crv" | "kty" | "x" | "y", string> & { readonly d?: string } }
  const key = createPublicKey({ key: { ...jwk }, format: "jwk" })
  const isSigned = verify(
    "sha256",
    Buffer.from(`${head}.${claims}`),
    { key, dsaEncoding: "ieee-p1363" },
    Buffer.from(signature ?? "", "base64url")
  )
  if (!isSigned || jwk.d !== undefined) throw new Error("no proof")
  const { crv, kty, x, y } = jwk
  return {
    jkt: createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url"),
    claims: part(claims)
  }
}

export const make: Effect.Effect<AuthServer, never, Scope.Scope> = Effect.gen(function*() {
  const heard: Array<Heard> = []
  const secrets = new Set<string>()
  const access = new Map<string, { readonly scope: string; readonly jkt: string | undefined }>()
  const scopes = new Map<string, string>()
  const refresh = new Map<string, { readonly scope: string; isUsed: boolean }>()
  const codes = new Map<string, { readonly challenge: string; readonly scope: string }>()
  const waiting = new Map<Deferred.Deferred<void>, () => boolean>()
  const sockets = new Set<Socket>()
  let reused = 0

  const keep = (text: string): string => {
    secrets.add(text)
    return text
  }

  const changed = () => {
    for (const [deferred, predicate] of waiting) {
      if (!predicate()) continue
      waiting.delete(deferred)
      Deferred.unsafeDone(deferred, Effect.void)
    }
  }

  const give = (scope: string, jkt: string | undefined): Answer => {
    const token = keep(secret("access"))
    const next = keep(secret("refresh"))
    access.set(token, { scope: script.gives(scope), jkt })
    scopes.set(token, scope)
    refresh.set(next, { scope, isUsed: false })
    return {
      status: 200,
      body: merged({
        access_token: token,
        token_type: jkt === undefined ? "Bearer" : "DPoP",
        expires_in: script.lifetime,
        refresh_token: next,
        scope
      }, script.tokens)
    }
  }

  const error = (code: string): Answer => ({ status: 400, body: { error: code, error_description: "no" } })

  const proofOf = ({ headers }: Heard): string | undefined | Answer => {
    const wanted = script.dpop
    const proof = headers["dpop"]
    if (wanted === undefined || typeof proof !== "string") return undefined
    const { claims, jkt } = proven(proof)
    if (wanted.nonce === undefined || claims["nonce"] === wanted.nonce) return jkt
    return { ...error("use_dpop_nonce"), headers: { "dpop-nonce": wanted.nonce } }
  }

  const tokenAnswer = (request: Heard): Answer | "hang" => {
    for (const name of ["code", "code_verifier", "refresh_token", "client_secret", "client_assertion", "assertion"]) {
      const text = request.form.get(name)
      if (text !== null) keep(text)
    }
    const told = script.answers.shift()
    if (told !== undefined) return typeof told === "function" ? told(request) : told
    const jkt = proofOf(request)
    if (typeof jkt === "object") return jkt
    switch (request.form.get("grant_type")) {
      case "authorization_code": {
        const code = codes.get(request.form.get("code") ?? "")
        const verifier = request.form.get("code_verifier") ?? ""
        codes.delete(request.form.get("code") ?? "")
        if (createHash("sha256").update(verifier).digest("base64url") !== code?.challenge) return error("invalid_grant")
        return give(code.scope, jkt)
      }
      case "refresh_token": {
        const token = refresh.get(request.form.get("refresh_token") ?? "")
        if (token === undefined) return error("invalid_grant")
        if (token.isUsed) {
          reused++
          return error("invalid_grant")
        }
        token.isUsed = true
        return give(token.scope, jkt)
      }
      default:
        return give(request.form.get("scope") ?? "", jkt)
    }
  }

  const challenge = (status: 401 | 403, parameters: Readonly<Record<string, string | undefined>>): Answer => {
    const all = merged({ resource_metadata: script.resourceMetadata }, parameters)
    const scheme = script.dpop === undefined ? "Bearer" : "DPoP"
    const text = Object.entries(all).map(([name, value]) => `${name}="${String(value)}"`).join(", ")
    return { status, body: {}, headers: { "www-authenticate": `${scheme} ${text}` } }
  }

  const guarded = (request: Heard, tool: string | undefined): Answer | undefined => {
    if (script.open && tool === undefined) return undefined
    const [scheme, token = ""] = (request.headers.authorization ?? "").split(" ")
    const known = access.get(token)
    if (known === undefined || scheme !== (script.dpop === undefined ? "Bearer" : "DPoP")) {
      const told = script.tells ? { error_description: request.headers.authorization, realm: token } : {}
      return challenge(401, { scope: script.scope, ...told, ...(token === "" ? {} : { error: "invalid_token" }) })
    }
    if (script.dpop !== undefined) {
      const { claims, jkt } = proven(String(request.headers["dpop"]))
      const { nonce } = script.dpop
      if (nonce !== undefined && claims["nonce"] !== nonce) {
        const wanted = challenge(401, { error: "use_dpop_nonce" })
        return { ...wanted, headers: { ...wanted.headers, "dpop-nonce": nonce } }
      }
      const ath = createHash("sha256").update(token).digest("base64url")
      if (jkt !== known.jkt || claims["ath"] !== ath) return challenge(401, { error: "invalid_token" })
    }
    const needed = tool === undefined ? undefined : script.needs(tool)
    if (needed === undefined || needed.split(" ").every((one) => known.scope.split(" ").includes(one))) return undefined
    return challenge(403, { error: "insufficient_scope", scope: needed })
  }

  const mcp = (request: Heard): Answer | "hang" => {
    const ok = (result: unknown): Answer => ({ status: 200, body: { jsonrpc: "2.0", id: message?.id, result } })
    if (script.redirect !== undefined) return { status: 307, body: {}, headers: { location: script.redirect } }
    const message = request.body === "" ? undefined : JSON.parse(request.body) as {
      readonly id?: number
      readonly method?: string
      readonly params?: { readonly name?: string; readonly protocolVersion?: string }
    }
    const refusal = guarded(request, message?.method === "tools/call" ? message.params?.name : undefined)
    if (refusal !== undefined) return refusal
    if (request.verb !== "POST") return { status: 405, body: {} }
    switch (message?.method) {
      case "initialize":
        return ok({
          protocolVersion: message.params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "authServer", version: "1" }
        })
      case "tools/list":
        return ok({
          tools: ["read", "write", "tells", "never"].map((name) => ({ name, inputSchema: { type: "object" } }))
        })
      case "tools/call": {
        if (message.params?.name === "never") return "hang"
        if (message.params?.name !== "tells") return ok({ content: [{ type: "text", text: "done" }] })
        const told = `${request.headers.authorization} ${String(request.headers["dpop"])}`
        const data = { jsonrpc: "2.0", id: message.id, error: { code: -32000, message: told, data: { told } } }
        return { status: 400, body: data, headers: { "x-told": told } }
      }
      default:
        return message?.id === undefined ? { status: 202, body: "" } : ok({})
    }
  }

  const page = ({ query }: Heard): Answer => {
    const scope = query.get("scope") ?? ""
    const code = keep(secret("code"))
    codes.set(code, { challenge: query.get("code_challenge") ?? "", scope })
    const parameters = new URLSearchParams({ code, state: query.get("state") ?? "", iss: origin })
    script.back(parameters)
    return { status: 302, body: "", headers: { location: `${query.get("redirect_uri")}?${parameters}` } }
  }

  const answered = (request: Heard): Answer | "hang" => {
    switch (request.path) {
      case "/mcp":
        return mcp(request)
      case "/.well-known/oauth-protected-resource/mcp":
        return {
          status: 200,
          body: merged({ resource: `${origin}/mcp`, authorization_servers: [script.issuer] }, script.resource)
        }
      case "/.well-known/oauth-authorization-server":
        return {
          status: 200,
          body: merged({
            issuer: origin,
            authorization_endpoint: `${origin}/authorize`,
            token_endpoint: `${origin}/token`,
            registration_endpoint: `${origin}/register`,
            response_types_supported: ["code"],
            code_challenge_methods_supported: ["S256"],
            authorization_response_iss_parameter_supported: true,
            dpop_signing_alg_values_supported: script.dpop === undefined ? undefined : ["ES256"]
          }, script.metadata)
        }
      case "/register":
        if (script.registered !== undefined) return script.registered
        return {
          status: 201,
          body: merged({ ...JSON.parse(request.body) as object, client_id: "registered" }, script.registration)
        }
      case "/authorize":
        return page(request)
      case "/token":
        return tokenAnswer(request)
      case "/revoke": {
        const token = request.form.get("token") ?? ""
        if (script.revocation !== undefined) return script.revocation
        access.delete(token)
        refresh.delete(token)
        return { status: 200, body: "" }
      }
      default:
        return { status: 404, body: "" }
    }
  }

  const server = Http.createServer((incoming, response) => {
    const chunks: Array<Buffer> = []
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
    incoming.on("end", () => {
      const { pathname, searchParams } = new URL(incoming.url ?? "", origin)
      const body = Buffer.concat(chunks).toString("utf8")
      const request: Heard = {
        verb: incoming.method ?? "",
        path: pathname,
        query: searchParams,
        headers: incoming.headers,
        body,
        form: new URLSearchParams(body)
      }
      heard.push(request)
      const answer = answered(request)
      const send = () => {
        if (answer === "hang") return
        response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers })
        response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body))
      }
      changed()
      if (request.path === "/token" && script.delay !== undefined) void script.delay.then(send)
      else send()
    })
  })
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.on("error", () => undefined)
    socket.on("close", () => sockets.delete(socket))
  })
  yield* Effect.acquireRelease(
    Effect.async<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        for (const socket of sockets) socket.destroy()
      })
  )
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const script: Script = {
    resource: {},
    metadata: {},
    registration: {},
    tokens: {},
    answers: [],
    issuer: origin,
    back: () => undefined,
    needs: () => undefined,
    gives: (scope) => scope,
    scope: undefined,
    resourceMetadata: `${origin}/.well-known/oauth-protected-resource/mcp`,
    lifetime: 3600,
    dpop: undefined,
    open: false,
    redirect: undefined,
    tells: false,
    delay: undefined,
    registered: undefined,
    revocation: undefined
  }
  return {
    origin,
    url: `${origin}/mcp`,
    script,
    heard,
    of: (path) => heard.filter((request) => request.path === path),
    grants: (type) => heard.filter(({ form, path }) => path === "/token" && form.get("grant_type") === type),
    secrets,
    scopeOf: (token) => scopes.get(token),
    expire: () => access.clear(),
    revoke: () => {
      access.clear()
      refresh.clear()
    },
    reused: () => reused,
    until: (predicate) =>
      Effect.suspend(() => {
        if (predicate()) return Effect.void
        const deferred = Deferred.unsafeMake<void>(FiberId.none)
        waiting.set(deferred, predicate)
        return Deferred.await(deferred)
      }),
    config: (more) => {
      const { oauth } = more ?? {}
      return Configs.http({
        name: "guarded",
        url: `${origin}/mcp`,
        protocol: "session",
        lazy: true,
        ...more,
        // a secret is for this authorization server, unless the test says for which
        ...(oauth ? { oauth: oauth.clientSecret === undefined ? oauth : { issuer: origin, ...oauth } } : {})
      })
    }
  }
})

export interface Person {
  readonly interaction: Interaction.Interaction["Type"]
  /** The pages that were shown. */
  readonly pages: ReadonlyArray<URL>
  /** How many pages there were at once at most. */
  readonly most: () => number
  /** Done while the person has the page before them. */
  meanwhile: Effect.Effect<void>
}

/** Somebody who agrees to everything at once. */
export const person = (): Person => {
  const pages: Array<URL> = []
  const redirectUri = "http://127.0.0.1:49999/callback"
  let open = 0
  let most = 0
  const self: Person = {
    pages,
    most: () => most,
    meanwhile: Effect.void,
    interaction: {
      open: () =>
        Effect.as(
          // a page takes a moment to close
          Effect.acquireRelease(
            Effect.sync(() => {
              most = Math.max(most, ++open)
            }),
            () =>
              Effect.promise(() => new Promise<void>((resolve) => setTimeout(resolve, 5))).pipe(
                Effect.map(() => open--)
              )
          ),
          {
            redirectUri,
            ask: (url) =>
              Effect.gen(function*() {
                pages.push(url)
                yield* self.meanwhile
                const response = yield* Effect.promise(() => fetch(url, { redirect: "manual" }))
                const { searchParams } = new URL(response.headers.get("location") ?? redirectUri)
                const get = (name: string) => searchParams.get(name) ?? undefined
                return {
                  code: get("code"),
                  iss: get("iss"),
                  error: get("error"),
                  errorDescription: get("error_description")
                }
              })
          }
        )
    }
  }
  return self
}

/** What takes the place of something in a runtime. */
export const replacing = (
  person: Person,
  store: TokenStore.TokenStore["Type"],
  events: McpEvent.McpEvents["Type"]
) =>
  Layer.mergeAll(
    Layer.succeed(Interaction.Interaction, person.interaction),
    Layer.succeed(TokenStore.TokenStore, store),
    Layer.succeed(McpEvent.McpEvents, events)
  )
