/** Checks of an HTTP request before the protocol handles it: host, origin, token, media types, size and headers. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Protocol from "../client/Protocol.ts"
import { sha256 } from "../json/canonical.ts"
import * as HeaderField from "../text/headerField.ts"
import { nameSource } from "../transport/http/headers.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as HttpEndpoint from "./HttpEndpoint.ts"
import * as McpServer from "./McpServer.ts"
import * as Messages from "./messages.ts"

// Responses

export type Response = HttpServerResponse.HttpServerResponse

type Headers = Readonly<Record<string, string>>

/** Forbids caching and content sniffing. */
export const always: Headers = { "cache-control": "no-store", "x-content-type-options": "nosniff" }

export const json = (status: number, text: string, headers: Headers = {}): Response =>
  HttpServerResponse.text(text, { status, headers: { ...always, ...headers }, contentType: "application/json" })

export const failure = (
  status: number,
  refusal: McpServer.Refusal,
  id: JsonRpc.Id | null = null,
  headers: Headers = status === 503 ? { "retry-after": "1" } : {}
): Response => json(status, JSON.stringify(Messages.failure(id, refusal)), headers)

/** Fails with an error response that belongs to no JSON-RPC request. */
export const refuse = (
  status: number,
  message: string,
  headers?: Headers,
  code: keyof typeof McpServer.codes = "invalidRequest"
): Effect.Effect<never, Response> => Effect.fail(failure(status, McpServer.refusal(code, message), null, headers))

// Host, origin and token

type Received = Readonly<Record<string, string | undefined>>

const hostOf = (origin: string): string | undefined => {
  if (!URL.canParse(origin)) return undefined
  const { host, origin: whole, protocol } = new URL(origin)
  return whole === "null" || (protocol !== "http:" && protocol !== "https:") ? undefined : host
}

/** Tests for the `Host` and `Origin` headers. The origins of allowed hosts are allowed too. */
export const hosts = ({ hosts, origins }: HttpEndpoint.Options) => {
  const names = new Set(hosts.map((host) => host.toLowerCase()))
  const pages = new Set(origins.map((origin) => origin.toLowerCase().replace(/\/$/, "")))
  /** A name without a port allows every port. */
  const isNamed = (host: string): boolean => {
    const name = host.toLowerCase()
    return names.has(name) || names.has(name.replace(/:\d{1,5}$/, ""))
  }
  const isAllowed = (origin: string): boolean => {
    const host = hostOf(origin)
    return (host !== undefined && isNamed(host)) || pages.has(origin.toLowerCase())
  }
  return { isNamed, isAllowed }
}

/** Authenticates a request by its bearer token, and returns the name of the token. */
export const principal = ({ tokens }: HttpEndpoint.Options, { info: { name } }: McpServer.Offer) => {
  // digests are compared, so that the duration reveals nothing about the tokens
  const principals = new Map(Object.entries(tokens).map(([name, token]) => [sha256(Redacted.value(token)), name]))
  const challenge = { "www-authenticate": `Bearer realm="${name.replace(/[^\w .-]/g, "")}"` }
  return ({ authorization = "" }: Received): Effect.Effect<string | undefined, Response> => {
    if (principals.size === 0) return Effect.succeed(undefined)
    const token = /^Bearer +([^\s]+) *$/i.exec(authorization)?.[1]
    const principal = token === undefined ? undefined : principals.get(sha256(token))
    return principal === undefined
      ? refuse(401, "Unauthorized: a valid bearer token is required", challenge)
      : Effect.succeed(principal)
  }
}

// Types and body

export const accepts = (header: string | undefined, type: string): boolean => {
  const [kind] = type.split("/")
  return header === undefined ||
    header.toLowerCase().split(",").some((accepted) => {
      const range = accepted.split(";", 1)[0]!.trim()
      return range === type || range === "*/*" || range === `${kind}/*`
    })
}

/** Bytes over the limit that are still read, because closing the connection earlier would lose the response. */
const maxIgnored = 4 * 1024 * 1024

/** The text of a POST. */
export const body = (
  request: HttpServerRequest.HttpServerRequest,
  limit: number
): Effect.Effect<string, Response> => {
  const { accept, "content-length": length, "content-type": type = "" } = request.headers
  const tooLarge = () => refuse(413, `Content Too Large: the limit is ${limit} bytes`, { connection: "close" })
  const broken = () => refuse(400, "Bad Request: the body is incomplete", {}, "parse")
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    return refuse(415, "Unsupported Media Type: send application/json")
  }
  if (!accepts(accept, "application/json") || !accepts(accept, "text/event-stream")) {
    return refuse(406, "Not Acceptable: accept both application/json and text/event-stream")
  }
  if (Number(length ?? 0) > limit) return tooLarge()
  // Node ends the body at its announced length
  if (length !== undefined) return Effect.catchAll(request.text, broken)
  return Effect.suspend(() => {
    let chunks: Array<Uint8Array> = []
    let bytes = 0
    return request.stream.pipe(
      Stream.runForEachWhile((chunk) =>
        Effect.sync(() => {
          bytes += chunk.length
          if (bytes <= limit) chunks.push(chunk)
          else chunks = []
          return bytes <= limit + maxIgnored
        })
      ),
      Effect.catchAll(broken),
      Effect.flatMap(() => bytes <= limit ? Effect.succeed(Buffer.concat(chunks).toString("utf8")) : tooLarge())
    )
  })
}

// Headers of the stateless era

const mismatch = (id: JsonRpc.Id, header: string, value: string | undefined, field: string) => {
  const fault = value === undefined ? "is missing" : `does not match the ${field} of the request`
  return Effect.fail(failure(400, McpServer.refusal("headerMismatch", `Header mismatch: ${header} ${fault}`), id))
}

/** Checks the headers that repeat the version, method and name of a request for proxies. */
export const repeated = (
  { id, method, params }: Messages.Request,
  header: McpServer.Exchange["header"]
): Effect.Effect<void, Response> => {
  const version = Messages.metaOf(params)[Protocol.metaKey.protocolVersion]
  // a request without a version fails later, with an error about the version
  if (typeof version !== "string") return Effect.void
  const given = header("mcp-protocol-version")
  if (given !== version) return mismatch(id, "MCP-Protocol-Version", given, "version")
  if (!Protocol.statelessVersions.includes(version)) return Effect.void
  const how = header("mcp-method")
  if (how !== method) return mismatch(id, "Mcp-Method", how, "method")
  const field = nameSource.get(method)
  if (field === undefined) return Effect.void
  const what = header("mcp-name")
  return what !== undefined && HeaderField.decode(what) === params[field]
    ? Effect.void
    : mismatch(id, "Mcp-Name", what, field)
}
