/** The gateway, put together: for each caller a place, and over it what it asks for. */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type * as McpError from "../../../McpError.ts"
import * as OutputGuard from "../../../safety/OutputGuard.ts"
import * as Redaction from "../../../safety/Redaction.ts"
import * as ToolSearch from "../../../tools/ToolSearch.ts"
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import type * as McpServe from "../../McpServe.ts"
import type * as McpServer from "../../McpServer.ts"
import * as Exchange from "../exchange.ts"
import * as Completing from "./completing.ts"
import * as Extensions from "./extensions.ts"
import * as Failures from "./failures.ts"
import * as Links from "./links.ts"
import * as News from "./news.ts"
import * as Paging from "./paging.ts"
import * as Place from "./place.ts"
import * as Prompts from "./prompts.ts"
import * as Resources from "./resources.ts"
import * as Searching from "./searching.ts"
import type * as Seat from "./seat.ts"
import * as Seats from "./seats.ts"
import * as Texts from "./texts.ts"
import * as Tools from "./tools.ts"

const capabilities: JsonRpc.JsonObject = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {}
}

const base: News.Options = { isBase: true, log: undefined, level: () => undefined }

/** Any list is whole on its first page. */
const onePage = (
  { params: { cursor } }: McpServer.Exchange,
  list: Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal>
): Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal> =>
  cursor === undefined ? list : Effect.fail(Exchange.invalidParams("Invalid params: this cursor is not known"))

