/** What happens at servers, told to the caller whose servers they are: lists that change, and what servers log. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import type * as McpEvent from "../../../McpEvent.ts"
import * as Scoped from "../../../scoped.ts"
import type * as McpServer from "../../McpServer.ts"
import { objectOf } from "../exchange.ts"
import * as LogLevels from "../logLevels.ts"
import type * as Seat from "./seat.ts"

type List = "tools" | "resources" | "prompts"

/** News of one list within so long are one. */
const gathering = Duration.millis(100)

/** How long a new list is waited for before it is told that there is one. */
const patience = Duration.seconds(2)

const toldBy = (event: McpEvent.McpEvent): ReadonlyArray<List> => {
  switch (event._tag) {
    case "ToolsChanged":
    case "ToolsRefreshed":
    case "ToolQuarantined":
      return ["tools"]
    case "ResourcesChanged":
      return ["resources"]
    case "PromptsChanged":
      return ["prompts"]
    case "Connected":
      return ["resources", "prompts"]
    case "ConfigurationReloaded":
      return ["tools", "resources", "prompts"]
    default:
      return []
  }
}

/** @internal */
export interface Options {
  /** Whether what servers have is listed from there. */
  readonly isBase: boolean
  /** Whom it is told what servers log there, if that is for this caller. */
  readonly log: ((server: string, message: McpServer.LogMessage) => void) | undefined
  readonly level: () => McpServer.LogLevel | undefined
}

/** Tells until the scope closes. */
export const follow = (
  seat: Seat.Seat,
  visit: McpServer.Visit,
  options: Options
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { events, runtime } = seat
    const run = yield* FiberSet.makeRuntime<never, void>()
    const due = new Set<List>()

    const tell = (list: List): void => visit.notify(`notifications/${list}/list_changed`)

    const soon = (list: List, before: Effect.Effect<void> = Effect.void): void => {
      if (due.has(list)) return
      due.add(list)
      run(
        Effect.sleep(gathering).pipe(
          Effect.zipRight(before),
          Effect.zipRight(Effect.sync(() => {
            due.delete(list)
            tell(list)
          }))
        )
      )
    }

    /** Whoever asks after it was told gets what it is about. */
    const refreshed = (server: string): Effect.Effect<void> =>
      Effect.ignore(Effect.timeoutOption(runtime.refreshTools(server), patience))

    const heard = new WeakSet<object>()

    const logs = (server: string): Effect.Effect<void> =>
      Effect.ignore(runtime.withClient(server, ({ ended, onNotification, setLogLevel }) => {
        if (heard.has(ended)) return Effect.void
        heard.add(ended)
        onNotification(({ method, params }) => {
          if (method !== "notifications/message") return
          const { data, level, logger } = objectOf(params)
          const known = LogLevels.read(level)
          if (known === undefined) return
          options.log?.(server, {
            level: known,
            logger: typeof logger === "string" ? `${server}/${logger}` : server,
            data: data ?? null
          })
        })
        const level = options.level()
        return level === undefined ? Effect.void : Effect.ignore(setLogLevel(level))
      }))

    yield* Scoped.listen(() =>
      events.onEvent((event) => {
        // over a connection of the caller's own it is what was listed before, until the server says otherwise
        if (event._tag === "Connected") {
          if (options.log !== undefined) run(logs(event.server))
          if (!options.isBase) return
        }
        for (const list of toldBy(event)) {
          soon(list, event._tag === "ToolsChanged" ? refreshed(event.server) : undefined)
        }
      })
    )
    // those that were waited for were connected before anybody could hear of it
    if (options.log !== undefined) {
      const connected = yield* seat.connected
      for (const server of connected) run(logs(server))
    }
  })
