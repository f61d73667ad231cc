// @effect-diagnostics strictEffectProvide:off -- a command is an entry point
/** `mcp-runtime add`: looks a server up in a registry, and adds it to a configuration. */
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

/** Names the registry, where no option does. */
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

/** A document on disk, at an address, or of a name in the registry. */
const find = (wanted: string, address: string) =>
  Effect.gen(function*() {
    if (!wanted.includes("://") && /^[./]|\.json$/.test(wanted)) {
      const bytes = yield* Effect.mapError(
        (yield* FileSystem.FileSystem).readFile(wanted),
        () => new McpError.RegistryError({ server: wanted, address: wanted, detail: "the file cannot be read" })
      )
      return yield* Registry.read(bytes, wanted)
    }
    if (wanted.includes("/")) return yield* Registry.lookUp(wanted, { address })
    const matches = yield* Registry.search(wanted, { address })
    return yield* new Usage({
      detail: `"${wanted}" is not a full name: names look like io.github.acme/weather.`,
      next: matches.length === 0
        ? "No name in the registry contains it."
        : `These contain it: ${matches.map(({ name }) => name).join(", ")}.`
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
    ? "none of its packages and remotes can be used here"
    : `it is not offered as ${source}: choose one of ${usable.map(({ source }) => source).join(", ")}`
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
        detail: "What it would run has more characters than can be shown before a question.",
        next: "Look at it with --print, and add it with --yes."
      })
    }
    // also with --quiet, and what runs last, so that no text of the document scrolls it away
    yield* screen.err(
      [{ text: `${found.name} ${found.version}`, style: "strong" }, `, as ${option.source}`],
      ...(found.description === undefined ? [] : [shortened(found.description)]),
      ...option.optional.map(({ at, description }) =>
        `It may have ${at} too${description === undefined ? "." : `: ${shortened(description)}`}`
      ),
      ...(others.length === 0
        ? []
        : [`It is also offered as ${others.map(({ source }) => source).join(", ")}: choose with --source.`]),
      ...Consent.lines(lines)
    )
    if (!isSet("yes") && !(screen.isInteractive && (yield* Ask.confirm(screen, "Add it?")))) {
      return yield* new Usage({ detail: "Nothing was added.", next: "To add it without a question, write --yes." })
    }
    return yield* ConfigEdit.add(invocation, name, content)
  })

export const command: Command.Command = {
  description: [
    "NAME is a name of the registry (io.github.acme/weather, or io.github.acme/weather@1.2.0), the address of a "
    + "server.json, or such a file. What it would run is shown, and written after a yes: the package at the version that "
    + "the document names, run by the program of its kind, or the address. The document can only choose among these.",
    `The registry is that of --registry or of the variable ${variable}, or ${Registry.defaults.address}.`
  ],
  args: [{ name: "name", about: "The name, the address or the file; a part of a name finds names.", required: true }],
  options: [
    { name: "registry", value: "URL", about: "The registry to ask." },
    {
      name: "source",
      value: "KIND",
      about: "Which way to run it, where there are several: npm, pypi, oci, nuget, sse, …."
    },
    { name: "yes", short: "y", about: "Add it without a question." },
    { name: "print", about: "Write what would be added to the standard output, and change no file." },
    { name: "workspace", about: "Add it to mcp-client.json of the workspace, and not to that of the user." },
    { name: "force", about: "Replace a server of the same name." }
  ],
  examples: [
    ["add io.github.acme/weather", "The newest version, after a look at what it runs."],
    ["add io.github.acme/weather@1.2.0 --name weather --yes", "One version, under a name of one's own, unasked."],
    ["add https://acme.example/server.json --source sse --print", "The entry of a remote server, not written."]
  ],
  run
}