/** @internal */
export const make = (
  options: McpServe.Options
): Effect.Effect<McpServe.Gateway, never, McpServe.Requirements | Scope.Scope> =>
  Effect.gen(function*() {
    const guard = yield* OutputGuard.OutputGuard
    const search = yield* ToolSearch.ToolSearch
    const failures = Failures.make(yield* Redaction.Redaction)
    const seats = yield* Seats.make(options)
    const scope = yield* Effect.scope
    const { gate, output } = options
    const texts = Texts.make(guard, output)
    const declared = Extensions.make(gate)
    // whoever comes first does not wait for servers that could have been started before
    if (!options.single) yield* Effect.forkIn(Effect.ignoreLogged(seats.shared), scope)

    const attendanceOf = (place: Place.Place, visit: McpServer.Visit): McpServer.Attendance => {
      const { seen, whose } = Links.make()
      const parts: Tools.Options = { options, place, texts, failures, seen }
      const tools = Tools.make(parts)
      const prompts = Prompts.make(parts)
      const resources = Resources.make({ ...parts, whose })
      const searching = Searching.make(search, tools)
      const own = output === "asis" ? [] : [Paging.definition]

      const listTools = ({ caller }: McpServer.Exchange) =>
        options.search
          ? Effect.succeed({ tools: [...Searching.definitions, ...own] })
          : Effect.map(tools.listed, ({ items }) => ({
            tools: [
              ...items.filter(({ item }) => Tools.isOffered(caller, item))
                .map(({ item, name }) => tools.definition(name, item)),
              ...own
            ]
          }))

      const call: McpServer.Handler = (exchange) =>
        Effect.flatMap(Tools.callOf(exchange.params), ({ args, name }) => {
          if (own.length > 0 && name === Paging.name) return Paging.read(guard, output, args)
          if (!options.search) return tools.call(exchange, name, args)
          return searching(exchange, name, args) ?? Effect.fail(Exchange.invalidParams(`Unknown tool: ${name}`))
        })

      const handlers: McpServer.Attendance["handlers"] = new Map<string, McpServer.Handler>([
        ["tools/list", (exchange) => onePage(exchange, listTools(exchange))],
        ["tools/call", call],
        ["resources/list", (exchange) => onePage(exchange, resources.list)],
        ["resources/templates/list", (exchange) => onePage(exchange, resources.templates)],
        ["resources/read", resources.read],
        ["prompts/list", (exchange) => onePage(exchange, prompts.list)],
        ["prompts/get", prompts.get],
        ["completion/complete", Completing.make({ place, prompts, resources, failures })]
      ])
      return {
        handlers,
        extensions: () => Effect.orElseSucceed(Effect.flatMap(place.base, declared), () => ({})),
        watch: (uri) => resources.watch(uri, (uri) => visit.notify("notifications/resources/updated", { uri }))
      }
    }

    const ofSession = (visit: McpServer.Visit) =>
      Effect.gen(function*() {
        const within = yield* Effect.scope
        const own = yield* seats.own(visit)
        let level: McpServer.LogLevel | undefined
        let followed: Seat.Seat | undefined
        /** From when it is there, what happens there is told. */
        const followedSeat = Effect.tap(own.seat, (seat) =>
          Effect.suspend(() => {
            if (followed !== undefined) return Effect.void
            followed = seat
            return Scope.extend(
              News.follow(seat, visit, {
                isBase: options.single,
                log: (_server, message) => visit.log(message),
                level: () => level
              }),
              within
            )
          }))
        if (options.single) yield* followedSeat
        else {
          yield* Effect.forkScoped(Effect.ignore(Effect.flatMap(
            seats.shared,
            (shared) => Scope.extend(News.follow(shared, visit, base), within)
          )))
        }
        const place = Place.ofSession(seats, { ...own, seat: followedSeat }, options)
        const each = (f: (seat: Seat.Seat, server: string) => Effect.Effect<void, McpError.RuntimeError>) =>
          Effect.suspend(() => {
            const seat = own.there()
            return seat === undefined
              ? Effect.void
              : Effect.flatMap(seat.connected, (servers) =>
                Effect.forEach(servers, (server) => Effect.ignore(f(seat, server)), {
                  concurrency: "unbounded",
                  discard: true
                }))
          })
        return {
          ...attendanceOf(place, visit),
          setLogLevel: (wanted: McpServer.LogLevel) =>
            Effect.suspend(() => {
              level = wanted
              return each(({ runtime }, server) =>
                runtime.withClient(server, ({ setLogLevel }) => setLogLevel(wanted))
              )
            }),
          notified: (method: string) =>
            method === "notifications/roots/list_changed"
              ? each(({ runtime }, server) => runtime.withClient(server, ({ rootsChanged }) => rootsChanged))
              : Effect.void
        }
      })

    const ofRequests = (visit: McpServer.Visit) =>
      Effect.gen(function*() {
        const within = yield* Effect.scope
        yield* Effect.forkScoped(Effect.ignore(
          Effect.flatMap(seats.shared, (shared) => Scope.extend(News.follow(shared, visit, base), within))
        ))
        const lease = (caller: McpServer.Caller) =>
          seats.lease(caller, (seat) => News.follow(seat, visit, { ...base, isBase: false, log: seat.log }))
        return attendanceOf(Place.ofRequests(seats.shared, lease, options.shared), visit)
      })

    /** The one program that is there, if it has no session: its first request says what lists are made for. */
    const ofOnly = (visit: McpServer.Visit): McpServer.Attendance => {
      let first: JsonRpc.JsonObject | undefined
      const seatOf = (capabilities: JsonRpc.JsonObject) =>
        seats.only(
          capabilities,
          (seat, isFirst) => News.follow(seat, visit, { ...base, isBase: isFirst, log: seat.log })
        )
      const listed = Effect.suspend(() => seatOf(first ?? {}))
      const { handlers, ...rest } = attendanceOf(
        Place.ofOnly(listed, ({ capabilities }) => seatOf(capabilities)),
        visit
      )
      const noting = (handler: McpServer.Handler): McpServer.Handler => (exchange) => {
        first ??= exchange.caller.capabilities
        return handler(exchange)
      }
      const { extensions } = rest
      return {
        ...rest,
        extensions: extensions && ((caller) => {
          first ??= caller.capabilities
          return extensions(caller)
        }),
        handlers: new Map(Array.from(handlers, ([method, handler]) => [method, noting(handler)]))
      }
    }

    return {
      info: { name: options.name, version: options.version, title: options.title },
      instructions: options.instructions,
      capabilities,
      attend: (visit) => {
        if (visit.caller.era === "session") return ofSession(visit)
        return options.single ? Effect.sync(() => ofOnly(visit)) : ofRequests(visit)
      },
      shared: Effect.map(seats.shared, ({ context }) => context),
      seats: seats.size
    }
  })
