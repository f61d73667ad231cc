/** What commands print and offer if no server is configured: the other programs on this machine that have servers. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as Dialect from "../config/Dialect.ts"
import * as Ask from "./Ask.ts"
import type * as Command from "./Command.ts"
import { Usage } from "./Command.ts"
import * as ConfigEdit from "./configEdit.ts"
import * as Layout from "./layout.ts"
import * as Screen from "./Screen.ts"

/** A program with configured servers. */
export interface Host {
  readonly host: string
  readonly title: string
  readonly servers: number
  /** The first of its files. */
  readonly path: string
}

/** The programs whose servers could be imported; empty if servers are configured. */
export class Hosts extends Context.Reference<Hosts>()("effect-mcp-runtime/cli/noServers/Hosts", {
  defaultValue: (): ReadonlyArray<Host> => []
}) {}

/** The programs in the result of a discovery with `imports: ["all"]`. */
export const hostsOf = ({ files }: ConfigDiscovery.Discovery): ReadonlyArray<Host> => {
  const hosts = new Map<string, Host>()
  for (const { path, provider: host, servers } of files) {
    if (servers === 0 || host === "native") continue
    const known = hosts.get(host) ?? { host, title: Dialect.find(host)?.title ?? host, servers: 0, path }
    hosts.set(host, { ...known, servers: known.servers + servers })
  }
  return Array.from(hosts.values())
}

export const lines = (hosts: ReadonlyArray<Host>, near: (path: string) => string, columns: number) =>
  Layout.table<Host>(
    [
      { title: "HOST", cell: ({ host }) => ({ text: host, style: "strong" }) },
      { title: "PROGRAM", rank: 1, cell: ({ title }) => title },
      { title: "SERVERS", cell: ({ servers }) => String(servers) },
      { title: "FILE", rank: 2, cell: ({ path }) => near(path) }
    ],
    hosts,
    columns
  )

const detail = "no servers are configured"

const sentence = "No servers are configured."

const next = Effect.map(Hosts, (hosts) =>
  hosts.length === 0
    ? "Add a server with `mcp-runtime config add`, or use --config, --stdio or --url."
    : `Other programs have servers: ${
      hosts.map(({ servers, title }) => `${title} (${Layout.counted(servers, "server")})`).join(", ")
    }. Use `
      + "them once with --import all, or always with `mcp-runtime config import all`.")

export const note = Effect.flatMap(
  Effect.zip(Screen.Screen, next),
  ([screen, next]) => screen.note(sentence, next)
)

/** Fails if no server is configured, for commands that take the name of a server or a tool. */
export const refuse = ({ servers }: ConfigDiscovery.Discovery): Effect.Effect<void, Usage> =>
  servers.length > 0 ? Effect.void : Effect.flatMap(next, (next) => new Usage({ detail, next }))

/** Notes that nothing was found, or that no server is configured. */
export const or = (found: string, { servers }: ConfigDiscovery.Discovery) =>
  servers.length === 0 ? note : Effect.flatMap(Screen.Screen, (screen) => screen.note(found))

/** Offers on a terminal to import the servers of these programs; true if that was done. */
export const offer = (shared: Command.Shared, near: (path: string) => string) =>
  Effect.gen(function*() {
    const hosts = yield* Hosts
    const screen = yield* Screen.Screen
    if (hosts.length === 0 || !screen.isInteractive || shared.json) return false
    yield* screen.err(`${sentence} Other programs have servers:`, "", ...lines(hosts, near, screen.columns), "")
    if (!(yield* Ask.confirm(screen, "Always use these servers?"))) return false
    yield* ConfigEdit.importHosts(shared, hosts.map(({ host }) => host))
    return true
  })
