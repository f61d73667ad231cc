/** `mcp-runtime prompts`: lists prompts. */
import * as Schema from "effect/Schema"
import type * as Command from "../Command.ts"
import * as Offered from "../offered.ts"
import { orNull } from "../orNull.ts"
import type * as Screen from "../Screen.ts"

/** The document of `prompts --json`. */
export const Prompts = Schema.Struct({
  prompts: Schema.Array(Schema.Struct({
    server: Schema.String,
    name: Schema.String,
    title: orNull(Schema.String),
    description: orNull(Schema.String),
    arguments: Schema.Array(Schema.Struct({
      name: Schema.String,
      description: orNull(Schema.String),
      required: Schema.Boolean
    }))
  })),
  missing: Offered.Missing
})

export const signature = ({ arguments: args, name, server }: Offered.Prompt): string =>
  [Offered.format({ server, tool: name }), ...args.map(({ name, required }) => required ? `${name}=…` : `[${name}=…]`)]
    .join(
      " "
    )

const run: Command.Command["run"] = (invocation) =>
  Offered.list(invocation, {
    gather: ({ prompts }) => prompts,
    none: "No prompts were found.",
    shape: Prompts,
    document: (prompts, missing) => ({ prompts, missing }),
    lines: (items, columns) =>
      items.flatMap((one): ReadonlyArray<Screen.Line> => [
        [{ text: signature(one), style: "strong" }],
        ...Offered.about(one, columns)
      ])
  })

export const command: Command.Command = {
  args: [{ name: "server", about: "List only the prompts of this server", required: false }],
  options: [],
  examples: [["prompts github", "List the prompts of one server"]],
  run
}
