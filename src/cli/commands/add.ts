// @effect-diagnostics strictEffectProvide:off -- a command is an entry point
/** `mcp-runtime add`: adds a server from a registry to a configuration. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as HostEnvironment from "../../config/HostEnvironment.ts"
import * as Registry from "../../config/Registry.ts"
import * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as Proxy from "../../transport/http/proxy.ts"
import * as Ask from "../Ask.ts"
import type * as Command from "../Command.ts"
import { Usage } from "../Command.ts"
import * as ConfigEdit from "../configEdit.ts"
import * as Consent from "../consent.ts"
import * as Screen from "../Screen.ts"

/** The variable with the URL of the registry. */
const variable = "MCP_REGISTRY_URL"

const shortened = (description: string): string => UntrustedText.excerpt(description, 200)

/** The user names the host, so it may have a private address. */
const fetchOf = (address: string) =>
  Layer.scoped(
    FetchHttpClient.Fetch,
    Effect.gen(function*() {
      const { make } = yield* Effect.promise(() => import("../../auth/guardedFetch.ts"))
      const privateHosts = URL.canParse(address) ? [new URL(address).hostname] : []
      const fetch = yield* make({ rules: { loopback: true, privateHosts }, proxyOf: yield* Proxy.make })
      return (url, init) => fetch(url instanceof Request ? url.url : url, init)
    })
  )

/** Reads a server.json from a file, a URL or the registry. */
const find = (wanted: string, address: string) =>
  Effect.gen(function*() {
    if (!wanted.includes("://") && /^[./]|\.json$/.test(wanted)) {
      const bytes = yield* Effect.mapError(
        (yield* FileSystem.FileSystem).readFile(wanted),
        () => new McpError.RegistryError({ server: wanted, address: wanted, detail: "cannot read the file" })
      )
      return yield* Registry.read(bytes, wanted)
    }
    if (wanted.includes("/")) return yield* Registry.lookUp(wanted, { address })
    const matches = yield* Registry.search(wanted, { address })
    return yield* new Usage({
      detail: `"${wanted}" is not a full registry name such as io.github.acme/weather`,
      next: matches.length === 0
        ? "No server in the registry matches it."
        : `Matching servers: ${matches.map(({ name }) => name).join(", ")}`
    })
  }).pipe(
    Effect.provide(
      Layer.merge(
        Layer.provide(FetchHttpClient.layer, fetchOf(wanted.includes("://") ? wanted : address)),
        NodeFileSystem.layer
      )
    )
  )

const choose = (found: Registry.Found, name: string, source: string | undefined) => {
  const usable = Registry.options(found.server, name).filter(({ entry }) => !Registry.isFault(entry))
  const option = usable.find((option) => source === undefined || option.source === source)
  if (option !== undefined) return Effect.succeed({ option, others: usable.filter((other) => other !== option) })
  const detail = usable.length === 0
    ? "none of its packages and remotes is supported"
    : `not available as ${source}; choose one of ${usable.map(({ source }) => source).join(", ")}`
  return new McpError.RegistryError({ server: found.name, address: found.address, detail })
}

const run: Command.Command["run"] = (invocation) =>
  Effect.gen(function*() {
    const { args: [wanted = ""], isSet, shared, value } = invocation
    const screen = yield* Screen.Screen
    const { variables } = yield* HostEnvironment.HostEnvironment
    const found = yield* find(wanted, value("registry") ?? (variables()[variable] || Registry.defaults.address))
    const name = shared.name ?? Registry.shortName(found.name)
    const { option, others } = yield* choose(found, name, value("source"))
    const content = Registry.document(found, option) ?? {}
    if (isSet("print")) return yield* screen.json(Schema.Unknown, content)
    const lines = Registry.lines(option)
    if (!isSet("yes") && Consent.isTooMuch(lines)) {
      return yield* new Usage({
        detail: "the entry is too long to be shown for confirmation",
        next: "Read it with --print, then add it with --yes."
      })
    }
    // also with --quiet; the command comes last, so that no text of the document can scroll it off the screen
    yield* screen.err(
      [{ text: `${found.name} ${found.version}`, style: "strong" }, `, as ${option.source}`],
      ...(found.description === undefined ? [] : [shortened(found.description)]),
      ...option.optional.map(({ at, description }) =>
        `Optional: ${at}${description === undefined ? "" : `, ${shortened(description)}`}`
      ),
      ...(others.length === 0
        ? []
        : [`Also available with --source: ${others.map(({ source }) => source).join(", ")}`]),
      ...Consent.lines(lines)
    )
    if (!isSet("yes") && !(screen.isInteractive && (yield* Ask.confirm(screen, "Add this server?")))) {
      return yield* new Usage({ detail: "nothing was added", next: "Use --yes to add it without asking." })
    }
    return yield* ConfigEdit.add(invocation, name, content)
  })

export const command: Command.Command = {
  description: [
    "NAME is a registry name (io.github.acme/weather or io.github.acme/weather@1.2.0), the URL of a server.json, or a "
    + "server.json file. The command shows the program or URL that the entry would use, and asks before it writes the "
    + "entry.",
    `The registry is --registry, else ${variable}, else ${Registry.defaults.address}.`
  ],
  args: [{ name: "name", about: "Registry name, URL or file; a part of a name searches the registry", required: true }],
  options: [
    { name: "registry", value: "URL", about: "URL of the registry" },
    {
      name: "source",
      value: "KIND",
      about: "Package type or remote to use, if the server has several: npm, pypi, oci, nuget, sse, …"
    },
    { name: "yes", short: "y", about: "Add the server without asking" },
    { name: "print", about: "Print the entry and change no file" },
    { name: "workspace", about: "Add it to mcp-client.json of the workspace instead of the user" },
    { name: "force", about: "Replace a server of the same name" }
  ],
  examples: [
    ["add io.github.acme/weather", "Add the newest version"],
    ["add io.github.acme/weather@1.2.0 --name weather --yes", "Add a fixed version under another name without asking"],
    ["add https://acme.example/server.json --source sse --print", "Print the entry of a remote server"]
  ],
  run
}
