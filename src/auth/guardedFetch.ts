/**
 * A `fetch` for URLs that a server chose. It goes only where `UrlGuard` permits, dials only addresses that were checked, sends
 * nothing that it was not given, and bounds the answer in size and time.
 */
// @effect-diagnostics nodeBuiltinImport:off - node's own client, because only it dials the address that was checked
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import type { LookupAddress } from "node:dns"
import type * as Http from "node:http"
import type * as Https from "node:https"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as Client from "../transport/http/client.ts"
import * as Proxy from "../transport/http/proxy.ts"
import * as UrlGuard from "./UrlGuard.ts"

/** The type that the functions of the SDK take. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

export type Lookup = (host: string) => Effect.Effect<ReadonlyArray<LookupAddress>, GuardedFetchError>

export interface Options {
  readonly rules: UrlGuard.Rules
  readonly lookup: Lookup
  /** The trusted certificates in PEM (default: those of node). */
  readonly ca: string | undefined
  /** The proxy of a URL. It looks the name up, so the addresses of the name are not checked here. */
  readonly proxyOf: (url: URL) => Either.Either<Proxy.Proxy | undefined, Proxy.Invalid>
}

/** For a whole fetch, with its lookup and its redirects. */
const timeout = Duration.seconds(10)

/** Of the decoded body. */
const maxBytes = 1024 * 1024
const maxHeaderBytes = 32 * 1024
const maxRedirects = 3

/**
 * `blocked`: the URL, or an address of its host, is not permitted; `redirect`: the answer is elsewhere, and is not followed;
 * `unreachable`: there was no answer, or none that can be read.
 *
 * A TypeError, as the Fetch Standard says, because the SDK makes guesses after any other error.
 */
export class GuardedFetchError extends TypeError {
  readonly _tag = "GuardedFetchError"
  readonly reason: "blocked" | "unreachable" | "timeout" | "too-large" | "redirect"
  /** Present if the rules refused the URL. */
  readonly fault: UrlGuard.Fault | undefined
  /** The code of node: `ECONNREFUSED`, `ENOTFOUND`, `CERT_HAS_EXPIRED`. */
  readonly errno: string | undefined
  /** The address of the proxy that did not connect, or the setting with an invalid one. */
  readonly proxy: string | undefined

  constructor(
    reason: GuardedFetchError["reason"],
    detail: string,
    { errno, fault, proxy }: Partial<GuardedFetchError> = {}
  ) {
    super(`not fetched (${reason}): ${UntrustedText.excerpt(detail, 512)}`)
    this.name = "GuardedFetchError"
    this.reason = reason
    this.fault = fault
    this.errno = errno
    this.proxy = proxy
  }
}

const refuse = (...fault: ConstructorParameters<typeof GuardedFetchError>) =>
  Either.left(new GuardedFetchError(...fault))

const noAddress = (errno: string | undefined) => refuse("unreachable", "the name has no address", { errno })

/** The lookup of the system, which other programs use, too. */
const systemLookup: Lookup = (host) =>
  Effect.async((resume) =>
    process.getBuiltinModule("node:dns").lookup(
      host,
      { all: true },
      (error, addresses) => resume(error === null ? Either.right(addresses) : noAddress(error.code))
    )
  )

export const defaults: Options = {
  rules: UrlGuard.defaults,
  lookup: systemLookup,
  ca: undefined,
  proxyOf: () => Either.right(undefined)
}

/** Looks up once. One address that is not permitted refuses the name, because it was added to be tried. */
const addressesOf = ({ lookup, rules }: Options, host: string): ReturnType<Lookup> =>
  Effect.flatMap(lookup(host), (addresses) => {
    if (addresses.length === 0) return noAddress(undefined)
    return addresses.every(({ address }) => UrlGuard.dialable(host, address, rules))
      ? Either.right(addresses)
      : refuse("blocked", "the name has a private address", { fault: "private-address" })
  })

interface Question {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  readonly body: string | undefined
}

/** Headers of the connection, which the caller does not decide. */
const connectionHeaders =
  "accept-encoding connection content-length expect host keep-alive proxy-authorization te trailer transfer-encoding upgrade"
    .split(" ")

