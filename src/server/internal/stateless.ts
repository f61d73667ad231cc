/** The stateless era: every request says who sends it and what can be asked, and depends on none before it. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Scope from "effect/Scope"
import * as Protocol from "../../client/Protocol.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import * as McpServer from "../McpServer.ts"
import * as Exchange from "./exchange.ts"
import * as Initialize from "./initialize.ts"
import * as Listening from "./listening.ts"
import * as LogLevels from "./logLevels.ts"
import type * as Outlet from "./outlet.ts"
import * as Rounds from "./rounds.ts"

/** @internal */
export interface Options {
  readonly offer: McpServer.Offer
  readonly limits: McpServer.Limits
  readonly link: McpServer.Caller["link"]
}

/** @internal */
export interface Request {
  readonly id: JsonRpc.Id
  readonly method: string
  readonly params: JsonRpc.JsonObject
  readonly principal: string | undefined
  readonly outlet: Outlet.Outlet
  readonly header: McpServer.Exchange["header"]
}

/** @internal */
export interface Stateless {
  /** Interrupting it cancels the request. */
  readonly answer: (request: Request) => Effect.Effect<Exchange.End>
  /** Whoever listens is told that this was all. */
  readonly end: () => void
}

/** Whether a request is of this era; one that is not is of the other. */
export const isOfEra = (params: JsonRpc.JsonObject): boolean =>
  Exchange.metaOf(params)[Protocol.metaKey.protocolVersion] !== undefined

/** The same of a request that may leave out what it must say. */
export const isForEra = (
  { method, params }: { readonly method: string; readonly params: JsonRpc.JsonObject }
): boolean => isOfEra(params) || method === "server/discover" || method === "subscriptions/listen"

/** @internal */
export const unsupported = (requested: string): McpServer.Refusal =>
  new McpServer.Refusal({
    code: McpServer.codes.unsupportedVersion,
    message: "Unsupported protocol version",
    data: { supported: [...Protocol.statelessVersions], requested }
  })

const callerOf = (
  params: JsonRpc.JsonObject,
  link: McpServer.Caller["link"],
  principal: string | undefined
): Either.Either<McpServer.Caller, McpServer.Refusal> => {
  const meta = Exchange.metaOf(params)
  const version = meta[Protocol.metaKey.protocolVersion]
  const capabilities = meta[Protocol.metaKey.clientCapabilities]
  const info = meta[Protocol.metaKey.clientInfo]
  if (typeof version !== "string") {
    return Either.left(Exchange.invalidParams(`Invalid params: _meta needs ${Protocol.metaKey.protocolVersion}`))
  }
  if (!JsonRpc.isObject(capabilities)) {
    return Either.left(Exchange.invalidParams(`Invalid params: _meta needs ${Protocol.metaKey.clientCapabilities}`))
  }
  if (!Protocol.statelessVersions.includes(version)) return Either.left(unsupported(version))
  return Either.right({
    era: "stateless",
    link,
    protocolVersion: version,
    clientInfo: JsonRpc.isObject(info) ? Exchange.objectOf(info) : undefined,
    capabilities: Exchange.objectOf(capabilities),
    principal
  })
}

const cacheable: ReadonlySet<string> = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read"
])

const notKept: McpServer.CacheHints = { ttlMs: 0, cacheScope: "private" }

/** A handler that is not there is no method of this era, or none that anybody has. */
const gone: ReadonlySet<string> = new Set([
  "initialize",
  "logging/setLevel",
  "ping",
  "resources/subscribe",
  "resources/unsubscribe"
])

