/**
 * A `fetch` for addresses that a server has chosen. It goes only where `UrlGuard` lets it, sends nothing that it was not
 * given, and takes little: a small answer, soon.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import * as Scoped from "../../scoped.ts"
import * as UrlGuard from "../UrlGuard.ts"
import * as AddressKind from "./addressKind.ts"
import { GuardedFetchError } from "./guardedFetchError.ts"
import type * as Exchange from "./guardedFetchExchange.ts"
import * as Lookup from "./guardedFetchLookup.ts"
import { withoutProto } from "./protoKey.ts"

/**
 * What the functions of the SDK take.
 *
 * @internal
 */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** @internal */
export interface Options {
  readonly rules: UrlGuard.Rules
  /** For a whole fetch, with its lookup and its redirects. */
  readonly timeout: Duration.DurationInput
  /** Of the body, when it is no longer compressed. */
  readonly maxBytes: number
  readonly maxHeaderBytes: number
  readonly maxRedirects: number
  readonly lookup: Lookup.Lookup
  /** Whose certificates are trusted, in PEM, in place of those that node trusts. */
  readonly ca: string | undefined
}

/** @internal */
export const defaults: Options = {
  rules: UrlGuard.defaults,
  timeout: "10 seconds",
  maxBytes: 1024 * 1024,
  maxHeaderBytes: 32 * 1024,
  maxRedirects: 3,
  lookup: Lookup.system,
  ca: undefined
}

/** Most who could fetch something never do, and node's clients take longer to load than all that is around them. */
const loaded = Effect.promise(() => import("./guardedFetchExchange.ts"))

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])

/** Of the connection, which is not the caller's; and no compression, which has no use here. */
const connections: ReadonlyArray<string> = [
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
]

/** Meant for the one address that they were given for. */
const credentials: ReadonlyArray<string> = ["authorization", "cookie", "dpop"]

/** Of the body as it came, or of what nobody keeps. */
const consumed: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "keep-alive",
  "set-cookie",
  "transfer-encoding"
])

const without = (headers: Headers, names: ReadonlyArray<string>): Headers => {
  const rest = new Headers(headers)
  for (const name of names) rest.delete(name)
  return rest
}

const bodyOf = (init: RequestInit, headers: Headers): Either.Either<Buffer | undefined, GuardedFetchError> => {
  const { body } = init
  if (body === undefined || body === null) return Either.right(undefined)
  if (typeof body !== "string" && !(body instanceof URLSearchParams)) {
    return Either.left(new GuardedFetchError("blocked", "only text is sent"))
  }
  if (!headers.has("content-type")) {
    const form = "application/x-www-form-urlencoded;charset=UTF-8"
    headers.set("content-type", typeof body === "string" ? "text/plain;charset=UTF-8" : form)
  }
  return Either.right(Buffer.from(body.toString()))
}

const admitted = (url: string | URL, rules: UrlGuard.Rules): Either.Either<URL, GuardedFetchError> =>
  Either.mapLeft(
    UrlGuard.fetchable(url, rules),
    (fault) => new GuardedFetchError("blocked", `the address is not one to go to (${fault})`, { fault })
  )

const questionOf = (url: string | URL, init: RequestInit, rules: UrlGuard.Rules) =>
  Effect.gen(function*() {
    const method = (init.method ?? "GET").toUpperCase()
    if (!methods.has(method)) return yield* Effect.fail(new GuardedFetchError("blocked", "no method for this"))
    const headers = without(new Headers(init.headers), connections)
    headers.set("accept-encoding", "identity")
    if (!headers.has("accept")) headers.set("accept", "*/*")
    return { url: yield* admitted(url, rules), method, headers, body: yield* bodyOf(init, headers) }
  })

const redirected = (detail: string) => new GuardedFetchError("redirect", detail)

const locationOf = ({ headers }: Exchange.Answer): string | undefined => {
  const at = headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === "location")
  return at === -1 ? undefined : headers[at + 1]
}

