// @effect-diagnostics strictEffectProvide:off -- what a command needs is known once it has been read
/** Finds the servers that an application would see here, reports the faults of their files, and starts none. */
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

/** The servers that were found, and the approvals that decide on them. Nothing has been started. */
export interface Found {
  readonly discovery: ConfigDiscovery.Discovery
  readonly trust: Trust.Trust["Type"]
  /** A path as a person here would write it. */
  readonly near: (path: string) => string
}

/** The services of a discovery, which a runtime needs too. */
export type Ground = ConfigDiscovery.ConfigDiscovery | McpEvent.McpEvents | Trust.Trust

/** The hosts whose files can be read. */
export const hosts: ReadonlyArray<string> = [...new Set(Dialect.all.map(({ host }) => host))]

/** Refuses an unknown host, and suggests the nearest known name. */
export const knownHost = (host: string, others: ReadonlyArray<string> = []): Effect.Effect<void, Usage> => {
  const known = [...hosts, ...others]
  if (known.includes(host)) return Effect.void
  const near = suggestion(nearest(host, known))
  const all = `Known hosts: ${known.join(", ")}`
  return usage(`unknown host ${UntrustedText.quote(host, 128)}`, near === undefined ? all : `${near} ${all}`)
}

/** A path as short as a person here would write it: below the current folder, or below home. */
export const near = (path: string, folder: string, home: string | undefined): string => {
  const below = (parent: string) => parent.length > 1 && path.startsWith(`${parent}/`)
  if (below(folder)) return path.slice(folder.length + 1)
  return home !== undefined && below(home) ? `~${path.slice(home.length)}` : path
}

/** The options of a discovery, and the form of paths as they are shown from here. */
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

/** Runs a discovery without any report of the faults in it. */
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

/** Notes the faults of files. A broken file of `--config`, or any while there are no servers, is an error instead. */
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
    // `variable-unset` is reported with its server, not here
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
 * Runs a discovery. If it finds nothing, it asks the person at the terminal whether to read the servers of other programs
 * from now on.
 *
 * @param faults - `"error"` reports the faults of files, `"collected"` leaves them to the command
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
