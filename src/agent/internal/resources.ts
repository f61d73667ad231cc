/**
 * The resources of all servers for a model: what there is, whose a URI is, and what is in it.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import type * as McpClient from "../../client/McpClient.ts"
import * as McpError from "../../McpError.ts"
import type * as McpRuntime from "../../McpRuntime.ts"
import * as HiddenText from "../../safety/HiddenText.ts"
import type * as OutputGuard from "../../safety/OutputGuard.ts"
import type * as Permissions from "../../safety/Permissions.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as UriTemplate from "../../text/uriTemplate.ts"
import type * as ToolCatalog from "../../tools/ToolCatalog.ts"
import type * as ToolResult from "../../tools/ToolResult.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as AgentTools from "../AgentTools.ts"

/** @internal */
export interface Options {
  readonly guard: OutputGuard.OutputGuard["Type"]
  readonly permissions: Permissions.Permissions["Type"]
  readonly runtime: McpRuntime.McpRuntime["Type"]
  readonly pageSize: number
}

/** @internal */
export interface Resources {
  readonly list: (
    server: string | undefined,
    offset: number
  ) => Effect.Effect<AgentTools.Answer, McpError.RuntimeError>
  readonly read: (
    server: string | undefined,
    uri: string
  ) => Effect.Effect<AgentTools.Answer, McpError.RuntimeError>
}

/** A resource or a template, as a line for a model. */
interface Item {
  readonly server: string
  readonly line: string
}

/** A URI that is longer is nothing to call by. */
const longestUri = 4096

const nameLength = 128
const descriptionLength = 300

type About = Pick<McpClient.Resource, "name" | "title" | "description" | "mimeType">

/** A URI has to be written as it is, so one in which something hides is not offered. */
const lineOf = (
  key: "uri" | "uriTemplate",
  uri: string,
  { description, mimeType, name, title }: About
): string | undefined =>
  uri.length > longestUri || HiddenText.brief(uri, longestUri) !== uri
    ? undefined
    : JSON.stringify({
      [key]: uri,
      name: name === undefined ? undefined : HiddenText.brief(name, nameLength),
      title: title === undefined ? undefined : HiddenText.brief(title, nameLength),
      description: description === undefined ? undefined : HiddenText.brief(description, descriptionLength),
      mimeType: mimeType === undefined ? undefined : HiddenText.brief(mimeType, nameLength)
    })

const byServer = Order.mapInput(Order.string, ({ server }: { readonly server: string }) => server)

const isConnecting = ({ error }: ToolCatalog.Missing): boolean =>
  error?._tag === "ServerUnavailable" && error.why === "connecting"

/** The names of servers, each once and in order. */
const namesOf = (missing: ReadonlyArray<ToolCatalog.Missing>): string =>
  Array.from(new Set(missing.map(({ server }) => server))).toSorted().map((text) => UntrustedText.quote(text)).join(
    ", "
  )

const part = (contents: McpClient.ResourceContents): ToolResult.Content => {
  const { mimeType, uri } = contents
  const resource: JsonRpc.JsonObject = contents._tag === "Text"
    ? { uri, mimeType, text: contents.text }
    : { uri, mimeType, blob: contents.blob }
  return { _tag: "Resource", resource, raw: { type: "resource", resource } }
}