/** Where to go on: for what changes nothing, in the same origin, to another address than before. */
const next = (
  { method, url }: Exchange.Question,
  answer: Exchange.Answer,
  rules: UrlGuard.Rules
): Either.Either<URL, GuardedFetchError> => {
  if (method !== "GET") return Either.left(redirected("the answer to what was sent is elsewhere"))
  const location = locationOf(answer)
  if (location === undefined || !URL.canParse(location, url.href)) {
    return Either.left(redirected("elsewhere is nowhere"))
  }
  const to = new URL(location, url)
  return to.origin === url.origin ? admitted(to, rules) : Either.left(redirected("the answer is in another origin"))
}

const responseOf = (answer: Exchange.Answer, limits: Exchange.Limits) =>
  Effect.gen(function*() {
    const { headers, status } = answer
    if (status < 200 || status > 599) {
      return yield* Effect.fail(new GuardedFetchError("unreachable", `the answer has the status ${status}`))
    }
    const exchange = yield* loaded
    const body = withoutProto(yield* exchange.decode(answer, limits))
    if (body === undefined) {
      return yield* Effect.fail(new GuardedFetchError("too-large", "the answer is nested too deeply"))
    }
    const kept = new Headers()
    headers.forEach((name, at) => {
      if (at % 2 === 0 && !consumed.has(name.toLowerCase())) kept.append(name, headers[at + 1] ?? "")
    })
    return new Response(body.length === 0 || status === 205 ? null : body, { status, headers: kept })
  })

/** What `fetch` gives to whoever waits for it when it is given up. */
const aborted = () => new DOMException("the request was given up", "AbortError")

const promised = (
  fork: (effect: Effect.Effect<Response, GuardedFetchError>) => Fiber.RuntimeFiber<Response, GuardedFetchError>,
  effect: Effect.Effect<Response, GuardedFetchError>,
  signal: AbortSignal | undefined
): Promise<Response> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason)
    const fiber = fork(effect)
    const abort = () => {
      reject(signal?.reason)
      fiber.unsafeInterruptAsFork(FiberId.none)
    }
    signal?.addEventListener("abort", abort, { once: true })
    fiber.addObserver((exit) => {
      signal?.removeEventListener("abort", abort)
      if (Exit.isSuccess(exit)) resolve(exit.value)
      else reject(Cause.isInterruptedOnly(exit.cause) ? aborted() : Cause.squash(exit.cause))
    })
  })

/**
 * Until the scope closes, which ends what is under way with its sockets.
 *
 * @internal
 */
export const make = (options: Partial<Options> = {}): Effect.Effect<Fetch, never, Scope.Scope> =>
  Effect.gen(function*() {
    const limits = { ...defaults, ...options }
    const { ca, lookup, maxRedirects, rules } = limits
    let agents: Exchange.Agents | undefined
    yield* Scoped.onClose(() => agents?.destroy())
    const ask = (question: Exchange.Question) =>
      Effect.flatMap(loaded, (exchange) => exchange.ask(question, limits, agents ??= exchange.agents(ca)))
    const fork = yield* FiberSet.makeRuntime<never, Response, GuardedFetchError>()

    const follow = (question: Exchange.Question, left: number): Effect.Effect<Exchange.Answer, GuardedFetchError> =>
      Effect.flatMap(ask(question), (answer) => {
        if (answer.status < 300 || answer.status >= 400) return Effect.succeed(answer)
        if (left === 0) return Effect.fail(redirected("the answer is always elsewhere"))
        return Effect.flatMap(
          next(question, answer, rules),
          (url) => follow({ ...question, url, headers: without(question.headers, credentials) }, left - 1)
        )
      })

    const fetched = Effect.fnUntraced(function*(url: string | URL, init: RequestInit) {
      const question = yield* questionOf(url, init, rules)
      const host = question.url.hostname
      const addresses = AddressKind.ofHost(host) !== undefined ? [] : yield* Lookup.checked(lookup, host, rules)
      const answer = yield* follow({ ...question, addresses }, init.redirect === "error" ? 0 : maxRedirects)
      return yield* responseOf(answer, limits)
    })

    const timeout = Duration.decode(limits.timeout)
    const late = () => new GuardedFetchError("timeout", `there was no whole answer within ${Duration.format(timeout)}`)
    return (url, init = {}) =>
      promised(
        fork,
        Effect.timeoutFail(fetched(url, init), { duration: timeout, onTimeout: late }),
        init.signal ?? undefined
      )
  })
