/** `mcp-runtime resources`: what can be read from servers. */
import * as Schema from "effect/Schema"
import type * as Command from "../Command.ts"
import * as Offered from "../offered.ts"
import type * as Screen from "../Screen.ts"

const fields = {
  server: Schema.String,
  name: Schema.NullOr(Schema.String),
  title: Schema.NullOr(Schema.String),
  description: Schema.NullOr(Schema.String),
  mimeType: Schema.NullOr(Schema.String)
}

/** The document of `resources --json`. */
export const Resources = Schema.Struct({
  resources: Schema.Array(Schema.Struct({ uri: Schema.String, ...fields })),
  /** Patterns of URIs that can be read too. */
  templates: Schema.Array(Schema.Struct({ uriTemplate: Schema.String, ...fields })),
  missing: Offered.Missing
})

const described = ({ description, mimeType, name, server, title }: Offered.Resource) => ({
  server,
  name: name ?? null,
  title: title ?? null,
  description: description ?? null,
  mimeType: mimeType ?? null
})

/** The URI stands whole on a line of its own, because it is typed next. */
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
    json: (screen, items, missing) =>
      screen.json(Resources, {
        resources: items.flatMap((one) => "uri" in one ? [{ uri: one.uri, ...described(one) }] : []),
        templates: items.flatMap((one) => "uri" in one ? [] : [{ uriTemplate: one.uriTemplate, ...described(one) }]),
        missing: Offered.missing(missing)
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
  args: [{ name: "server", about: "Only those of this server.", required: false }],
  options: [],
  examples: [["resources docs", "Those of the server docs."]],
  run
}
