/** What servers offer beside tools: which of them a command asks, and why others have nothing to offer. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import { nearest } from "../text/nearest.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import * as Application from "./Application.ts"
import type * as Command from "./Command.ts"
import { Usage } from "./Command.ts"
import * as ExitCode from "./ExitCode.ts"
import * as NoServers from "./noServers.ts"
import * as Screen from "./Screen.ts"
import * as View from "./serverView.ts"
import { usable } from "./toolFound.ts"

/** The servers whose lists are not there. */
export const Missing = Schema.Array(Schema.Struct({ server: Schema.String, ...View.Failure.fields }))

export const missingOf = (all: ReadonlyArray<ToolCatalog.Missing>): typeof Missing.Type =>
  all.map((one) => ({ server: one.server, ...View.failureOf(View.reasonOf(one)) }))

/** The cause and the next step of each. */
export const notes = (all: ReadonlyArray<ToolCatalog.Missing>) =>
  Effect.flatMap(Screen.Screen, (screen) =>
    screen.note(...all.flatMap((one) => {
      const error = View.reasonOf(one)
      const reason = View.unnamed(one.server, error.message)
      const view = { name: one.server, reason, hint: McpError.forPerson(error) }
      return View.lines(view, screen.columns, `${View.stateOf(one.status)}: `)
    })))

type Unanswered = ReadonlyArray<ToolCatalog.Missing>

/** What all servers that a command asks have of something, and which of them have not answered. */
interface Gathered<A> {
  readonly items: ReadonlyArray<A>
  readonly missing: Unanswered
}

type Items<Effects> = Effects extends Effect.Effect<{ readonly items: ReadonlyArray<infer A> }> ? A : never

type Runtime = McpRuntime.McpRuntime["Type"]

export type Prompt = Items<Runtime["prompts"]>

export type Resource = Items<Runtime["resources"]> | Items<Runtime["resourceTemplates"]>

/** The resources, and then the templates. */
export const resources = ({ resourceTemplates, resources }: Runtime): Effect.Effect<Gathered<Resource>> =>
  Effect.map(Effect.all([resources, resourceTemplates], { concurrency: "unbounded" }), ([one, other]) => ({
    items: [...one.items, ...other.items],
    missing: one.missing
  }))

/** A command that lists what servers offer, as a document or as lines. */
export const list = <A, D, I>(
  { args: [server], shared }: Command.Invocation,
  { document, gather, lines, none, shape }: {
    readonly gather: (runtime: Runtime) => Effect.Effect<Gathered<A>>
    readonly shape: Schema.Schema<D, I>
    readonly document: (items: ReadonlyArray<A>, missing: typeof Missing.Type) => D
    readonly lines: (items: ReadonlyArray<A>, columns: number) => ReadonlyArray<Screen.Line>
    /** The note where there are no items. */
    readonly none: string
  }
): ReturnType<Command.Command["run"]> =>
  Application.use(shared, choice(server, shared), (application) =>
    Effect.gen(function*() {
      const screen = yield* Screen.Screen
      const { items, missing } = yield* askingAll(application, shared, gather(application.runtime))
      const [only] = missing
      if (server !== undefined && only !== undefined) return yield* View.reasonOf(only)
      if (shared.json) {
        yield* screen.json(shape, document(items, missingOf(missing)))
        return ExitCode.ok
      }
      yield* screen.out(...lines(items, screen.columns))
      if (items.length === 0) yield* NoServers.or(none, application.discovery)
      yield* notes(missing)
      return ExitCode.ok
    }))

/**
 * The only one that was found. Without one, the error is that of the server that is meant, or of the only server, if it has
 * not answered: only a server that has answered can lack something.
 */
export const only = <A>(
  found: ReadonlyArray<A>,
  { runtime }: Application.Application,
  { choose, kind, missing, name, server, suggestions }: {
    readonly kind: "prompt" | "resource"
    readonly name: string
    readonly server?: string | undefined
    readonly missing: Unanswered
    readonly suggestions: ReadonlyArray<string>
    /** How to name one of several. */
    readonly choose: (all: ReadonlyArray<A>) => string
  }
): Effect.Effect<A, Command.Failure, Screen.Screen> =>
  Effect.gen(function*() {
    const [one, ...others] = found
    if (one !== undefined && others.length === 0) return one
    if (one !== undefined) {
      return yield* new Usage({ detail: `More than one server has a ${kind} "${name}".`, next: choose(found) })
    }
    const servers = yield* runtime.servers.list
    const meant = server ?? (servers.length === 1 ? servers[0]!.name : undefined)
    const silent = missing.find((one) => one.server === meant)
    if (silent !== undefined) return yield* View.reasonOf(silent)
    yield* notes(missing)
    return yield* new McpError.NotFound({ server: "", kind, name, suggestions: nearest(name, suggestions) })
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
  { settled, timeout }: Application.Application,
  shared: Command.Shared,
  self: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | Screen.Screen> =>
  asking((shared.timeout ?? timeout) === undefined ? Effect.zipRight(settled, self) : self)

interface Described {
  readonly description: string | undefined
  readonly title: string | undefined
}

/** The first line of the description, or of the title where there is none. */
export const summary = ({ description, title }: Described): string =>
  (description ?? title ?? "").trim().split(/\r?\n/, 1)[0]!

/** The same in the room of one line. */
export const about = (described: Described, columns: number): ReadonlyArray<string> => {
  const text = summary(described)
  const room = Math.max(20, columns - 4)
  return text === "" ? [] : [`    ${text.length <= room ? text : `${text.slice(0, room - 1)}…`}`]
}
