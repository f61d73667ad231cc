/** `mcp-runtime resources`: lists resources. */
import * as Schema from "effect/Schema"
import type * as Command from "../Command.ts"
import * as Offered from "../offered.ts"
import { orNull } from "../orNull.ts"
import type * as Screen from "../Screen.ts"

const fields = {
  server: Schema.String,
  name: orNull(Schema.String),
  title: orNull(Schema.String),
  description: orNull(Schema.String),
  mimeType: orNull(Schema.String)
}

/** The document of `resources --json`. */
export const Resources = Schema.Struct({
  resources: Schema.Array(Schema.Struct({ uri: Schema.String, ...fields })),
  /** URI templates. */
  templates: Schema.Array(Schema.Struct({ uriTemplate: Schema.String, ...fields })),
  missing: Offered.Missing
})

/** The URI has a line to itself and is never cut, because it is typed next. */
const entry = (one: Offered.Resource, columns: number): ReadonlyArray<Screen.Line> => [
  [
    "  ",
    { text: "uri" in one ? one.uri : one.uriTemplate, style: "strong" },
    ...(one.mimeType === undefined ? [] : [`  ${one.mimeType}`])
  ],
  ...Offered.about({ description: one.description, title: one.title ?? one.name }, columns)
]

const run: Command.Command["run"] = (invocation) =>
  Offered.list(invocation, {
    gather: Offered.resources,
    none: "No resources were found.",
    shape: Resources,
    document: (items, missing) => ({
      resources: items.filter((one) => "uri" in one),
      templates: items.filter((one) => "uriTemplate" in one),
      missing
    }),
    lines: (items, columns) => {
      const lines: Array<Screen.Line> = []
      for (const name of new Set(items.map(({ server }) => server))) {
        lines.push([{ text: name, style: "strong" }])
        for (const one of items) if (one.server === name) lines.push(...entry(one, columns))
      }
      return lines
    }
  })

export const command: Command.Command = {
  args: [{ name: "server", about: "List only the resources of this server", required: false }],
  options: [],
  examples: [["resources docs", "List the resources of one server"]],
  run
}
