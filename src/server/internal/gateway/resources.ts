/**
 * The resources of all servers for one caller. A URI is the server's own, and whose it is, is what was listed, what a
 * template fits, or who has named it; what two servers list is written with its server, so that it is one again.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as McpClient from "../../../client/McpClient.ts"
import type * as McpRuntime from "../../../McpRuntime.ts"
import * as RuntimeLog from "../../../runtimeLog.ts"
import * as HiddenText from "../../../safety/HiddenText.ts"
import * as UriTemplate from "../../../text/uriTemplate.ts"
import * as Tool from "../../../tools/Tool.ts"
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import * as McpServer from "../../McpServer.ts"
import * as Exchange from "../exchange.ts"
import * as Extensions from "./extensions.ts"
import type * as Links from "./links.ts"
import type * as Seat from "./seat.ts"
import * as Tools from "./tools.ts"

type Listed<A> = McpRuntime.Gathered<A>["items"][number]

/** @internal */
export interface Identity {
  readonly server: string
  readonly uri: string
}

/** @internal */
export interface Resources {
  readonly list: Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal>
  readonly templates: Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal>
  readonly read: McpServer.Handler
  readonly watch: (
    uri: string,
    changed: (uri: string) => void
  ) => Effect.Effect<void, McpServer.Refusal, Scope.Scope>
  /** Whose a template is. */
  readonly template: (uriTemplate: string) => Effect.Effect<Identity, McpServer.Refusal>
}

const longestUri = 8_192

const scheme = "mcp+server:"

const qualified = (server: string, uri: string): string => `${scheme}${encodeURIComponent(server)}/${uri}`

const parse = (uri: string): Identity | undefined => {
  if (!uri.startsWith(scheme)) return undefined
  const at = uri.indexOf("/", scheme.length)
  if (at === -1) return undefined
  try {
    return { server: decodeURIComponent(uri.slice(scheme.length, at)), uri: uri.slice(at + 1) }
  } catch {
    return undefined
  }
}

const unknown = (uri: string): McpServer.Refusal =>
  new McpServer.Refusal({
    code: McpServer.codes.invalidParams,
    message: `Resource not found: ${uri.slice(0, 256)}`,
    data: { uri: uri.slice(0, longestUri) }
  })

const uriOf = ({ uri }: JsonRpc.JsonObject): Effect.Effect<string, McpServer.Refusal> =>
  typeof uri !== "string" || uri === ""
    ? Effect.fail(Exchange.invalidParams("Invalid params: uri must be a text"))
    : uri.length > longestUri
    ? Effect.fail(unknown(uri))
    : Effect.succeed(uri)

