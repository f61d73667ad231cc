/** `mcp-runtime prompts`: the prompts of servers. */
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
import { format } from "../toolRef.ts"

/** The document of `prompts --json`. */
export const Prompts = Schema.Struct({
  prompts: Schema.Array(Schema.Struct({
    server: Schema.String,
    name: Schema.String,
    title: Schema.NullOr(Schema.String),
    description: Schema.NullOr(Schema.String),
    arguments: Schema.Array(Schema.Struct({
      name: Schema.String,
      description: Schema.NullOr(Schema.String),
      required: Schema.Boolean
    }))
  })),
  missing: Offered.Missing
})

type Prompt = Effect.Effect.Success<McpRuntime.McpRuntime["Type"]["prompts"]>["items"][number]

export const signature = ({ arguments: args, name, server }: Prompt): string =>
  [format({ server, tool: name }), ...args.map(({ name, required }) => required ? `${name}=…` : `[${name}=…]`)].join(
    " "
  )

const run: Command.Command["run"] = ({ args: [server], shared }) =>
  Application.use(shared, Offered.choice(server, shared), (application) =>
    Effect.gen(function*() {
      const screen = yield* Screen.Screen
      const { discovery, runtime } = application
      const { items, missing } = yield* Offered.askingAll(application, shared, runtime.prompts)
      const [only] = missing
      // whoever asks one server wants to know why it does not answer
      if (server !== undefined && only !== undefined) return yield* reasonOf(only)
      if (shared.json) {
        yield* screen.json(Prompts, {
          prompts: items.map(({ arguments: args, description, name, server: of, title }) => ({
            server: of,
            name,
            title: title ?? null,
            description: description ?? null,
            arguments: args.map((one) => ({ ...one, description: one.description ?? null }))
          })),
          missing: Offered.missing(missing)
        })
        return ExitCode.ok
      }
      for (const one of items) {
        yield* screen.out([{ text: signature(one), style: "strong" }], ...Offered.about(one, screen.columns))
      }
      if (items.length === 0) yield* NoServers.or("No prompts were found.", discovery)
      yield* Offered.notes(missing)
      return ExitCode.ok
    }))

export const command: Command.Command = {
  args: [{ name: "server", about: "Only those of this server.", required: false }],
  options: [],
  examples: [["prompts", "All of them."]],
  run
}
