/** What servers offer beside tools: which of them a command asks, and why others have nothing to offer. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import * as Application from "./Application.ts"
import type * as Command from "./Command.ts"
import * as Screen from "./Screen.ts"
import * as View from "./serverView.ts"
import { usable } from "./toolFound.ts"

/** The servers whose lists are not there. */
export const Missing = Schema.Array(Schema.Struct({
  server: Schema.String,
  tag: Schema.String,
  message: Schema.String
}))

export const missing = (all: ReadonlyArray<ToolCatalog.Missing>): typeof Missing.Type =>
  all.map((one) => {
    const error = View.reasonOf(one)
    return { server: one.server, tag: McpError.label(error), message: error.message }
  })

/** The cause and the next step of each. */
export const notes = (all: ReadonlyArray<ToolCatalog.Missing>) =>
  Effect.flatMap(Screen.Screen, (screen) =>
    screen.note(...all.flatMap((one) => {
      const error = View.reasonOf(one)
      const reason = View.unnamed(one.server, error.message)
      const view = { name: one.server, reason, hint: McpError.forPerson(error) }
      return View.lines(view, screen.columns, `${View.stateOf(one.status)}: `)
    })))

/**
 * Fails with the reason why the server that is meant, or the only one there is, could not be asked: only a server that
 * was asked can lack something.
 */
export const unasked = (
  missing: ReadonlyArray<ToolCatalog.Missing>,
  server: string | undefined,
  runtime: McpRuntime.McpRuntime["Type"]
): Effect.Effect<void, McpError.RuntimeError> =>
  Effect.flatMap(runtime.servers.list, ([only, ...others]) => {
    const meant = server ?? (others.length === 0 ? only?.name : undefined)
    const one = missing.find((one) => one.server === meant)
    return one === undefined ? Effect.void : Effect.fail(View.reasonOf(one))
  })

/** The server that is named, or those that `--server` names, or all. */
export const choice = (
  server: string | undefined,
  shared: Command.Shared
) =>
(discovery: ConfigDiscovery.Discovery): Effect.Effect<Application.Choice, Command.Failure> =>
  Effect.gen(function*() {
    const names = server === undefined ? shared.servers : [server]
    for (const one of yield* Application.named(names, discovery)) yield* usable(one, discovery)
    return { servers: names.length === 0 ? undefined : names, consent: true, once: true }
  })

/** The same for a command that puts what a server asks to the person. */
export const answering = (server: string | undefined, shared: Command.Shared) => {
  const choose = choice(server, shared)
  return (discovery: ConfigDiscovery.Discovery) =>
    Effect.map(choose(discovery), (one): Application.Choice => ({ ...one, answers: true }))
}

/** Shows that servers are asked. */
export const asking = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Screen.Screen> =>
  Effect.flatMap(Screen.Screen, (screen) =>
    Effect.sync(() => screen.progress("connecting…")).pipe(
      Effect.zipRight(self),
      Effect.ensuring(Effect.sync(() => screen.progress(undefined)))
    ))

/** The same after the first attempt of every server. `--timeout` bounds the wait and the request together. */
export const askingAll = <A, E, R>(
  { started, timeout }: Application.Application,
  shared: Command.Shared,
  self: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | Screen.Screen> =>
  asking((shared.timeout ?? timeout) === undefined ? Effect.zipRight(started, self) : self)

/** The first line of a description, in the room of one line. */
export const about = (
  { description, title }: { readonly description: string | undefined; readonly title: string | undefined },
  columns: number
): ReadonlyArray<string> => {
  const text = (description ?? title ?? "").trim().split(/\r?\n/, 1)[0]!
  const room = Math.max(20, columns - 4)
  return text === "" ? [] : [`    ${text.length <= room ? text : `${text.slice(0, room - 1)}…`}`]
}