/** Headers for the one URL that they were given for. */
const credentialHeaders = ["authorization", "cookie", "dpop"]

/** The headers of an answer that are read; those of the encoded body, and cookies, are dropped with the others. */
const keptHeaders = ["content-type", "dpop-nonce", "location"]

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])

const without = (headers: Headers, names: ReadonlyArray<string>): Headers => {
  const rest = new Headers(headers)
  for (const name of names) rest.delete(name)
  return rest
}

const permitted = (url: string | URL, { rules }: Options): Either.Either<URL, GuardedFetchError> =>
  Either.mapLeft(
    UrlGuard.fetchable(url, rules),
    (fault) => new GuardedFetchError("blocked", `the URL is not permitted (${fault})`, { fault })
  )

const questionOf = (
  url: string | URL,
  { body, headers: given, method: verb = "GET" }: RequestInit,
  options: Options
): Either.Either<Question, GuardedFetchError> => {
  const method = verb.toUpperCase()
  if (!methods.has(method)) return refuse("blocked", "the method is not permitted")
  if (body instanceof URLSearchParams || typeof (body ?? "") === "string") {
    // a Response has the content type of its body
    const usual = new Headers({ accept: "*/*", ...Object.fromEntries(new Response(body).headers) })
    for (const [name, value] of new Headers(given)) usual.set(name, value)
    const headers = without(usual, connectionHeaders)
    headers.set("accept-encoding", "identity")
    return Either.map(permitted(url, options), (url) => ({ url, method, headers, body: body?.toString() }))
  }
  return refuse("blocked", "only text is sent")
}

const lost = (errno: string | undefined) =>
  errno === "HPE_HEADER_OVERFLOW"
    ? refuse("too-large", "the answer has too many headers")
    : refuse("unreachable", `the connection failed (${errno ?? "unknown"})`, { errno })

const viaProxy = (proxy: string, errno: string) =>
  refuse("unreachable", `the proxy ${proxy} does not connect (${errno})`, { errno, proxy })

const faults = {
  oversize: refuse("too-large", `the response has more than ${maxBytes} bytes`),
  cut: lost("ECONNRESET"),
  corrupt: refuse("unreachable", "the answer cannot be decoded"),
  encoding: refuse("unreachable", "the answer has an unknown encoding")
}

const isRedirect = (status: number): boolean => status >= 300 && status < 400

const responseOf = (
  { headers: given, statusCode: status = 0 }: Http.IncomingMessage,
  body: Buffer
): Either.Either<Response, GuardedFetchError> => {
  if (status < 200 || status > 599) return refuse("unreachable", `the answer has the status ${status}`)
  const headers = new Headers(keptHeaders.flatMap((name) => {
    const value = given[name]
    return typeof value === "string" ? [[name, value]] : []
  }))
  return Either.right(new Response(body.length === 0 || status === 205 ? null : body, { status, headers }))
}

/**
 * One request on a socket of its own, which is destroyed with the answer, a failure or an interruption. The body of a redirect
 * is not read.
 */
