/**
 * Which hosts' files are read: the native ones always, others where somebody with the right to asks for them.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import { nearest } from "../../../text/nearest.ts"
import type * as ConfigDiscovery from "../../ConfigDiscovery.ts"
import type * as ConfigDocument from "../../ConfigDocument.ts"
import type * as ConfigIssue from "../../ConfigIssue.ts"
import * as Dialect from "../../Dialect.ts"
import * as Scope from "../../Scope.ts"
import { isList, isText } from "../dialect/values.ts"
import * as Family from "./family.ts"
import type { Read, Reader } from "./reading.ts"
import * as Sources from "./sources.ts"

/** @internal */
export interface Imported {
  readonly reads: ReadonlyArray<Read>
  readonly sources: ReadonlyArray<Sources.Source>
  readonly issues: ReadonlyArray<ConfigIssue.ConfigIssue>
}

interface Wanted {
  readonly dialect: Dialect.Dialect
  readonly locations: ReadonlyArray<Dialect.Location>
}

const everything = "all"

/** The file that many hosts share is read without being asked for. */
const isShared = ({ path, scope }: Dialect.Location): boolean =>
  scope === "project" && typeof path === "string" && /^\{(root|dir)\}\/\.mcp\.json$/.test(path)

const of = (
  host: string,
  locations: (dialect: Dialect.Dialect) => ReadonlyArray<Dialect.Location>
): ReadonlyArray<Wanted> =>
  Dialect.all.filter((dialect) => dialect.host === host)
    .map((dialect) => ({ dialect, locations: locations(dialect) }))

/** What a plugin brings is where its folder is. */
const inPlugin = (path: string) => (): ReadonlyArray<Dialect.Location> => [
  { scope: "plugin", origin: "plugin", path: `{plugin}/${path}` }
]

const always = (): ReadonlyArray<Wanted> => [
  ...of("native", ({ locations }) => locations),
  ...of("claude-code", ({ locations }) => locations.filter(isShared)),
  ...of("agent-plugins", inPlugin("mcp.json")),
  ...of("claude-code", inPlugin(".mcp.json"))
]

