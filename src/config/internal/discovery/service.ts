/**
 * A discovery as a service: where it looks, and how it goes on looking.
 *
 * @internal
 */
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type * as ConfigDiscovery from "../../ConfigDiscovery.ts"
import * as ConfigFiles from "../../ConfigFiles.ts"
import * as Fingerprint from "../../Fingerprint.ts"
import * as HostEnvironment from "../../HostEnvironment.ts"
import * as Trust from "../../Trust.ts"
import * as Discovery from "./discovery.ts"
import type { Place } from "./sources.ts"

type Service = ConfigDiscovery.ConfigDiscovery["Type"]

const states = ({ servers }: ConfigDiscovery.Discovery): ReadonlyMap<string, string> =>
  new Map(servers.map(({ config, fingerprint, name, state }) => [
    name,
    `${JSON.stringify(state)}${fingerprint}${config === undefined ? "" : Fingerprint.configuration(config)}`
  ]))

/**
 * By name: which are there in only one of them, or in both and not the same.
 *
 * @internal
 */
export const diff = (
  before: ConfigDiscovery.Discovery,
  after: ConfigDiscovery.Discovery
): ConfigDiscovery.Diff => {
  const old = states(before)
  const now = states(after)
  return {
    added: Array.from(now.keys()).filter((name) => !old.has(name)),
    removed: Array.from(old.keys()).filter((name) => !now.has(name)),
    changed: Array.from(now.keys()).filter((name) => old.has(name) && old.get(name) !== now.get(name))
  }
}

const isSame = (
  before: ConfigDiscovery.Discovery,
  after: ConfigDiscovery.Discovery,
  { added, changed, removed }: ConfigDiscovery.Diff
): boolean =>
  added.length + removed.length + changed.length === 0 && JSON.stringify(before.issues) === JSON.stringify(after.issues)

const homeOf = (host: HostEnvironment.Host): string => {
  const variables = host.variables()
  const home = host.platform === "win32" ? variables["USERPROFILE"] : variables["HOME"]
  return home === undefined || home === "" ? "/nonexistent" : home
}

/** The folders from `from` up to `to`, both included. */
const between = (path: Path.Path, from: string, to: string): ReadonlyArray<string> => {
  const folders = [from]
  while (folders.at(-1) !== to) {
    const parent = path.dirname(folders.at(-1)!)
    if (parent === folders.at(-1)) return [from]
    folders.push(parent)
  }
  return folders
}

/** @internal */
export const make = (
  options: ConfigDiscovery.Options
): Effect.Effect<Service, never, ConfigFiles.ConfigFiles | Path.Path | Trust.Trust> =>
  Effect.gen(function*() {
    const files = yield* ConfigFiles.ConfigFiles
    const path = yield* Path.Path
    const trust = yield* Trust.Trust
    const host = yield* HostEnvironment.HostEnvironment

    const workspace = (directory: string) =>
      Effect.gen(function*() {
        let folder = directory
        for (;;) {
          if (yield* files.exists(path.join(folder, ".git"))) return folder
          const parent = path.dirname(folder)
          if (parent === folder) return directory
          folder = parent
        }
      })

    const atStart = { ...host.variables() }
    const started = (name: string) => Object.hasOwn(atStart, name) ? atStart[name] : undefined

    const place: Effect.Effect<Place> = Effect.gen(function*() {
      const given = path.resolve(options.directory ?? options.root ?? ".")
      const named = options.root === undefined ? undefined : path.resolve(options.root)
      const directory = yield* files.realPath(given)
      const root = named === undefined
        ? yield* workspace(directory)
        : named === given
        ? directory
        : yield* files.realPath(named)
      const home = path.resolve(options.home ?? homeOf(host))
      return {
        platform: host.platform,
        variables: host.variables(),
        started,
        home,
        root,
        folders: between(path, directory, root),
        plugins: options.plugins.map((plugin) => path.resolve(plugin)),
        app: options.app
      }
    })

    const discoverer = Discovery.make({ files, options, place, trust })
    // made for the first who follows: most look once, and follow nothing
    let watched: SubscriptionRef.SubscriptionRef<ReadonlyArray<string>> | undefined
    const watching = Effect.suspend(() =>
      watched === undefined
        ? Effect.map(SubscriptionRef.make(discoverer.paths()), (made) => watched ??= made)
        : Effect.succeed(watched)
    )
    // what was told last, so that whoever begins to follow misses nothing since
    let last: ConfigDiscovery.Discovery | undefined
    const turn = yield* Effect.makeSemaphore(1)
    const look = Effect.gen(function*() {
      const before = last
      const discovery = yield* discoverer.discover
      last = discovery
      const paths = discoverer.paths()
      if (watched !== undefined && paths.join("\0") !== (yield* watched).join("\0")) {
        yield* SubscriptionRef.set(watched, paths)
      }
      return { before, discovery }
    }).pipe(turn.withPermits(1))

    const next = Effect.map(look, ({ before, discovery }) => {
      if (before === undefined) {
        const added = discovery.servers.map(({ name }) => name)
        return Option.some({ discovery, diff: { added, removed: [], changed: [] } })
      }
      const difference = diff(before, discovery)
      return isSame(before, discovery, difference) ? Option.none() : Option.some({ discovery, diff: difference })
    })

    const changes: Service["changes"] = Stream.suspend(() =>
      Stream.unwrap(Effect.map(watching, ({ changes }) => changes)).pipe(
        // with the paths come those that a file of one of them has just turned on
        Stream.flatMap(files.watch, { switch: true }),
        Stream.debounce(options.debounce),
        // a decision is not debounced: somebody waits for it
        Stream.merge(trust.changes),
        Stream.mapEffect(() => next),
        Stream.filterMap((changed) => changed)
      )
    )

    const discover = Effect.map(look, ({ discovery }) => discovery)
    const current = Effect.suspend(() => last === undefined ? discover : Effect.succeed(last))
    return { discover, current, changes }
  })
