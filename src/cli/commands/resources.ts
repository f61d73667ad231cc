/** `mcp-runtime resources`: what can be read from servers. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as McpRuntime from "../../McpRuntime.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as ExitCode from "../ExitCode.ts"
import * as NoServers from "../noServers.ts"
import * as Offered from "../offered.ts"
import * as Screen from "../Screen.ts"
import { reasonOf } from "../serverView.ts"

const described = {
  server: Schema.String,
  name: Schema.NullOr(Schema.String),
  title: Schema.NullOr(Schema.String),
  description: Schema.NullOr(Schema.String),
  mimeType: Schema.NullOr(Schema.String)
}

/** The document of `resources --json`. */
export const Resources = Schema.Struct({
  resources: Schema.Array(Schema.Struct({ uri: Schema.String, ...described })),
  /** Patterns of URIs that can be read too. */
  templates: Schema.Array(Schema.Struct({ uriTemplate: Schema.String, ...described })),
  missing: Offered.Missing
})

type Resource = Effect.Effect.Success<McpRuntime.McpRuntime["Type"]["resources"]>["items"][number]
type Template = Effect.Effect.Success<McpRuntime.McpRuntime["Type"]["resourceTemplates"]>["items"][number]

const common = ({ description, mimeType, name, server, title }: Resource | Template) => ({
  server,
  name: name ?? null,
  title: title ?? null,
  description: description ?? null,
  mimeType: mimeType ?? null
})

/** The URI is on a line of its own, whole, because it is what is typed next. */
const entry = (uri: string, one: Resource | Template, columns: number): ReadonlyArray<Screen.Line> => [
  ["  ", { text: uri, style: "strong" }, ...(one.mimeType === undefined ? [] : [`  ${one.mimeType}`])],
  ...Offered.about({ description: one.description, title: one.title ?? one.name }, columns)
]

const run: Command.Command["run"] = ({ args: [server], shared }) =>
  Application.use(shared, Offered.choice(server, shared), (application) =>
    Effect.gen(function*() {
      const screen = yield* Screen.Screen
      const { discovery, runtime } = application
      const { resources, templates } = yield* Offered.askingAll(
        application,
        shared,
        Effect.all({ resources: runtime.resources, templates: runtime.resourceTemplates }, { concurrency: "unbounded" })
      )
      const [only] = resources.missing
      // whoever asks one server wants to know why it does not answer
      if (server !== undefined && only !== undefined) return yield* reasonOf(only)
      if (shared.json) {
        yield* screen.json(Resources, {
          resources: resources.items.map((one) => ({ uri: one.uri, ...common(one) })),
          templates: templates.items.map((one) => ({ uriTemplate: one.uriTemplate, ...common(one) })),
          missing: Offered.missing(resources.missing)
        })
        return ExitCode.ok
      }
      const servers = new Set([...resources.items, ...templates.items].map((one) => one.server))
      for (const name of servers) {
        yield* screen.out(
          [{ text: name, style: "strong" }],
          ...resources.items.filter((one) => one.server === name).flatMap((one) => entry(one.uri, one, screen.columns)),
          ...templates.items.filter((one) => one.server === name)
            .flatMap((one) => entry(one.uriTemplate, one, screen.columns))
        )
      }
      if (servers.size === 0) yield* NoServers.or("No resources were found.", discovery)
      yield* Offered.notes(resources.missing)
      return ExitCode.ok
    }))

export const command: Command.Command = {
  args: [{ name: "server", about: "Only those of this server.", required: false }],
  options: [],
  examples: [["resources docs", "What the server docs has."]],
  run
}