/** @internal */
export const make = ({ limits, link, offer }: Options): Effect.Effect<Stateless, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const listening = Listening.make(offer)
    const rounds = yield* Rounds.make(limits)
    const noOne: McpServer.Refusal = new McpServer.Refusal({
      code: McpServer.codes.internal,
      message: "Nobody can be asked outside of a request"
    })
    const visit: McpServer.Visit = {
      caller: {
        era: "stateless",
        link,
        protocolVersion: Protocol.firstStatelessVersion,
        clientInfo: undefined,
        capabilities: {},
        principal: undefined
      },
      notify: listening.tell,
      log: () => undefined,
      ask: () => Effect.fail(noOne)
    }
    const lock = yield* Effect.makeSemaphore(1)
    let there: McpServer.Attendance | undefined
    /** Whoever comes first opens; one who does not wait for that keeps nobody from it. */
    const attendance = Effect.suspend(() =>
      there !== undefined ? Effect.succeed(there) : lock.withPermits(1)(Effect.suspend(() =>
        there !== undefined
          ? Effect.succeed(there)
          : Effect.map(Scope.extend(offer.attend(visit), scope), (made) => {
            there = made
            return made
          })
      ))
    )

    const info = Initialize.infoOf(offer)
    const completed = (
      method: string,
      result: JsonRpc.JsonObject,
      hints: McpServer.Attendance["hints"]
    ): JsonRpc.JsonObject => {
      const resultType = result["resultType"] ?? "complete"
      const kept = resultType === "complete" && cacheable.has(method) ? hints?.(method) ?? notKept : undefined
      return {
        ...kept,
        ...result,
        resultType,
        _meta: { ...Exchange.metaOf(result), [Protocol.metaKey.serverInfo]: info }
      }
    }

    const discovered = (capabilities: JsonRpc.JsonObject): JsonRpc.JsonObject => ({
      supportedVersions: [...Protocol.statelessVersions],
      capabilities,
      ...(offer.instructions === undefined ? {} : { instructions: offer.instructions })
    })

    const ask = (
      caller: McpServer.Caller,
      park: McpServer.Exchange["ask"]
    ): McpServer.Exchange["ask"] =>
    (method, params) => {
      const needed = capabilityOf(method)
      return needed === undefined || JsonRpc.isObject(caller.capabilities[needed])
        ? park(method, params)
        : Effect.fail(
          new McpServer.Refusal({
            code: McpServer.codes.missingCapability,
            message: `The caller cannot be asked: ${needed} is not among its capabilities`,
            data: { requiredCapabilities: { [needed]: {} } }
          })
        )
    }

    const handle = (
      request: Request,
      caller: McpServer.Caller,
      attendance: McpServer.Attendance
    ): Effect.Effect<Exchange.End> => {
      const { handlers, hints, watch } = attendance
      const { header, id, method, outlet, params, principal } = request
      if (method === "server/discover") {
        return Effect.map(
          Initialize.capabilities(offer, caller, attendance),
          (capabilities) => Either.right(completed(method, discovered(capabilities), hints))
        )
      }
      if (method === "subscriptions/listen") {
        return Effect.map(
          Exchange.ended(method, listening.listen(id, params, outlet, watch)),
          (end) => end && Either.map(end, (result) => completed(method, result, hints))
        )
      }
      const handler = handlers.get(method)
      if (handler === undefined) return Effect.succeed(Either.left(Exchange.missing(method)))
      const level = LogLevels.read(Exchange.metaOf(params)[Protocol.metaKey.logLevel])
      const run: Parameters<Rounds.Rounds["answer"]>[1] = (now, park) =>
        handler(Exchange.make({
          caller,
          method,
          params,
          header,
          outlet: () => now()?.outlet,
          progressToken: () => Exchange.metaOf(now()?.params ?? {})["progressToken"],
          level: () => level,
          ask: ask(caller, park)
        }))
      return Effect.map(
        rounds.answer({ principal, method, params, outlet }, run),
        (end) => end && Either.map(end, (result) => completed(method, result, hints))
      )
    }

    return {
      answer: (request) =>
        Effect.suspend(() => {
          const { method, params, principal } = request
          const caller = callerOf(params, link, principal)
          if (Either.isLeft(caller)) return Effect.succeed(Either.left(caller.left))
          if (gone.has(method)) return Effect.succeed(Either.left(Exchange.missing(method)))
          return Exchange.orBug(
            method,
            Effect.matchEffect(attendance, {
              onFailure: (refusal) => Effect.succeed(Either.left(refusal)),
              onSuccess: (there) => handle(request, caller.right, there)
            })
          )
        }),
      end: listening.end
    }
  })

const capabilityOf = (method: string): string | undefined => {
  switch (method) {
    case "elicitation/create":
      return "elicitation"
    case "sampling/createMessage":
      return "sampling"
    case "roots/list":
      return "roots"
    default:
      return undefined
  }
}
