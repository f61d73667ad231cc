/** Finds tools, resources and prompts by the names that people type, and lists them. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import { nearest } from "../text/nearest.ts"
import * as ShellWords from "../text/shellWords.ts"
import { fitted } from "../text/unicode.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import * as ToolName from "../tools/ToolName.ts"
import * as Application from "./Application.ts"
import type * as Command from "./Command.ts"
import { usage } from "./Command.ts"
import * as NoServers from "./noServers.ts"
import * as Screen from "./Screen.ts"
import * as View from "./serverView.ts"

/** A tool, or a prompt, of a server. */
export interface Identity {
  readonly server: string
  readonly tool: string
}

const separators = ["/", "__", ".", ":"]

const folded = (text: string): string => text.replace(/[^A-Za-z0-9-]+/g, "_").toLowerCase()

/**
 * Splits `server/tool`, `server.tool` or the name for models into server and tool. The longest matching server wins. Not for
 * a tool without a server.
 */
export const identify = (ref: string, { servers }: ConfigDiscovery.Discovery): Identity | undefined => {
  const parsed = ToolName.parse(ref)
  let best: Identity | undefined
  for (const { name: server } of servers) {
    const separator = ref.startsWith(server) ? separators.find((one) => ref.startsWith(one, server.length)) : undefined
    const tool = separator === undefined
      ? parsed !== undefined && folded(parsed.server) === folded(server) ? parsed.tool : ""
      : ref.slice(server.length + separator.length)
    if (tool !== "" && (best === undefined || server.length > best.server.length)) best = { server, tool }
  }
  return best
}

export const spelled = ({ server, tool }: Identity): string => `${server}/${tool}`

/** The name as it is typed, quoted if a shell would split it. */
export const format = (identity: Identity): string => ShellWords.quote(spelled(identity))

/** The named server, those of `--server`, or all. Fails for an invalid entry. */
export const choice =
  (server: string | undefined, shared: Command.Shared, more?: Application.Choice) =>
  (discovery: ConfigDiscovery.Discovery): Effect.Effect<Application.Choice, Command.Failure> =>
    Effect.gen(function*() {
      const names = server === undefined ? shared.servers : [server]
      for (const found of yield* Application.named(names, discovery)) yield* Application.usable(found, discovery)
      return { servers: names.length === 0 ? undefined : names, consent: true, ...more }
    })

/** Only the server of a tool or prompt, or all servers if the name has no server. */
export const choiceOf =
  (ref: string, shared: Command.Shared, more?: Application.Choice) =>
  (discovery: ConfigDiscovery.Discovery): Effect.Effect<Application.Choice, Command.Failure> =>
    choice(identify(ref, discovery)?.server, shared, more)(discovery)

type Unanswered = ReadonlyArray<ToolCatalog.Missing>

/** The servers whose lists are missing. */
export const Missing = Schema.Array(Schema.Struct({ server: Schema.String, ...View.Failure.fields }))

export const missingOf = (all: Unanswered): typeof Missing.Type =>
  all.map((one) => ({ server: one.server, ...View.failureOf(View.reasonOf(one)) }))

/** Notes the cause and the next step of each. */
export const notes = (all: Unanswered) =>
  Effect.flatMap(Screen.Screen, (screen) =>
    screen.note(...all.flatMap((one) => {
      const error = View.reasonOf(one)
      const reason = View.unnamed(one.server, error.message)
      const view = { name: one.server, reason, hint: McpError.forPerson(error) }
      return View.lines(view, screen.columns, `${View.stateOf(one.status)}: `)
    })))

interface Wanted {
  readonly kind: "prompt" | "resource" | "tool"
  readonly name: string
  /** The server that is named. */
  readonly server?: string | undefined
  /** The names of all items. */
  readonly all: ReadonlyArray<string>
  readonly missing: Unanswered
  /** How to name one of several. */
  readonly choose: string
}

/**
 * The only item that was found. If the named server has not answered, or no server has, its error is more relevant than
 * `NotFound`.
 */
export const only = <A>(
  found: ReadonlyArray<A>,
  { all, choose, kind, missing, name, server }: Wanted
): Effect.Effect<A, Command.Failure, Screen.Screen> =>
  Effect.gen(function*() {
    const [one, ...others] = found
    if (others.length > 0) return yield* usage(`several servers have the ${kind} "${name}"`, choose)
    if (one !== undefined) return one
    const silent = missing.find((one) => one.server === server) ?? (all.length === 0 ? missing[0] : undefined)
    if (silent !== undefined) return yield* View.reasonOf(silent)
    yield* notes(missing)
    return yield* new McpError.NotFound({ server: "", kind, name, suggestions: nearest(name, all) })
  })

/** Finds a tool or prompt by `server/name`, or by name if only one server has it. */
export const named = <A>(
  kind: "prompt" | "tool",
  name: string,
  discovery: ConfigDiscovery.Discovery,
  items: ReadonlyArray<A>,
  identityOf: (item: A) => Identity,
  missing: Unanswered
): Effect.Effect<A, Command.Failure, Screen.Screen> => {
  const identity = identify(name, discovery)
  const nameOf = (item: A) => identity === undefined ? identityOf(item).tool : spelled(identityOf(item))
  const found = items.filter((item) => nameOf(item) === (identity === undefined ? name : spelled(identity)))
  const choose = `Use one of: ${found.map((item) => format(identityOf(item))).join(", ")}`
  return only(found, { kind, name, server: identity?.server, all: items.map(nameOf), missing, choose })
}

export const identityOf = ({ serverName: server, tool }: McpRuntime.RuntimeTool): Identity => ({
  server,
  tool: tool.name
})

/** Finds the tool that a person has typed. */
export const tool = (
  ref: string,
  { ask, discovery, runtime }: Application.Application
): Effect.Effect<McpRuntime.RuntimeTool, Command.Failure, Screen.Screen> => {
  // the runtime also knows names for models, tools of apps, and why a tool is withheld
  const found = Effect.catchTag(
    runtime.tool(identify(ref, discovery) ?? ref),
    "NotFound",
    () =>
      Effect.flatMap(runtime.tools, ({ missing, tools }) => named("tool", ref, discovery, tools, identityOf, missing))
  )
  return Effect.zipRight(NoServers.refuse(discovery), ask(found))
}

/** Items of all servers, and the servers that have not answered. */
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
  Effect.zipWith(resources, resourceTemplates, (one, other) => ({
    items: [...one.items, ...other.items],
    missing: one.missing
  }), { concurrent: true })

/** A command that lists resources or prompts. */
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
  Application.use(
    shared,
    choice(server, shared, { once: true }),
    ({ ask, discovery, runtime }) =>
      Effect.gen(function*() {
        const screen = yield* Screen.Screen
        const { items, missing } = yield* ask(gather(runtime))
        const [only] = missing
        if (server !== undefined && only !== undefined) return yield* View.reasonOf(only)
        if (shared.json) return yield* screen.json(shape, document(items, missingOf(missing)))
        yield* screen.out(...lines(items, screen.columns))
        if (items.length === 0) yield* NoServers.or(none, discovery)
        yield* notes(missing)
      })
  )

interface Described {
  readonly description: string | undefined
  readonly title: string | undefined
}

/** The first line of the description, or of the title where there is none. */
export const summary = ({ description, title }: Described): string =>
  (description ?? title ?? "").trim().split(/\r?\n/, 1)[0]!

/** The summary cut to one line. */
export const about = (described: Described, columns: number): ReadonlyArray<string> => {
  const text = summary(described)
  return text === "" ? [] : [`    ${fitted(text, Math.max(20, columns - 4))}`]
}