/** @internal */
export const make = ({ guard, pageSize, permissions, runtime }: Options): Resources => {
  const isDenied = (server: string, uri: string): boolean =>
    permissions.decide("model", { kind: "resource", server, name: uri }).decision === "deny"

  const everything = Effect.all([runtime.resources, runtime.resourceTemplates], { concurrency: "unbounded" })

  const labelled = (server: string, items: ReadonlyArray<Item>): Effect.Effect<string> =>
    Effect.map(
      guard.renderText(items.map(({ line }) => line).join("\n"), {
        server,
        tool: "list_mcp_resources",
        kind: "resource"
      }),
      ({ text }) => text
    )

  const list: Resources["list"] = (only, offset) =>
    Effect.gen(function*() {
      if (only !== undefined) yield* runtime.servers.get(only)
      const [resources, templates] = yield* everything
      let unnamed = 0
      const items: Array<Item> = []
      const add = (server: string, line: string | undefined): void => {
        if (line === undefined) unnamed += 1
        else items.push({ server, line })
      }
      const isWanted = ({ server }: { readonly server: string }): boolean => only === undefined || server === only
      for (const one of resources.items.filter(isWanted)) {
        if (!isDenied(one.server, one.uri)) add(one.server, lineOf("uri", one.uri, one))
      }
      for (const one of templates.items.filter(isWanted)) {
        if (!isDenied(one.server, one.uriTemplate)) add(one.server, lineOf("uriTemplate", one.uriTemplate, one))
      }
      // those of one server stay in its own order
      const sorted = items.toSorted(byServer)
      const page = sorted.slice(offset, offset + pageSize)
      const servers = Array.from(new Set(page.map(({ server }) => server)))
      const sections = yield* Effect.forEach(
        servers,
        (server) => labelled(server, page.filter((item) => item.server === server))
      )
      // a server that has no resources to list is not missing
      const missing = [...resources.missing, ...templates.missing].filter((one) =>
        isWanted(one) && one.error?._tag !== "CapabilityMissing"
      )
      const connecting = missing.filter(isConnecting)
      const absent = missing.filter((one) => !isConnecting(one))
      const notes: Array<string> = []
      if (page.length === 0) {
        notes.push(sorted.length === 0 ? "There are no resources." : "There are no more resources.")
      }
      const next = offset + page.length
      if (page.length > 0 && next < sorted.length) {
        notes.push(`There are ${sorted.length - next} more: ask again with the offset ${next}.`)
      }
      if (unnamed > 0) notes.push(`${unnamed} more have URIs that cannot be written here.`)
      if (connecting.length > 0) notes.push(`These servers are still connecting: ${namesOf(connecting)}.`)
      if (absent.length > 0) notes.push(`These servers are not available now: ${namesOf(absent)}.`)
      return { text: [...sections, ...notes].join("\n"), attachments: [], isError: false }
    })

  /** The servers that list it, or else those one of whose templates it can come from. */
  const ownersOf = (uri: string): Effect.Effect<ReadonlyArray<string>> =>
    Effect.map(everything, ([resources, templates]) => {
      const listing = resources.items.filter((one) => one.uri === uri)
      const owners = listing.length > 0
        ? listing
        : templates.items.filter(({ uriTemplate }) => UriTemplate.matcher(uriTemplate)(uri))
      return Array.from(new Set(owners.map(({ server }) => server))).toSorted()
    })

  const ownerOf = (uri: string): Effect.Effect<string, McpError.NotFound | McpError.InvalidArguments> =>
    Effect.flatMap(ownersOf(uri), (owners): Effect.Effect<string, McpError.NotFound | McpError.InvalidArguments> => {
      const [first, ...others] = owners
      if (first === undefined) return new McpError.NotFound({ server: "", kind: "resource", name: uri })
      if (others.length === 0) return Effect.succeed(first)
      const detail = `several servers have it (${
        owners.map((text) => UntrustedText.quote(text)).join(", ")
      }), so say whose it is with \`server\``
      return new McpError.InvalidArguments({ server: "", operation: "resources/read", path: "uri", detail })
    })

  return {
    list,
    read: (named, uri) =>
      Effect.gen(function*() {
        if (uri === "" || uri.length > longestUri) {
          const detail = `a URI has between 1 and ${longestUri} characters`
          return yield* new McpError.InvalidArguments({ server: "", operation: "resources/read", path: "uri", detail })
        }
        const server = named ?? (yield* ownerOf(uri))
        const contents = yield* runtime.readResource(server, uri, { origin: "model" })
        const { attachments, text } = yield* guard.render(
          { content: contents.map(part), structuredContent: undefined, isError: false },
          { server, tool: uri, kind: "resource" }
        )
        return { text, attachments, isError: false }
      })
  }
}