/** Where in a host's folders a file has its place, without the beginning that differs from machine to machine. */
const endings = ({ path }: Dialect.Location): ReadonlyArray<string> =>
  (typeof path === "string" ? [path] : Array.isArray(path) ? path : Object.values(path)).flat()
    .map((pattern: string) => pattern.replace(/^.*[}~]\//, "/"))
    .filter((ending) => ending.startsWith("/") && !ending.includes("*"))

/** Whose file it is, by its name: the host that knows the most of the path. */
const hostOf = (path: string): string => {
  const place = `/${path.replaceAll("\\", "/")}`
  let best = { host: "native", length: 0 }
  for (const { host, locations } of Dialect.all) {
    for (const { length } of locations.flatMap(endings).filter((ending) => place.endsWith(ending))) {
      if (length > best.length) best = { host, length }
    }
  }
  return best.host
}

const enabled = (wanted: ReadonlyArray<Wanted>, options: ConfigDiscovery.Options): ReadonlyArray<Wanted> =>
  wanted.map(({ dialect, locations }) => ({
    dialect,
    locations: locations.filter(({ origin }) =>
      (options.enableProjectConfig || origin !== "workspace") && (options.enableUserConfig || origin !== "home")
    )
  }))

/**
 * The hosts that an administrator, or this person, lets be read at all; absent: all of them. What an administrator has
 * written for a host is left out by nobody else.
 */
const permitted = (reads: ReadonlyArray<Read>): (read: Read) => boolean => {
  const lists = reads.flatMap(({ document, source: { dialect, origin, scope } }) => {
    if (dialect.host !== "native" || !Scope.rights(origin).allow) return []
    const policy = document.root?.get("policy")
    const providers = policy instanceof Map ? (policy as ConfigDocument.Table).get("providers") : undefined
    // a list that is none is one without anybody: it was meant as a limit
    return providers === undefined
      ? []
      : [{ scope, hosts: isList(providers) ? providers.filter(isText) : [] }]
  })
  return ({ source: { dialect: { host }, scope } }) =>
    host === "native" ||
    lists.every(({ hosts, ...list }) =>
      hosts.some((one) => Family.isOf(host, one)) || (scope === "managed" && list.scope !== "managed")
    )
}

/** An unknown host, with the known one that was probably meant. */
const meant = (host: string): string => {
  const [near] = nearest(host, [...new Set(Dialect.all.map((dialect) => dialect.host)), everything])
  return near === undefined ? host : `${host}; did you mean ${near}?`
}

const weaker = (source: Sources.Source, by: number): Sources.Source => ({ ...source, rank: source.rank + by })

/** @internal */
export const read = (
  reader: Reader,
  place: Sources.Place,
  options: ConfigDiscovery.Options
): Effect.Effect<Imported> =>
  Effect.gen(function*() {
    const issues: Array<ConfigIssue.ConfigIssue> = []
    const given = options.files.map(({ host, path }, at): Sources.Source => {
      const dialect = Dialect.find(host ?? hostOf(path)) ?? Dialect.all[0]!
      return {
        dialect,
        scope: "session",
        origin: "code",
        path,
        format: Sources.formatOf(path, dialect.format),
        pointer: undefined,
        exclusive: false,
        policyOnly: false,
        rank: at,
        distance: 0,
        isNamed: true
      }
    })
    const own = [...given, ...Sources.sources(place, enabled(always(), options))]

    const unknown = (host: string, from: Read | undefined) => {
      const provider = from?.source.dialect.host ?? "code"
      issues.push({
        kind: "unknown-import",
        severity: "warning",
        provider,
        scope: from?.source.scope ?? "session",
        path: from?.path,
        server: undefined,
        at: "imports",
        line: from?.document.line(["imports"]),
        message: Dialect.explain("unknown-import", { host: provider, at: "imports", detail: meant(host) })
      })
    }
    const chosen = (hosts: ReadonlyArray<string>, from: Read | undefined, may: boolean): ReadonlyArray<Wanted> =>
      hosts.flatMap((host) => {
        const dialects = host === everything
          ? Dialect.all
          : Dialect.all.filter((dialect) => Family.isOf(dialect.host, host))
        if (dialects.length === 0) unknown(host, from)
        return dialects.map((dialect) => ({
          dialect,
          // a file of the workspace cannot turn on what lies elsewhere
          locations: may ? dialect.locations : dialect.locations.filter(({ origin }) => origin === "workspace")
        }))
      })
    const known = new Set(own.map(({ path }) => path))
    const foreign = (wanted: ReadonlyArray<Wanted>): ReadonlyArray<Sources.Source> =>
      Sources.sources(place, enabled(wanted, options))
        .filter(({ path, scope }) => !known.has(path) || scope === "local")
        .map((source) => weaker(source, own.length))
    // what code asks for is known at once, and read with our own
    const asked = chosen(options.imports, undefined, true)
    const atOnce = [...own, ...foreign(asked)]
    const reads = yield* reader.read(atOnce, place.root, options.strict)
    const ours = new Set(own)
    const first = reads.filter(({ source }) => ours.has(source))
    const isPermitted = permitted(first)
    const also = first.flatMap((one) => chosen(one.decoded.imports ?? [], one, Scope.rights(one.source.origin).start))
    if (also.length === 0) return { reads: reads.filter(isPermitted), sources: atOnce, issues }
    // behind those that were asked for before, which come first here too
    const late = foreign([...asked, ...also]).slice(atOnce.length - own.length)
    const second = yield* reader.read(late, place.root, options.strict)
    return { reads: [...reads, ...second].filter(isPermitted), sources: [...atOnce, ...late], issues }
  })
