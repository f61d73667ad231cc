/**
 * The resources of all servers for one peer. A URI belongs to the server that lists it, whose template matches it, or whose
 * result linked to it. A URI that several servers list is shown as `mcp+server:NAME/URI`.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { objectOf } from "../../client/messages.ts"
import type * as McpRuntime from "../../McpRuntime.ts"
import * as RuntimeLog from "../../runtimeLog.ts"
import * as UriTemplate from "../../text/uriTemplate.ts"
import * as Tool from "../../tools/Tool.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import * as McpServer from "../McpServer.ts"
import * as Names from "./names.ts"
import * as PassThrough from "./passThrough.ts"
import * as Peers from "./peers.ts"

export interface Identity {
  readonly server: string
  readonly uri: string
}

export type Resources = ReturnType<typeof make>

const maxUri = 8_192

/** The limit of remembered links; the oldest are dropped. */
const maxLinks = 4_096

const scheme = "mcp+server:"

const qualified = ({ server, uri }: Identity): string => `${scheme}${encodeURIComponent(server)}/${uri}`

const parse = (uri: string): Identity | undefined => {
  const [, server, rest] = /^mcp\+server:([^/]*)\/([^]*)$/.exec(uri) ?? []
  if (server === undefined || rest === undefined) return undefined
  try {
    return { server: decodeURIComponent(server), uri: rest }
  } catch {
    return undefined
  }
}

const unknown = (uri: string): McpServer.Refusal =>
  McpServer.invalidParams(`Resource not found: ${uri.slice(0, 256)}`, { uri: uri.slice(0, maxUri) })

/** The servers that linked to a URI: all of them for the page of an app, and otherwise the latest. */
export const links = () => {
  const servers = new Map<string, ReadonlyArray<string>>()
  const add = (server: string, uri: JsonRpc.Json | undefined): void => {
    if (typeof uri !== "string" || uri.length > maxUri) return
    const others = PassThrough.isPage(uri) ? (servers.get(uri) ?? []).filter((other) => other !== server) : []
    servers.delete(uri)
    servers.set(uri, [...others, server])
    const [oldest] = servers.keys()
    if (servers.size > maxLinks && oldest !== undefined) servers.delete(oldest)
  }
  return {
    add: (server: string, content: JsonRpc.Json | undefined): void => {
      for (const part of Array.isArray(content) ? content : [content]) {
        const { resource, type, uri } = objectOf(part)
        if (type === "resource_link") add(server, uri)
        if (type === "resource") add(server, objectOf(resource)["uri"])
      }
    },
    servers: (uri: string): ReadonlyArray<string> => servers.get(uri) ?? []
  }
}

/** The server, if there is exactly one. */
const only = (servers: Iterable<string>): string | undefined => {
  const [server, ...others] = new Set(servers)
  return others.length === 0 ? server : undefined
}

