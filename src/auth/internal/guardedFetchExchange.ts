/** @internal */
// @effect-diagnostics nodeBuiltinImport:off - node's own client, because only it dials the address that was checked
import * as Effect from "effect/Effect"
import * as Http from "node:http"
import * as Https from "node:https"
import type { LookupFunction } from "node:net"
import * as Zlib from "node:zlib"
import { GuardedFetchError } from "./guardedFetchError.ts"
import type * as Lookup from "./guardedFetchLookup.ts"

/** @internal */
export interface Question {
  readonly url: URL
  /** Where to connect to; none where the host of the URL is an address itself. */
  readonly addresses: ReadonlyArray<Lookup.Address>
  readonly method: string
  readonly headers: Headers
  readonly body: Buffer | undefined
}

/** @internal */
export interface Answer {
  readonly status: number
  /** Flat: name, value, name, value. */
  readonly headers: ReadonlyArray<string>
  readonly encoding: string
  /** As it came; empty for a redirect, whose body nobody reads. */
  readonly body: Buffer
}

/** @internal */
export interface Limits {
  readonly maxBytes: number
  readonly maxHeaderBytes: number
}

/** @internal */
export interface Agents {
  readonly http: Http.Agent
  readonly https: Https.Agent
  readonly destroy: () => void
}

/**
 * Sockets of its own, none of which is used twice. What the environment says of certificates counts only where it adds to
 * whom is trusted.
 *
 * @internal
 */
export const agents = (ca: string | undefined): Agents => {
  const http = new Http.Agent({ keepAlive: false })
  const https = new Https.Agent({
    keepAlive: false,
    maxCachedSessions: 0,
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca })
  })
  return {
    http,
    https,
    destroy: () => {
      http.destroy()
      https.destroy()
    }
  }
}

/** Gives what was looked up before, and asks nobody. */
const known = (addresses: ReadonlyArray<Lookup.Address>): LookupFunction => (_host, { all }, callback) => {
  if (all === true) return callback(null, addresses.map(({ address, family }) => ({ address, family })))
  const { address, family } = addresses[0]!
  return callback(null, address, family)
}

const tooLarge = (limits: Limits) =>
  new GuardedFetchError("too-large", `the answer has more than ${limits.maxBytes} bytes`)

const lost = (errno: string | undefined) =>
  errno === "HPE_HEADER_OVERFLOW"
    ? new GuardedFetchError("too-large", "the answer has too many headers")
    : new GuardedFetchError("unreachable", `the connection failed (${errno ?? "unknown"})`, { errno })

/**
 * One request on one socket, which is destroyed when there is an answer, a failure, or nobody who waits for them.
 *
 * @internal
 */
export const ask = (question: Question, limits: Limits, agents: Agents): Effect.Effect<Answer, GuardedFetchError> =>
  Effect.async((resume) => {
    const { addresses, body, headers, method, url } = question
    const secure = url.protocol === "https:"
    const flat = ["host", url.host, ...Array.from(headers).flat()]
    if (body !== undefined) flat.push("content-length", String(body.length))
    const options: Https.RequestOptions = {
      agent: secure ? agents.https : agents.http,
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: url.port === "" ? (secure ? 443 : 80) : Number(url.port),
      path: url.pathname + url.search,
      method,
      headers: flat,
      maxHeaderSize: limits.maxHeaderBytes,
      insecureHTTPParser: false,
      ...(addresses.length === 0 ? {} : { lookup: known(addresses) })
    }
    const request = (secure ? Https : Http).request(options)
    const end = (result: Effect.Effect<Answer, GuardedFetchError>) => {
      request.destroy()
      resume(result)
    }
    const fail = ({ code }: NodeJS.ErrnoException) => end(Effect.fail(lost(code)))
    request.on("error", fail)
    // in the middle of an answer, and after one that is none, node says no more than this
    request.on("close", () => end(Effect.fail(lost("ECONNRESET"))))
    request.on("response", (response) => {
      const status = response.statusCode ?? 0
      const chunks: Array<Buffer> = []
      let bytes = 0
      response.on("error", fail)
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > limits.maxBytes) end(Effect.fail(tooLarge(limits)))
        else chunks.push(chunk)
      })
      const whole = () =>
        end(Effect.succeed({
          status,
          headers: response.rawHeaders,
          encoding: response.headers["content-encoding"]?.trim().toLowerCase() ?? "",
          body: Buffer.concat(chunks)
        }))
      if (status >= 300 && status < 400) return whole()
      response.on("end", whole)
    })
    request.end(body)
    return Effect.sync(() => request.destroy())
  })

const decoders = new Map([
  ["gzip", Zlib.gunzip],
  ["x-gzip", Zlib.gunzip],
  ["deflate", Zlib.inflate],
  ["br", Zlib.brotliDecompress]
])

/**
 * The body as it was before it was compressed, if that is not too much.
 *
 * @internal
 */
export const decode = ({ body, encoding }: Answer, limits: Limits): Effect.Effect<Buffer, GuardedFetchError> => {
  if (encoding === "" || encoding === "identity" || body.length === 0) return Effect.succeed(body)
  const decoder = decoders.get(encoding)
  const corrupt = new GuardedFetchError("unreachable", "the answer is compressed in a way that cannot be undone")
  if (decoder === undefined) return Effect.fail(corrupt)
  return Effect.async((resume) =>
    decoder(body, { maxOutputLength: limits.maxBytes }, (error: NodeJS.ErrnoException | null, decoded) => {
      if (error === null) resume(Effect.succeed(decoded))
      else resume(Effect.fail(error.code === "ERR_BUFFER_TOO_LARGE" ? tooLarge(limits) : corrupt))
    })
  )
}