/** @internal */
export const make = (
  { failures, options, place, texts, whose }: Tools.Options & Pick<Links.Links, "whose">
): Resources => {
  const isOffered = ({ permissions }: Seat.Seat) => ({ server, uri }: Identity): boolean =>
    permissions.decide("model", { kind: "resource", server, name: uri }).decision !== "deny"

  const resources = (wait: Duration.DurationInput) =>
    Effect.gen(function*() {
      const base = yield* place.base
      const { items } = yield* base.runtime.offered(wait).resources
      return items.filter(isOffered(base))
    })

  const templates = (wait: Duration.DurationInput) =>
    Effect.gen(function*() {
      const base = yield* place.base
      const { items } = yield* base.runtime.offered(wait).resourceTemplates
      return items.filter(({ server, uriTemplate }) => isOffered(base)({ server, uri: uriTemplate }))
    })

  /** What more than one server has is written with its server, and what is written so by another gateway once more. */
  const written = <A>(
    items: ReadonlyArray<Listed<A> & { readonly raw: JsonRpc.JsonObject }>,
    key: "uri" | "uriTemplate",
    uriOf: (item: Listed<A>) => string
  ): ReadonlyArray<JsonRpc.JsonObject> => {
    const owners = new Map<string, string | undefined>()
    for (const item of items) {
      const uri = uriOf(item)
      owners.set(uri, owners.has(uri) && owners.get(uri) !== item.server ? undefined : item.server)
    }
    return items.map((item) => {
      const uri = uriOf(item)
      const { raw } = item
      return {
        ...(options.output === "asis" ? raw : HiddenText.cleanJson(raw)),
        [key]: owners.get(uri) === undefined || parse(uri) !== undefined ? qualified(item.server, uri) : uri
      }
    })
  }

  const only = (servers: Iterable<string>): string | undefined => {
    const [one, ...others] = new Set(servers)
    return others.length === 0 ? one : undefined
  }

  /** Servers with a tool that shows this page: a host need not find the page in a list of resources. */
  const showing = (uri: string) =>
    Effect.map(
      place.base,
      (base) =>
        [base, place.own() ?? base].flatMap(({ catalog }) =>
          catalog.index().entries.flatMap(({ server, tool }) => Tool.uiResource(tool) === uri ? [server] : [])
        )
    )

  /** The owner by what is known after this wait. The page of an app that several servers claim has none. */
  const ownerAfter = (uri: string, wait: Duration.DurationInput) =>
    Effect.gen(function*() {
      const [listed, patterns] = yield* Effect.all([resources(wait), templates(wait)], { concurrency: "unbounded" })
      const listing = listed.flatMap((one) => one.uri === uri ? [one.server] : [])
      const shown = yield* showing(uri)
      const linked = whose(uri)
      const fitting = patterns.flatMap(({ server, uriTemplate }) =>
        UriTemplate.matcher(uriTemplate)(uri) ? [server] : []
      )
      const claims = Extensions.isPage(uri)
        ? [[...listing, ...shown], [...linked, ...fitting]]
        : [new Set(listing).size === 1 ? listing : linked, shown, fitting]
      const owners = claims.find((servers) => servers.length > 0)
      if (owners !== undefined || wait === 0) return only(owners ?? [])
      // what nobody has announced may be there all the same, where only one server has any
      return only([...listed, ...patterns].map(({ server }) => server))
    })

  /**
   * A URI with a known owner waits for no other server. The page of an app does, because a server that is still to answer
   * may claim it too.
   */
  const owner = (uri: string): Effect.Effect<Identity, McpServer.Refusal> =>
    Effect.gen(function*() {
      const explicit = parse(uri)
      if (explicit !== undefined) return explicit
      const known = Extensions.isPage(uri) ? undefined : yield* ownerAfter(uri, 0)
      const server = known ?? (yield* ownerAfter(uri, options.gate))
      return server === undefined ? yield* unknown(uri) : { server, uri }
    })

  const read: McpServer.Handler = (exchange) =>
    Effect.scoped(Effect.gen(function*() {
      const asked = yield* uriOf(exchange.params)
      const { server, uri } = yield* owner(asked)
      const { isHandedOver, seat } = yield* place.seatFor(
        exchange,
        server,
        ({ permissions }) => permissions.decide("model", { kind: "resource", server, name: uri }).decision === "ask"
      )
      const got = seat.runtime.withClient(server, ({ request }) =>
        request("resources/read", Tools.paramsFor(exchange, { uri }, isHandedOver), {
          passInput: isHandedOver ? { capabilities: Extensions.passed(exchange.caller.capabilities) } : undefined
        }), { origin: "model" })
      const raw = yield* Effect.mapError(seat.during(server, exchange)(got), failures.refusal)
      const result = Tools.resultFor(raw)
      const contents = yield* texts.contents(raw["contents"], { server, tool: uri, kind: "resource" })
      return contents === undefined ? result : { ...result, contents }
    }))

  const watch: Resources["watch"] = (asked, changed) =>
    Effect.gen(function*() {
      const { server, uri } = yield* owner(yield* uriOf({ uri: asked }))
      const seat = place.own() ?? (yield* place.base)
      yield* Effect.forkScoped(
        seat.runtime.subscribeResource(server, uri, { origin: "model" }).pipe(
          Stream.runForEach(() => Effect.sync(() => changed(asked))),
          Effect.catchAll((error) => RuntimeLog.debug("The subscription to a resource ended", error))
        )
      )
    })

  return {
    list: Effect.map(resources(options.gate), (items) => ({
      resources: written<McpClient.Resource>(items, "uri", ({ uri }) => uri)
    })),
    templates: Effect.map(templates(options.gate), (items) => ({
      resourceTemplates: written<McpClient.ResourceTemplate>(items, "uriTemplate", ({ uriTemplate }) => uriTemplate)
    })),
    read,
    watch,
    template: (uriTemplate) => {
      const explicit = parse(uriTemplate)
      if (explicit !== undefined) return Effect.succeed(explicit)
      return Effect.flatMap(templates(options.gate), (items) => {
        const server = only(items.flatMap((one) => one.uriTemplate === uriTemplate ? [one.server] : []))
        return server === undefined ? Effect.fail(unknown(uriTemplate)) : Effect.succeed({ server, uri: uriTemplate })
      })
    }
  }
}
