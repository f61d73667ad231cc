/** `mcp-runtime read`: reads a resource. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Application from "../Application.ts"
import * as CallResult from "../callResult.ts"
import type * as Command from "../Command.ts"
import * as NoServers from "../noServers.ts"
import * as Offered from "../offered.ts"
import { orNull } from "../orNull.ts"
import * as Screen from "../Screen.ts"

/** The document of `read --json`. */
export const Read = Schema.Struct({
  server: Schema.String,
  uri: Schema.String,
  contents: Schema.Array(Schema.Struct({
    uri: Schema.String,
    mimeType: orNull(Schema.String),
    text: orNull(Schema.String),
    /** Base64. */
    blob: orNull(Schema.String)
  }))
})

interface Entry {
  readonly server: string
  readonly uri?: string
  readonly uriTemplate?: string
}

/** The servers that may have a URI: those that list it, else those with the longest matching template prefix. */
export const owners = (uri: string, entries: ReadonlyArray<Entry>): ReadonlyArray<string> => {
  const listed = entries.filter((one) => one.uri === uri).map(({ server }) => server)
  if (listed.length > 0) return [...new Set(listed)]
  // all URIs of a template share the text before its first expression
  const fitting = entries.map(({ server, uriTemplate = "" }) => ({ server, start: uriTemplate.split("{", 1)[0]! }))
    .filter(({ start }) => start !== "" && uri.startsWith(start))
  const longest = Math.max(...fitting.map(({ start }) => start.length))
  return [...new Set(fitting.filter(({ start }) => start.length === longest).map(({ server }) => server))]
}

const find = (uri: string, application: Application.Application) =>
  Effect.gen(function*() {
    yield* NoServers.refuse(application.discovery)
    const { items, missing } = yield* application.ask(Offered.resources(application.runtime))
    const servers = owners(uri, items)
    return yield* Offered.only(servers, {
      kind: "resource",
      name: uri,
      missing,
      all: items.flatMap((one) => "uri" in one ? [one.uri] : []),
      choose: `Use --server with one of: ${servers.join(", ")}`
    })
  })

const run: Command.Command["run"] = (invocation) =>
  Effect.gen(function*() {
    const { args: [uri = ""], shared, value } = invocation
    yield* CallResult.checkFormat(invocation)
    return yield* Application.use(
      shared,
      Offered.choice(undefined, shared, { answers: true, once: true }),
      (application) =>
        Effect.gen(function*() {
          const screen = yield* Screen.Screen
          const [format, out] = [value("output"), value("out")]
          const [named, ...others] = shared.servers
          // a server may have resources that it does not list
          const server = named !== undefined && others.length === 0 ? named : yield* find(uri, application)
          const contents = yield* application.ask(
            application.runtime.readResource(server, uri, { origin: "person" })
          )
          const parts = contents.map(CallResult.ofResource)
          if (out !== undefined) yield* CallResult.write(out, yield* CallResult.bytes(parts))
          if (shared.json) yield* screen.json(Read, { server, uri, contents })
          else if (out === undefined && format === "raw") {
            for (const one of yield* CallResult.bytes(parts)) yield* screen.bytes(one)
          } else if (out === undefined) {
            for (const [at, part] of parts.entries()) {
              if (parts.length > 1) yield* screen.out([{ text: contents[at]!.uri, style: "strong" }])
              yield* screen.out(...CallResult.lines([part], format))
            }
          }
        })
    )
  })

export const command: Command.Command = {
  description: [
    "Finds the server that has the resource, or uses --server. Control characters are escaped, except with --out and with "
    + "--output raw in a pipe."
  ],
  args: [{ name: "uri", about: "URI of the resource", required: true }],
  options: [
    { name: "out", value: "FILE", about: "Write the content to this file (FILE, FILE-2, … if it has several parts)" },
    CallResult.output
  ],
  examples: [
    ["read note://today", "Print a text resource"],
    ["read chart://sales --server charts --out sales.png", "Save an image from one server"]
  ],
  run
}
