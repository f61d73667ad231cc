/**
 * What runs beside each connection: it learns what the server offers, tools first, and again when that changes. One
 * fiber, which sleeps until the server says something.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as ConnectionPool from "../connection/ConnectionPool.ts"
import type * as McpError from "../McpError.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import type * as Offerings from "./offerings.ts"
import type * as Sandbox from "./sandbox.ts"
import * as Signal from "./signal.ts"

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

/** Nobody waits for this: what fails here is asked for again when somebody needs it. */
const harmless = <R>(
  server: string,
  self: Effect.Effect<void, McpError.RuntimeError, R>
): Effect.Effect<void, never, R> =>
  Effect.catchAll(
    self,
    (error) =>
      Effect.annotateLogs(Effect.logDebug(`what the server offers could not be learned: ${error.message}`), { server })
  )

/** @internal */
export interface Options {
  readonly catalog: ToolCatalog.ToolCatalog["Type"]
  readonly offerings: Offerings.Offerings
  readonly sandbox: Sandbox.Sandbox
}

/** @internal */
export const run = (options: Options) => (live: ConnectionPool.Live): Effect.Effect<void> =>
  Effect.scoped(Effect.gen(function*() {
    const { catalog, offerings } = options
    const { connection } = live.session
    const { capabilities } = connection
    const signal = Signal.make()
    let changed = new Set<Subject>()
    yield* Effect.acquireRelease(
      Effect.sync(() =>
        connection.onNotification(({ method }) => {
          for (const subject of concerns.get(method) ?? []) changed.add(subject)
          if (changed.has("tools")) catalog.invalidate(live.server)
          signal.raise()
        })
      ),
      (stop) => Effect.sync(stop)
    )
    yield* options.sandbox.greet(live)

    // asked before the lists are, so that no change falls between
    yield* harmless(
      live.server,
      Effect.asVoid(
        BoundedWait.within(agreement)(connection.watch({
          toolsListChanged: Object.hasOwn(capabilities, "tools"),
          resourcesListChanged: Object.hasOwn(capabilities, "resources"),
          promptsListChanged: Object.hasOwn(capabilities, "prompts")
        }))
      )
    )

    const learn = (subjects: ReadonlySet<Subject>) =>
      Effect.gen(function*() {
        if (subjects.has("tools")) yield* harmless(live.server, catalog.learn(live))
        for (const kind of ["resources", "templates", "prompts"] as const) {
          if (subjects.has(kind)) yield* harmless(live.server, offerings[kind].learn(live))
        }
      })
    yield* learn(new Set(["tools", "resources", "templates", "prompts"]))

    const follow: Effect.Effect<never> = Effect.suspend(() =>
      signal.until(() => changed.size > 0).pipe(
        Effect.zipRight(Effect.suspend(() => {
          const subjects = changed
          changed = new Set()
          for (const subject of subjects) if (subject !== "tools") offerings[subject].forget(live.server)
          return learn(subjects)
        })),
        Effect.zipRight(Effect.sleep(spacing)),
        Effect.zipRight(follow)
      )
    )
    return yield* follow
  }))