export const make = (parts: Peers.Parts) => {
  const { links, options: { gate, output }, choice, texts } = parts

  /** The items of one list, except those that a rule denies. */
  const offered = <A extends { readonly server: string }>(
    list: (offered: McpRuntime.Offered) => Effect.Effect<{ readonly items: ReadonlyArray<A> }>,
    uriOf: (item: A) => string
  ) =>
  (caller: McpServer.Caller | undefined, wait: Duration.DurationInput) =>
    Effect.gen(function*() {
      const { permissions, runtime } = yield* choice.base(caller)
      const { items } = yield* list(runtime.offered(wait))
      return items.flatMap((item) => {
        const { server } = item
        const uri = uriOf(item)
        const { decision } = permissions.decide("model", { kind: "resource", server, name: uri })
        return decision === "deny" ? [] : [{ ...item, uri }]
      })
    })
  const resources = offered(({ resources }) => resources, ({ uri }) => uri)
  const templates = offered(({ resourceTemplates }) => resourceTemplates, ({ uriTemplate }) => uriTemplate)

  /** A URI that already has this scheme comes from another gateway and is qualified again. */
  const named = <A extends Identity>(items: ReadonlyArray<A>) =>
    Names.make(items, "plain", (item) => ({
      name: parse(item.uri) === undefined ? item.uri : qualified(item),
      qualified: qualified(item)
    }))

  const listed = (
    items: ReadonlyArray<Identity & { readonly raw: JsonRpc.JsonObject }>,
    list: string,
    key: string
  ): JsonRpc.JsonObject => ({
    [list]: named(items).items.map(({ item: { raw }, name }) => PassThrough.definitionOf(raw, output, { [key]: name }))
  })

  /** The server of a URI. Waits this long for lists. */
  const serverAfter = (uri: string, caller: McpServer.Caller | undefined, wait: Duration.DurationInput) =>
    Effect.gen(function*() {
      const lists = [resources(caller, wait), templates(caller, wait)] as const
      const [listed, patterns] = yield* Effect.all(lists, { concurrency: "unbounded" })
      const base = yield* choice.base(caller)
      const listing = listed.flatMap((item) => item.uri === uri ? [item.server] : [])
      // clients take the page of an app from the definition of its tool, so it need not be listed
      const showing = [base, choice.own() ?? base].flatMap(({ catalog }) =>
        catalog.index().entries.flatMap(({ server, tool }) => Tool.uiResource(tool) === uri ? [server] : [])
      )
      const matching = patterns.flatMap((item) => UriTemplate.matcher(item.uri)(uri) ? [item.server] : [])
      const linking = links.servers(uri)
      const claims = PassThrough.isPage(uri)
        ? [[...listing, ...showing], [...linking, ...matching]]
        : [only(listing) === undefined ? linking : listing, showing, matching]
      const servers = claims.find((servers) => servers.length > 0)
      // an unclaimed URI may exist on the only server with resources
      const all = wait === 0 ? [] : [...listed, ...patterns].map(({ server }) => server)
      return only(servers ?? all)
    })

  /** Waits for lists only if no known list has the URI, and always for the page of an app, which another server may claim. */
  const identify = (
    uri: JsonRpc.Json | undefined,
    caller?: McpServer.Caller
  ): Effect.Effect<Identity, McpServer.Refusal> =>
    Effect.gen(function*() {
      if (typeof uri !== "string" || uri === "") {
        return yield* McpServer.invalidParams("Invalid params: uri must be a string")
      }
      if (uri.length > maxUri) return yield* unknown(uri)
      const explicit = parse(uri)
      if (explicit !== undefined) return explicit
      const known = PassThrough.isPage(uri) ? undefined : yield* serverAfter(uri, caller, 0)
      const server = known ?? (yield* serverAfter(uri, caller, gate))
      return server === undefined ? yield* unknown(uri) : { server, uri }
    })

  const read: McpServer.Handler = (exchange) =>
    Effect.gen(function*() {
      const { server, uri } = yield* identify(exchange.params["uri"], exchange.caller)
      const subject = { kind: "resource", server, name: uri } as const
      const result = yield* Peers.forward(parts, exchange, subject, (send) => send({ uri }))
      const contents = yield* texts.contents(result["contents"], { server, tool: uri, kind: "resource" })
      return contents === undefined ? result : { ...result, contents }
    })

  const watch: NonNullable<McpServer.Service["watch"]> = (uri, changed) =>
    Effect.gen(function*() {
      const { server, uri: atServer } = yield* identify(uri)
      const { runtime } = choice.own() ?? (yield* choice.base())
      const watching = yield* Effect.forkScoped(
        runtime.subscribeResource(server, atServer, { origin: "model" }).pipe(
          Stream.runForEach(() => Effect.sync(changed)),
          Effect.catchAll((error) => RuntimeLog.debug("The subscription to a resource ended", error))
        )
      )
      return { ended: Fiber.join(watching) }
    })

  const template = (caller: McpServer.Caller, uriTemplate: string): Effect.Effect<Identity, McpServer.Refusal> =>
    Effect.flatMap(templates(caller, gate), (items) => {
      const found = named(items).find(uriTemplate)
      return found === undefined ? unknown(uriTemplate) : Effect.succeed(found)
    })

  return {
    list: (caller: McpServer.Caller) =>
      Effect.map(resources(caller, gate), (items) => listed(items, "resources", "uri")),
    templates: (caller: McpServer.Caller) =>
      Effect.map(templates(caller, gate), (items) => listed(items, "resourceTemplates", "uriTemplate")),
    template,
    read,
    watch
  }
}
