/** A runtime for a caller: what its servers ask goes to whoever has called them. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as InputHandlers from "../../../client/InputHandlers.ts"
import * as Protocol from "../../../client/Protocol.ts"
import * as McpEvent from "../../../McpEvent.ts"
import * as McpRuntime from "../../../McpRuntime.ts"
import * as RuntimeLog from "../../../runtimeLog.ts"
import * as Permissions from "../../../safety/Permissions.ts"
import * as ToolCatalog from "../../../tools/ToolCatalog.ts"
import * as JsonRpc from "../../../transport/JsonRpc.ts"
import * as McpServer from "../../McpServer.ts"
import * as Runtimes from "../../Runtimes.ts"
import { metaOf, objectOf } from "../exchange.ts"
import * as LogLevels from "../logLevels.ts"
import * as Consent from "./consent.ts"
import * as Extensions from "./extensions.ts"

/** @internal */
export interface Seat {
  readonly runtime: McpRuntime.McpRuntime["Type"]
  readonly events: McpEvent.McpEvents["Type"]
  readonly permissions: Permissions.Permissions["Type"]
  readonly catalog: ToolCatalog.ToolCatalog["Type"]
  readonly context: Context.Context<Runtimes.Services>
  /** While this goes on, what the server asks is put to this request. */
  readonly during: (
    server: string,
    exchange: McpServer.Exchange
  ) => <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Tells the request that a server is working on what it logs. */
  readonly log: (server: string, message: McpServer.LogMessage) => void
  /** The servers that are connected here. */
  readonly connected: Effect.Effect<ReadonlySet<string>>
}

type Ask = McpServer.Exchange["ask"]

/** Whom a server asks, if not the request that it is working on. */
type Otherwise = Ask | undefined

/** What a caller can be asked at all. */
const asks = (capabilities: JsonRpc.JsonObject, what: string): boolean => JsonRpc.isObject(capabilities[what])

const isAskable = (capabilities: JsonRpc.JsonObject): boolean =>
  asks(capabilities, "elicitation") || asks(capabilities, "sampling") || asks(capabilities, "roots")

/** True if a caller declares capabilities that the shared connections do not have, so it gets separate connections. */
export const declares = (capabilities: JsonRpc.JsonObject): boolean =>
  isAskable(capabilities) || Extensions.isDeclared(capabilities)

/** How much a request of the stateless era wants to be told. */
export const levelOf = (params: JsonRpc.JsonObject): McpServer.LogLevel | undefined =>
  LogLevels.read(metaOf(params)[Protocol.metaKey.logLevel])

const declined = { action: "cancel" } as const

const answerOf = (given: JsonRpc.JsonObject): InputHandlers.ElicitationAnswer => {
  const { action, content } = given
  if (action === "accept") return { action, content: content === undefined ? undefined : objectOf(content) }
  return { action: action === "decline" ? "decline" : "cancel" }
}

const rootsOf = ({ roots }: JsonRpc.JsonObject): ReadonlyArray<InputHandlers.Root> =>
  Array.isArray(roots)
    ? roots.flatMap((root: unknown): ReadonlyArray<InputHandlers.Root> => {
      const { name, uri } = objectOf(root)
      return typeof uri === "string" ? [{ uri, name: typeof name === "string" ? name : undefined }] : []
    })
    : []

/** A person who has several servers is told which of them asks. */
const labelled = (
  { params, server }: InputHandlers.Elicitation,
  isLabelled: boolean
): JsonRpc.JsonObject => {
  const { message } = params
  return isLabelled && typeof message === "string" ? { ...params, message: `${server}: ${message}` } : params
}

