/** The resources of all servers for a model: their list, the server of a URI, and their content. */
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import type * as McpClient from "../client/McpClient.ts"
import * as McpError from "../McpError.ts"
import * as HiddenText from "../safety/HiddenText.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as UriTemplate from "../text/uriTemplate.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import type * as ToolResult from "../tools/ToolResult.ts"
import type * as AgentTools from "./AgentTools.ts"
import type { Services } from "./commands.ts"

type Answered = Effect.Effect<AgentTools.Answer, McpError.RuntimeError>

export interface Resources {
  readonly list: (server: string | undefined, offset: number) => Answered
  readonly read: (server: string | undefined, uri: string) => Answered
}

const maxUri = 4096
const maxName = 128
const maxDescription = 300

const brief = (text: string | undefined, limit: number): string | undefined => text && HiddenText.brief(text, limit)

/** A resource, or a template with the key of its URI. */
interface Item extends McpClient.Resource {
  readonly server: string
  readonly key: "uri" | "uriTemplate"
}

/** A model must write a URI exactly, so one with hidden characters has no line. */
const lineOf = ({ description, key, mimeType, name, title, uri }: Item): string | undefined =>
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

export const make = ({ guard, permissions, runtime }: Services, pageSize: number): Resources => {
  const isAllowed = (server: string, uri: string): boolean =>
    permissions.decide("model", { kind: "resource", server, name: uri }).decision !== "deny"

  const everything = Effect.all([runtime.resources, runtime.resourceTemplates], { concurrency: "unbounded" })

  const list: Resources["list"] = (only, offset) =>
    Effect.gen(function*() {
      if (only !== undefined) yield* runtime.servers.get(only)
      const [resources, templates] = yield* everything
      const isWanted = ({ server }: { readonly server: string }): boolean => only === undefined || server === only
      const all = [
        ...resources.items.map((each): Item => ({ ...each, key: "uri" })),
        ...templates.items.map((each): Item => ({ ...each, key: "uriTemplate", uri: each.uriTemplate }))
      ].filter((each) => isWanted(each) && isAllowed(each.server, each.uri))
      // the items of one server stay in its order
      const items = all.map((each) => ({ server: each.server, line: lineOf(each) }))
        .filter(({ line }) => line !== undefined).toSorted(byServer)
      const page = items.slice(offset, offset + pageSize)
      const sections = yield* Effect.forEach(new Set(page.map(({ server }) => server)), (server) => {
        const lines = page.flatMap((item) => item.server === server ? [item.line] : [])
        return guard.renderText(lines.join("\n"), { server, tool: "list_mcp_resources", kind: "resource" })
      })
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
      return { text: [...sections.map(({ text }) => text), ...notes].join("\n"), attachments: [], isError: false }
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
