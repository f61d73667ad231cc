/** Passes extensions of the protocol (`capabilities.extensions`) from callers to servers and back. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { canonicalJson } from "../../../json/canonical.ts"
import * as JsonRpc from "../../../transport/JsonRpc.ts"
import { objectOf } from "../exchange.ts"
import type * as Seat from "./seat.ts"

type Settings = ReadonlyMap<string, JsonRpc.JsonObject>

/** MCP Apps: the caller renders `ui://` resources, and these may call tools. */
const ui = "io.modelcontextprotocol/ui"

/** Never passed on, because they add methods that the gateway does not forward. */
const withheld: ReadonlySet<string> = new Set(["io.modelcontextprotocol/tasks"])

/** The most extensions of one side that are passed on, and the most characters of settings of each. */
const most = 64
const longest = 65_536

const settingsOf = (capabilities: JsonRpc.JsonObject): Settings =>
  new Map(
    Object.entries(objectOf(capabilities["extensions"]))
      .filter((entry): entry is [string, JsonRpc.JsonObject] => JsonRpc.isObject(entry[1]) && !withheld.has(entry[0]))
      .filter(([, settings]) => JSON.stringify(settings).length <= longest)
      .slice(0, most)
  )

/** The extensions among these capabilities that pass the gateway. */
export const of = (capabilities: JsonRpc.JsonObject): JsonRpc.JsonObject => Object.fromEntries(settingsOf(capabilities))

/** @internal */
export const isDeclared = (capabilities: JsonRpc.JsonObject): boolean => settingsOf(capabilities).size > 0

/** @internal */
export const hasApps = (capabilities: JsonRpc.JsonObject): boolean => settingsOf(capabilities).has(ui)

/** True for the address of an app's page. */
export const isPage = (uri: string): boolean => uri.startsWith("ui://")

/** The capabilities of a caller as a server may see them. */
export const passed = (capabilities: JsonRpc.JsonObject): JsonRpc.JsonObject => {
  const { extensions, ...rest } = capabilities
  return extensions === undefined ? capabilities : { ...rest, extensions: of(capabilities) }
}

/** Keeps the fields of the settings on which all servers agree. */
const agreed = (one: JsonRpc.JsonObject, other: JsonRpc.JsonObject): JsonRpc.JsonObject => {
  const others = new Map(Object.entries(other).map(([key, value]) => [key, canonicalJson(value ?? null)]))
  return Object.fromEntries(
    Object.entries(one).filter(([key, value]) => others.get(key) === canonicalJson(value ?? null))
  )
}

const union = (all: Iterable<Settings>): JsonRpc.JsonObject => {
  const merged = new Map<string, JsonRpc.JsonObject>()
  for (const settings of all) {
    for (const [id, value] of settings) {
      const before = merged.get(id)
      merged.set(id, before === undefined ? value : agreed(before, value))
    }
  }
  return Object.fromEntries(merged)
}

/**
 * The extensions that the servers of a seat declare together. Servers that are still connecting are waited for; a
 * disconnected server counts with its last declaration.
 */
export const make = (wait: Duration.DurationInput): (seat: Seat.Seat) => Effect.Effect<JsonRpc.JsonObject> => {
  const known = new Map<string, Settings>()
  const patience = Duration.decode(wait)
  return (seat) =>
    Effect.gen(function*() {
      const { runtime } = seat
      const settled = Stream.filter(
        runtime.servers.changes,
        (servers) => servers.every(({ status }) => status._tag !== "Connecting")
      )
      yield* Effect.timeoutOption(Stream.runHead(settled), patience)
      yield* Effect.forEach(yield* seat.connected, (server) =>
        runtime.withClient(server, ({ capabilities }) =>
          Effect.succeed(capabilities)).pipe(
            Effect.timeoutOption(patience),
            Effect.option,
            Effect.map(Option.flatten),
            Effect.map(Option.map((capabilities) => known.set(server, settingsOf(capabilities))))
          ), { concurrency: "unbounded", discard: true })
      const servers = yield* runtime.servers.list
      return union(servers.flatMap(({ name }) =>
        known.get(name) ?? []
      ))
    })
}