const handlers = (
  { capabilities, isLabelled }: Pick<Options, "capabilities" | "isLabelled">,
  ask: (server: string) => Ask
): InputHandlers.Handlers => {
  const elicitation = objectOf(capabilities["elicitation"])
  const isUrl = JsonRpc.isObject(elicitation["url"])
  // before there were modes, forms were all there was
  const isForm = JsonRpc.isObject(elicitation["form"]) || !isUrl
  const extensions = Extensions.of(capabilities)
  return {
    ...(Object.keys(extensions).length === 0 ? {} : { capabilities: { extensions } }),
    ...(asks(capabilities, "roots")
      ? {
        roots: (server: string) => Effect.match(ask(server)("roots/list"), { onFailure: () => [], onSuccess: rootsOf })
      }
      : {}),
    ...(asks(capabilities, "elicitation")
      ? {
        elicit: (elicitation: InputHandlers.Elicitation) =>
          Effect.match(ask(elicitation.server)("elicitation/create", labelled(elicitation, isLabelled)), {
            onFailure: () => declined,
            onSuccess: answerOf
          }),
        elicitModes: [...(isForm ? ["form" as const] : []), ...(isUrl ? ["url" as const] : [])]
      }
      : {}),
    ...(asks(capabilities, "sampling")
      ? {
        sample: ({ params, server }: InputHandlers.Sampling) =>
          Effect.match(ask(server)("sampling/createMessage", params), {
            onFailure: () => undefined,
            onSuccess: (given) => given
          }),
        sampleTools: JsonRpc.isObject(objectOf(capabilities["sampling"])["tools"])
      }
      : {})
  }
}

const nobody: Ask = () =>
  Effect.fail(new McpServer.Refusal({ code: McpServer.codes.internal, message: "Nobody can be asked now" }))

/** @internal */
export interface Options {
  readonly lazy: boolean
  readonly capabilities: JsonRpc.JsonObject
  readonly isLabelled: boolean
  readonly otherwise: Otherwise
  /** Whether all callers have it, so that nothing about it is as one of them wants it. */
  readonly isShared: boolean
}

/** A runtime that asks this caller, or nobody. */
export const open = (options: Options): Effect.Effect<Seat, McpServer.Refusal, Runtimes.Runtimes | Scope.Scope> =>
  Effect.gen(function*() {
    const { capabilities, lazy, otherwise } = options
    const runtimes = yield* Runtimes.Runtimes
    const running = new Map<string, Set<McpServer.Exchange>>()
    /** The last that was begun, because it is what the server is most likely at work for. */
    const last = (server: string) => Array.from(running.get(server) ?? []).at(-1)
    const ask = (server: string): Ask => last(server)?.ask ?? otherwise ?? nobody
    const canApprove = asks(capabilities, "elicitation")
    const context = yield* Effect.catchAll(
      runtimes.open({
        lazy,
        handlers: declares(capabilities) ? handlers(options, ask) : undefined,
        approval: canApprove
          ? { ask: (request) => Consent.ask(request, ask(request.subject.server)) }
          : undefined
      }),
      (error) =>
        Effect.zipRight(
          RuntimeLog.error("The servers for a caller could not be started", error),
          Effect.fail(
            new McpServer.Refusal({ code: McpServer.codes.internal, message: "The servers could not be started" })
          )
        )
    )
    const runtime = Context.get(context, McpRuntime.McpRuntime)
    /** In the stateless era each request says how much is logged for it. */
    const levelled = (server: string, { caller, params }: McpServer.Exchange): Effect.Effect<void> => {
      const level = options.isShared || caller.era === "session" ? undefined : levelOf(params)
      return level === undefined
        ? Effect.void
        : Effect.ignore(runtime.withClient(server, ({ setLogLevel }) => Effect.ignore(setLogLevel(level))))
    }
    return {
      runtime,
      events: Context.get(context, McpEvent.McpEvents),
      permissions: Context.get(context, Permissions.Permissions),
      catalog: Context.get(context, ToolCatalog.ToolCatalog),
      context,
      during: (server, exchange) => (self) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            const those = running.get(server) ?? new Set()
            running.set(server, those.add(exchange))
            return those
          }),
          () => Effect.zipRight(levelled(server, exchange), self),
          (those) =>
            Effect.sync(() => {
              those.delete(exchange)
              if (those.size === 0 && running.get(server) === those) running.delete(server)
            })
        ),
      log: (server, message) => last(server)?.log(message),
      connected: Effect.map(
        runtime.servers.list,
        (servers) => new Set(servers.flatMap(({ name, status }) => status._tag === "Connected" ? [name] : []))
      )
    }
  })
