/** The resources of all servers for a model: their list, the server of a URI, and their content. */
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import type * as McpClient from "../client/McpClient.ts"
import * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import * as HiddenText from "../safety/HiddenText.ts"
import type * as OutputGuard from "../safety/OutputGuard.ts"
import type * as Permissions from "../safety/Permissions.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as UriTemplate from "../text/uriTemplate.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import type * as ToolResult from "../tools/ToolResult.ts"
import type * as AgentTools from "./AgentTools.ts"

export interface Options {
  readonly guard: OutputGuard.OutputGuard["Type"]
  readonly permissions: Permissions.Permissions["Type"]
  readonly runtime: McpRuntime.McpRuntime["Type"]
  readonly pageSize: number
}

type Answered = Effect.Effect<AgentTools.Answer, McpError.RuntimeError>

export interface Resources {
  readonly list: (server: string | undefined, offset: number) => Answered
  readonly read: (server: string | undefined, uri: string) => Answered
}

/** A resource or a template, and its line for a model. */
interface Item {
  readonly server: string
  readonly line: string | undefined
}

const maxUri = 4096
const maxName = 128
const maxDescription = 300

type About = Pick<McpClient.Resource, "name" | "title" | "description" | "mimeType">

const brief = (text: string | undefined, limit: number): string | undefined => text && HiddenText.brief(text, limit)

/** A model must write a URI exactly, so one with hidden characters has no line. */
const lineOf = (
  key: "uri" | "uriTemplate",
  uri: string,
  { description, mimeType, name, title }: About
): string | undefined =>
  uri.length > maxUri || HiddenText.brief(uri, maxUri) !== uri
    ? undefined
    : JSON.stringify({
      [key]: uri,
      name: brief(name, maxName),
      title: brief(title, maxName),
      description: brief(description, maxDescription),
      mimeType: brief(mimeType, maxName)
    })

const byServer = Order.mapInput(Order.string, ({ server }: { readonly server: string }) => server)

const isConnecting = ({ error }: ToolCatalog.Missing): boolean =>
  error?._tag === "ServerUnavailable" && error.why === "connecting"

const namesOf = (servers: Iterable<{ readonly server: string }>): string =>
  Array.from(new Set(Array.from(servers, ({ server }) => server)))
    .toSorted().map((name) => UntrustedText.quote(name)).join(", ")

const contentOf = (contents: McpClient.ResourceContents): ToolResult.Content => {
  const { mimeType, uri } = contents
  const resource = contents._tag === "Text"
    ? { uri, mimeType, text: contents.text }
    : { uri, mimeType, blob: contents.blob }
  return { _tag: "Resource", resource, raw: { type: "resource", resource } }
}

export const make = ({ guard, pageSize, permissions, runtime }: Options): Resources => {
  const isAllowed = (server: string, uri: string): boolean =>
    permissions.decide("model", { kind: "resource", server, name: uri }).decision !== "deny"

  const everything = Effect.all([runtime.resources, runtime.resourceTemplates], { concurrency: "unbounded" })

  const sectionOf = (server: string, items: ReadonlyArray<Item>): Effect.Effect<string> =>
    Effect.map(
      guard.renderText(items.flatMap(({ line }) => line ?? []).join("\n"), {
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
      const isWanted = ({ server }: { readonly server: string }): boolean => only === undefined || server === only
      const all: ReadonlyArray<Item> = [
        ...resources.items.filter((each) => isWanted(each) && isAllowed(each.server, each.uri))
          .map((each) => ({ server: each.server, line: lineOf("uri", each.uri, each) })),
        ...templates.items.filter((each) => isWanted(each) && isAllowed(each.server, each.uriTemplate))
          .map((each) => ({ server: each.server, line: lineOf("uriTemplate", each.uriTemplate, each) }))
      ]
      // the items of one server stay in its order
      const items = all.filter(({ line }) => line !== undefined).toSorted(byServer)
      const page = items.slice(offset, offset + pageSize)
      const sections = yield* Effect.forEach(
        new Set(page.map(({ server }) => server)),
        (server) => sectionOf(server, page.filter((item) => item.server === server))
      )
      // a server without resources is not missing
      const missing = [...resources.missing, ...templates.missing]
        .filter((each) => isWanted(each) && each.error?._tag !== "CapabilityMissing")
      const connecting = missing.filter(isConnecting)
      const absent = missing.filter((each) => !isConnecting(each))
      const next = offset + page.length
      const notes = [
        page.length > 0 ? [] : items.length === 0 ? "There are no resources." : "There are no more resources.",
        page.length > 0 && next < items.length
          ? `There are ${items.length - next} more: ask again with the offset ${next}.`
          : [],
        all.length > items.length ? `${all.length - items.length} more have URIs that cannot be written here.` : [],
        connecting.length > 0 ? `These servers are still connecting: ${namesOf(connecting)}.` : [],
        absent.length > 0 ? `These servers are not available now: ${namesOf(absent)}.` : []
      ].flat()
      return { text: [...sections, ...notes].join("\n"), attachments: [], isError: false }
    })

  const invalidUri = (detail: string) =>
    new McpError.InvalidArguments({ server: "", operation: "resources/read", path: "uri", detail })

  /** The one server that lists the URI, or else the one that has a template for it. */
  const serverOf = (uri: string): Effect.Effect<string, McpError.NotFound | McpError.InvalidArguments> =>
    Effect.gen(function*() {
      const [resources, templates] = yield* everything
      const listed = resources.items.filter((each) => each.uri === uri)
      const found = listed.length > 0
        ? listed
        : templates.items.filter(({ uriTemplate }) => UriTemplate.matcher(uriTemplate)(uri))
      const [server, ...others] = new Set(found.map(({ server }) => server))
      if (server === undefined) return yield* new McpError.NotFound({ server: "", kind: "resource", name: uri })
      if (others.length > 0) {
        return yield* invalidUri(`several servers have it (${namesOf(found)}); name one with \`server\``)
      }
      return server
    })

  return {
    list,
    read: (only, uri) =>
      Effect.gen(function*() {
        if (uri === "" || uri.length > maxUri) {
          return yield* invalidUri(`a URI has between 1 and ${maxUri} characters`)
        }
        const server = only ?? (yield* serverOf(uri))
        const contents = yield* runtime.readResource(server, uri, { origin: "model" })
        const { attachments, text } = yield* guard.render(
          { content: contents.map(contentOf), structuredContent: undefined, isError: false },
          { server, tool: uri, kind: "resource" }
        )
        return { text, attachments, isError: false }
      })
  }
}