const ask = (
  { body, headers, method, url }: Question,
  addresses: ReadonlyArray<LookupAddress>,
  proxy: Proxy.Proxy | undefined,
  options: Options
): Effect.Effect<Response, GuardedFetchError> =>
  Effect.async((resume) => {
    const { request } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http")
    const ending = new AbortController()
    const settings: Https.RequestOptions = {
      agent: proxy === undefined ? false : Proxy.agent(proxy, url.protocol === "https:", ending.signal),
      method,
      headers: Object.fromEntries(headers),
      maxHeaderSize: maxHeaderBytes,
      insecureHTTPParser: false,
      // the environment could say otherwise
      rejectUnauthorized: true,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
      // an address in the URL itself is dialled without a lookup
      lookup: (_host, { all }, callback) =>
        all === true
          ? callback(null, addresses.map(({ address, family }) => ({ address, family })))
          : callback(null, addresses[0]!.address, addresses[0]!.family)
    }
    const sent = request(url, settings)
    const destroy = () => {
      ending.abort()
      sent.destroy()
    }
    const end = (result: Either.Either<Response, GuardedFetchError>) => {
      destroy()
      resume(result)
    }
    sent.on("error", (error: NodeJS.ErrnoException) =>
      end(error instanceof Proxy.ProxyError ? viaProxy(error.address, error.code) : lost(error.code)))
    // the only event after a switch of protocols
    const closed = () =>
      end(lost("ECONNRESET"))
    sent.on("close", closed)
    sent.on("response", (response) => {
      sent.off("close", closed)
      if (isRedirect(response.statusCode ?? 0)) {
        return end(responseOf(response, Buffer.alloc(0)))
      }
      const chunks: Array<Buffer> = []
      let bytes = 0
      const onChunk = (chunk: Buffer): boolean => {
        chunks.push(chunk)
        bytes += chunk.length
        return bytes <= maxBytes
      }
      Client.read(response, onChunk, (how) =>
        end(how === "ended" ? responseOf(response, Buffer.concat(chunks)) : faults[how]))
    })
    sent.end(body)
    return Effect.sync(destroy)
  })

/** The question that a redirect leads to: a GET within the origin. */
const following = (question: Question, location: string | null, options: Options) => {
  const { headers, method, url } = question
  if (method !== "GET") return refuse("redirect", "what was sent is answered elsewhere")
  if (location === null || !URL.canParse(location, url.href)) return refuse("redirect", "it names no URL")
  const to = new URL(location, url)
  if (to.origin !== url.origin) return refuse("redirect", "it leads to another origin")
  return Either.map(
    permitted(to, options),
    (url) => ({ ...question, url, headers: without(headers, credentialHeaders) })
  )
}

const fetched = (url: string | URL, init: RequestInit, options: Options): Effect.Effect<Response, GuardedFetchError> =>
  Effect.gen(function*() {
    let question = yield* questionOf(url, init, options)
    const { hostname } = question.url
    const proxy = yield* Either.mapLeft(
      options.proxyOf(question.url),
      ({ detail, path }) => new GuardedFetchError("unreachable", `${path} is ${detail}`, { proxy: path })
    )
    // the redirects stay at this host
    const isChecked = proxy !== undefined || UrlGuard.isAddress(hostname)
    const addresses = isChecked ? [] : yield* addressesOf(options, hostname)
    const allowed = init.redirect === "error" ? 0 : maxRedirects
    for (let redirects = 0;; redirects++) {
      const response = yield* ask(question, addresses, proxy, options)
      if (!isRedirect(response.status)) return response
      if (redirects === allowed) return yield* refuse("redirect", "there are too many redirects")
      question = yield* following(question, response.headers.get("location"), options)
    }
  })

/** Fetches until the scope closes, which ends the fetches that are under way with their sockets. */
export const make = (custom: Partial<Options> = {}): Effect.Effect<Fetch, never, Scope.Scope> =>
  Effect.map(FiberSet.makeRuntime<never, Response, GuardedFetchError>(), (fork): Fetch => {
    const options = { ...defaults, ...custom }
    const late = () => new GuardedFetchError("timeout", `there was no whole answer within ${Duration.format(timeout)}`)
    return (url, init = {}) =>
      new Promise((resolve, reject) => {
        const signal = init.signal ?? undefined
        if (signal?.aborted === true) return reject(signal.reason)
        const fiber = fork(Effect.timeoutFail(fetched(url, init, options), { duration: timeout, onTimeout: late }))
        const abort = () => {
          reject(signal?.reason)
          fiber.unsafeInterruptAsFork(FiberId.none)
        }
        signal?.addEventListener("abort", abort, { once: true })
        fiber.addObserver((exit) => {
          signal?.removeEventListener("abort", abort)
          if (Exit.isSuccess(exit)) return resolve(exit.value)
          const isInterrupted = Cause.isInterruptedOnly(exit.cause)
          reject(isInterrupted ? new DOMException("the fetch was ended", "AbortError") : Cause.squash(exit.cause))
        })
      })
  })
