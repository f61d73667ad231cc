/**
 * What runs beside each connection: it learns what the server offers, tools first, and again when that changes.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Signal from "../internal/signal.ts"
import type * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import type * as Offerings from "./offerings.ts"
import * as Present from "./present.ts"
import type * as Sandbox from "./sandbox.ts"
import type * as Server from "./Server.ts"
import type * as Servers from "./Servers.ts"

type Subject = "tools" | keyof Offerings.Offerings

/** The least time from one refresh to the next, however often a server says that something has changed. */
const spacing = Duration.seconds(1)

/** How long a server may take to agree to tell of changes; its lists are not kept waiting for longer. */
const agreement = Duration.seconds(5)

const concerns: ReadonlyMap<string, ReadonlyArray<Subject>> = new Map<string, ReadonlyArray<Subject>>([
  ["notifications/tools/list_changed", ["tools"]],
  ["notifications/resources/list_changed", ["resources", "templates"]],
  ["notifications/prompts/list_changed", ["prompts"]],
  ["$/resync", ["tools", "resources", "templates", "prompts"]]
])

const everything: ReadonlySet<Subject> = new Set(["tools", "resources", "templates", "prompts"])

/** Nobody waits for this: what fails here is asked for again when somebody needs it. */
const harmless = <R>(
  server: string,
  self: Effect.Effect<void, McpError.RuntimeError, R>
): Effect.Effect<void, never, R> =>
  Effect.catchAll(
    self,
    (error) =>
      // by its tag alone, because a message may have text of the server in it
      Effect.annotateLogs(RuntimeLog.debug(`the lists of the server could not be loaded: ${error._tag}`), { server })
  )

/** @internal */
export interface Options {
  readonly catalog: ToolCatalog.ToolCatalog["Type"]
  readonly offerings: Offerings.Offerings
  readonly pool: Servers.Servers
  readonly publish: (event: McpEvent.McpEvent) => void
  readonly sandbox: Sandbox.Sandbox
}

/** A connection whose offer is kept up with. */
interface Kept {
  readonly live: Server.Live
  /** Ends with the connection. */
  readonly scope: Scope.Scope
  changed: Set<Subject>
  /** Somebody is at it, who also takes what changes meanwhile. */
  busy: boolean
}

/**
 * What is to be run beside each connection.
 *
 * @internal
 */
export const make = (
  { catalog, offerings, pool, publish, sandbox }: Options
): Effect.Effect<(live: Server.Live) => Effect.Effect<void, never, Scope.Scope>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const signal = Signal.make()
    const waiting = new Set<Kept>()

    /** A list that fails is asked for again when a caller needs it. A connection that we close is no failure. */
    const listed = <R>(server: string, list: Subject, self: Effect.Effect<void, McpError.RuntimeError, R>) =>
      Effect.catchAll(self, (error) =>
        Effect.sync(() => {
          if (error._tag !== "Closed") publish(McpEvent.McpEvent.ListFailed({ server, list, error }))
        }))

    const learn = (live: Server.Live, subjects: ReadonlySet<Subject>) =>
      Effect.gen(function*() {
        if (subjects.has("tools")) yield* listed(live.server, "tools", catalog.learn(live))
        for (const kind of ["resources", "templates", "prompts"] as const) {
          if (subjects.has(kind)) yield* listed(live.server, kind, offerings[kind].learn(live))
        }
      })

    const follow = (kept: Kept): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (kept.changed.size === 0) {
          kept.busy = false
          return Effect.void
        }
        const subjects = kept.changed
        kept.changed = new Set()
        return learn(kept.live, subjects).pipe(
          Effect.zipRight(Effect.sleep(spacing)),
          Effect.zipRight(follow(kept))
        )
      })

    // one for all connections: most of them never say anything, and a fiber that waits is not small
    yield* Effect.forkScoped(Effect.forever(Effect.zipRight(
      signal.until(() => waiting.size > 0),
      Effect.suspend(() => {
        const some = Array.from(waiting)
        waiting.clear()
        return Effect.forEach(some, (kept) => Effect.forkIn(follow(kept), kept.scope), { discard: true })
      })
    )))

    /** Until the connection ends, which then says nothing more. */
    const listen = (kept: Kept) =>
      kept.live.session.onNotification(({ method }) => {
        const subjects = concerns.get(method)
        if (subjects === undefined || !Present.isPresent(pool, kept.live)) return
        for (const subject of subjects) {
          kept.changed.add(subject)
          const list = subject === "tools" ? catalog : offerings[subject]
          list.invalidate(kept.live.server)
        }
        if (kept.busy) return
        kept.busy = true
        waiting.add(kept)
        signal.raise()
      })

    return (live) =>
      Effect.gen(function*() {
        const { capabilities, watch } = live.session
        const kept: Kept = { live, scope: yield* Effect.scope, changed: new Set(), busy: true }
        listen(kept)
        yield* sandbox.greet(live)

        // asked before the lists are, so that no change falls between
        yield* harmless(
          live.server,
          Effect.asVoid(
            BoundedWait.within(agreement)(watch({
              toolsListChanged: Object.hasOwn(capabilities, "tools"),
              resourcesListChanged: Object.hasOwn(capabilities, "resources"),
              promptsListChanged: Object.hasOwn(capabilities, "prompts")
            }))
          )
        )
        yield* learn(live, everything)
        yield* follow(kept)
      })
  })
