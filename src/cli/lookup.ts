// @effect-diagnostics strictEffectProvide:off -- the arguments decide what is provided
/** Finds the configured servers and reports faults in their files, without starting a server. */
import * as NodePath from "@effect/platform-node/NodePath"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as Dialect from "../config/Dialect.ts"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import * as Trust from "../config/Trust.ts"
import * as McpError from "../McpError.ts"
import type * as McpEvent from "../McpEvent.ts"
import * as NodeMcpRuntime from "../node/NodeMcpRuntime.ts"
import { nearest, suggestion } from "../text/nearest.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as Command from "./Command.ts"
import { type Usage, usage } from "./Command.ts"
import * as IssueShape from "./issueShape.ts"
import * as NoServers from "./noServers.ts"
import * as Screen from "./Screen.ts"
import * as TypedServers from "./typedServers.ts"

/** The discovered servers and their approvals. No server has been started. */
export interface Found {
  readonly discovery: ConfigDiscovery.Discovery
  readonly trust: Trust.Trust["Type"]
  /** Shortens a path relative to the current folder or home. */
  readonly near: (path: string) => string
}

/** The services of a discovery, which a runtime needs as well. */
export type Ground = ConfigDiscovery.ConfigDiscovery | McpEvent.McpEvents | Trust.Trust

/** The hosts whose files can be read. */
export const hosts: ReadonlyArray<string> = [...new Set(Dialect.all.map(({ host }) => host))]

/** Fails for an unknown host, with the nearest known name. */
export const knownHost = (host: string, others: ReadonlyArray<string> = []): Effect.Effect<void, Usage> => {
  const known = [...hosts, ...others]
  if (known.includes(host)) return Effect.void
  const near = suggestion(nearest(host, known))
  const all = `Known hosts: ${known.join(", ")}`
  return usage(`unknown host ${UntrustedText.quote(host, 128)}`, near === undefined ? all : `${near} ${all}`)
}

/** Shortens a path relative to the current folder or home. */
export const near = (path: string, folder: string, home: string | undefined): string => {
  const below = (parent: string) => parent.length > 1 && path.startsWith(`${parent}/`)
  if (below(folder)) return path.slice(folder.length + 1)
  return home !== undefined && below(home) ? `~${path.slice(home.length)}` : path
}

/** The options of the discovery, and how paths are shown. */
const asked = Effect.fnUntraced(function*(shared: Command.Shared) {
  const { resolve } = yield* Path.Path
  const host = yield* HostEnvironment.HostEnvironment
  for (const name of shared.imports) yield* knownHost(name, ["all"])
  const folder = resolve()
  const root = shared.root === undefined ? undefined : resolve(shared.root)
  const files = shared.configs.map((file) => ({ path: resolve(file) }))
  const servers = yield* TypedServers.all(shared, root ?? folder, host)
  const isOnly = files.length + servers.length > 0
  const config = {
    ...(root === undefined ? {} : { root, directory: root }),
    imports: shared.imports,
    files,
    servers,
    enableProjectConfig: !isOnly,
    enableUserConfig: !isOnly
  }
  return { config, near: (file: string) => near(file, folder, host.variables()["HOME"]) }
}, Effect.provide(NodePath.layer))

/** Runs a discovery without reporting faults. */
export const look = <A, E, R>(
  shared: Command.Shared,
  use: (found: Found) => Effect.Effect<A, E, R | Ground>
): Effect.Effect<A, E | Usage, R> =>
  Effect.flatMap(asked(shared), ({ config, near }) =>
    Effect.gen(function*() {
      const trust = yield* Trust.Trust
      const { discover } = yield* ConfigDiscovery.ConfigDiscovery
      const discovery = yield* discover
      const isChosen = config.imports.length + config.files.length + config.servers.length > 0
      const isBroken = discovery.issues.some(({ server, severity }) => server === undefined && severity === "error")
      const others = discovery.servers.length > 0 || isChosen || isBroken
        ? []
        : NoServers.hostsOf(yield* NodeMcpRuntime.discovery({ config: { ...config, imports: ["all"] } }))
      return yield* Effect.provideService(use({ discovery, trust, near }), NoServers.Hosts, others)
    }).pipe(Effect.provide(NodeMcpRuntime.layerDiscovery({ config }))))

/** Notes faults in files. Fails for a broken `--config` file, or for any broken file if there are no servers. */
export const reportIssues = (shared: Command.Shared, { issues, servers }: ConfigDiscovery.Discovery) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const fatal = issues.find(({ scope, server, severity }) =>
      severity === "error" && server === undefined && (servers.length === 0 || scope === "session")
    )
    if (fatal !== undefined) {
      return yield* new McpError.ConfigurationError({
        server: "",
        path: IssueShape.place(fatal),
        detail: fatal.message
      })
    }
    // `variable-unset` is reported with its server
    const relevant = issues.filter(({ kind, severity }) =>
      kind === "unknown-import" || (severity === "error" && kind !== "variable-unset")
    )
    for (const issue of shared.verbose ? issues : relevant) {
      const title = issue.severity === "error" ? "invalid: " : "warning: "
      const text = `${IssueShape.place(issue)}: ${issue.message}`
      yield* screen.note(...Screen.titled(title, "warning", text, screen.columns))
    }
  })

/**
 * Runs a discovery. If no server is configured, offers on a terminal to import the servers of other programs.
 *
 * @param faults - `"error"` reports faults in files, `"collected"` leaves that to the command
 */
export const find = <A, E, R>(
  shared: Command.Shared,
  use: (found: Found) => Effect.Effect<A, E, R | Ground>,
  faults: "error" | "collected" = "error"
): Effect.Effect<A, E | McpError.ConfigurationError | Usage, R | Screen.Screen> =>
  look(shared, (found) =>
    Effect.gen(function*() {
      const { discover } = yield* ConfigDiscovery.ConfigDiscovery
      const discovery = (yield* NoServers.offer(shared, found.near)) ? yield* discover : found.discovery
      if (faults === "error") yield* reportIssues(shared, discovery)
      return yield* use({ ...found, discovery })
    }))
