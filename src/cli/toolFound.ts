/** The tool that a person names, on the server that has it. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import * as Application from "./Application.ts"
import type * as Command from "./Command.ts"
import { Usage } from "./Command.ts"
import * as NoServers from "./noServers.ts"
import * as Screen from "./Screen.ts"
import { reasonOf } from "./serverView.ts"
import { format, identify, type Identity, spelled } from "./toolRef.ts"

export const identityOf = (
  ref: string,
  { servers }: ConfigDiscovery.Discovery
): Identity | undefined => identify(ref, servers.map(({ name }) => name))

/** Only the server that is named has to start; a tool alone could be anywhere. */
export const choice = (
  ref: string,
  discovery: ConfigDiscovery.Discovery,
  shared: Command.Shared
): Effect.Effect<Application.Choice, Command.Failure> =>
  Effect.gen(function*() {
    const server = identityOf(ref, discovery)?.server
    if (server === undefined) return { consent: shared.servers.length > 0 }
    yield* usable(yield* Application.server(server, discovery), discovery)
    return { servers: [server], consent: true }
  })

/** An entry that cannot be used has its reason in the file, and nothing else is to be waited for. */
export const usable = (
  { name, provenance, state }: ConfigDiscovery.Found,
  { issues }: ConfigDiscovery.Discovery
): Effect.Effect<void, McpError.ConfigurationError> => {
  if (state._tag !== "Invalid") return Effect.void
  const issue = issues.find(({ server, severity }) => server === name && severity === "error")
  return Effect.fail(
    new McpError.ConfigurationError({
      server: name,
      path: provenance.path ?? provenance.provider,
      detail: issue?.message ?? `its entry cannot be used (${state.kind})`
    })
  )
}

const looked = (
  ref: string,
  { discovery, runtime, settled }: Application.Application,
  isBounded: boolean
): Effect.Effect<McpRuntime.RuntimeTool, Command.Failure, Screen.Screen> =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    yield* NoServers.refuse(discovery)
    const identity = identityOf(ref, discovery)
    if (!isBounded) yield* settled
    screen.progress("connecting…")
    if (identity === undefined) {
      const [only, ...others] = (yield* runtime.tools).toolsByName.get(ref) ?? []
      if (only !== undefined && others.length === 0) return only
      if (only !== undefined) {
        const names = [only, ...others].map(({ serverName, tool }) => format({ server: serverName, tool: tool.name }))
        return yield* new Usage({
          detail: `More than one server has a tool "${ref}".`,
          next: `Say which: ${names.join(", ")}.`
        })
      }
    }
    return yield* Effect.catchTag(runtime.tool(identity ?? ref), "NotFound", (error) =>
      Effect.gen(function*() {
        const { missing, tools } = yield* runtime.tools
        const absent = missing.find(({ server }) => server === identity?.server)
        if (absent !== undefined) return yield* reasonOf(absent)
        // without any list, a name cannot be known to be wrong
        const silent = tools.length === 0 ? missing[0] : undefined
        for (const one of missing) {
          if (one !== silent) yield* screen.note(`not searched: ${reasonOf(one).message}`)
        }
        if (silent !== undefined) return yield* reasonOf(silent)
        const known = discovery.servers.map(({ name }) => name)
        const suggestions = (error.suggestions ?? []).map((name) => {
          const near = identify(name, known)
          return near === undefined ? name : spelled(near)
        })
        return yield* new McpError.NotFound({ server: error.server, kind: "tool", name: error.name, suggestions })
      }))
  }).pipe(Effect.ensuring(Effect.map(Screen.Screen, (screen) => screen.progress(undefined))))

/** An error that says more comes as late as this. */
const grace = Duration.millis(100)

/** The tool, within the time that the command has for a server: its list may be asked for more than once. */
export const tool = (
  ref: string,
  application: Application.Application,
  { timeout }: Command.Shared
): Effect.Effect<McpRuntime.RuntimeTool, Command.Failure, Screen.Screen> => {
  const found = looked(ref, application, (timeout ?? application.timeout) !== undefined)
  if (timeout === undefined) return found
  const { discovery, runtime } = application
  const wanted = identityOf(ref, discovery)?.server
  const late = Effect.flatMap(runtime.servers.list, (servers) => {
    const one = servers.find(({ name, status }) =>
      status._tag === "Connecting" && (wanted === undefined || name === wanted)
    )
    return Effect.fail(
      one === undefined
        ? new McpError.RequestTimeout({
          server: wanted ?? discovery.servers.map(({ name }) => name).join(", "),
          kind: "total",
          operation: "tools/list",
          limit: timeout,
          outcome: "not-sent"
        })
        : reasonOf({ server: one.name, status: one.status, error: undefined })
    )
  })
  return Effect.flatMap(
    Effect.timeoutOption(found, Duration.sum(timeout, grace)),
    Option.match({ onNone: () => late, onSome: Effect.succeed })
  )
}
