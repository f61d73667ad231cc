/** Where configuration files may be: the locations of hosts as paths of this machine, in the order of their strength. */
import type * as ConfigDiscovery from "./ConfigDiscovery.ts"
import * as Dialect from "./Dialect.ts"
import type * as Document from "./document.ts"
import { pathsOf } from "./paths.ts"
import type * as Scope from "./Scope.ts"

/** The machine and the workspace of one discovery. */
export interface Place {
  readonly platform: string
  readonly variables: Readonly<Record<string, string | undefined>>
  /** A variable as it was when the process started: the rules of an administrator do not follow later changes. */
  readonly started: (name: string) => string | undefined
  readonly home: string
  /** The workspace. */
  readonly root: string
  /** The current folder and those above it, up to the workspace. */
  readonly folders: ReadonlyArray<string>
  readonly plugins: ReadonlyArray<string>
  readonly app: string
}

/** One path, or a pattern with `*`, and how to read the file. */
export interface Source {
  readonly dialect: Dialect.Dialect
  readonly scope: Scope.Scope
  readonly origin: Scope.Origin
  readonly path: string
  readonly format: Document.Format
  readonly pointer: ReadonlyArray<string> | undefined
  readonly exclusive: boolean
  readonly policyOnly: boolean
  readonly rank: number
  readonly distance: number
  /** Read without an import, so that its own `imports` count. */
  readonly isOwn: boolean
  /** The options name this file, so that its absence is a fault. */
  readonly isNamed: boolean
}

/** A host whose files are read as well. A file of the workspace turns on only files of the workspace. */
export interface Import {
  readonly host: string
  readonly isOfWorkspace: boolean
}

/** Hosts with files of several kinds: the id of the host means all of its dialects. */
const parents: ReadonlyMap<string, string> = new Map([
  ["continue-json", "continue"],
  ["devin-local", "windsurf"],
  ["kilo-legacy", "kilo"]
])

export const isOf = (dialect: string, host: string): boolean => dialect === host || parents.get(dialect) === host

export const everything = "all"

export const dialectsOf = (host: string): ReadonlyArray<Dialect.Dialect> =>
  host === everything ? Dialect.all : Dialect.all.filter((dialect) => isOf(dialect.host, host))

interface Wanted {
  readonly dialect: Dialect.Dialect
  readonly locations: ReadonlyArray<Dialect.Location>
}

/** The project file that many hosts share. */
const isShared = ({ path, scope }: Dialect.Location): boolean =>
  scope === "project" && typeof path === "string" && /^\{(root|dir)\}\/\.mcp\.json$/.test(path)

const inPlugin = (path: string): ReadonlyArray<Dialect.Location> => [
  { scope: "plugin", origin: "plugin", path: `{plugin}/${path}` }
]

const only = (host: string, locations: (dialect: Dialect.Dialect) => ReadonlyArray<Dialect.Location>) =>
  Dialect.all.filter((dialect) => dialect.host === host)
    .map((dialect): Wanted => ({ dialect, locations: locations(dialect) }))

/** The files that are read without an import. */
const always = (): ReadonlyArray<Wanted> => [
  ...only("native", ({ locations }) => locations),
  ...only("claude-code", ({ locations }) => locations.filter(isShared)),
  ...only("agent-plugins", () => inPlugin("mcp.json")),
  ...only("claude-code", () => inPlugin(".mcp.json"))
]

/** The host that knows most of a path, without the beginning that differs from machine to machine. */
const hostOf = (path: string): string => {
  const place = `/${path.replaceAll("\\", "/")}`
  let best = { host: "native", length: 0 }
  for (const { host, locations } of Dialect.all) {
    for (const pattern of locations.flatMap(pathsOf)) {
      const ending = pattern.replace(/^.*[}~]\//, "/")
      const isEnding = ending.startsWith("/") && !ending.includes("*") && place.endsWith(ending)
      if (isEnding && ending.length > best.length) best = { host, length: ending.length }
    }
  }
  return best.host
}

const slashes = (path: string): string => path.replaceAll("\\", "/").replace(/(?<=.)\/+$/, "")

/** An empty variable is none, because it is no path. */
const variable = ({ variables }: Place, name: string): string | undefined => {
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined
  return value === undefined || value === "" ? undefined : slashes(value)
}

const editors = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"]

/** The folders that a word in braces stands for. */
const foldersOf = (place: Place, word: string): ReadonlyArray<string> => {
  const roaming = variable(place, "APPDATA") ?? `${place.home}/AppData/Roaming`
  const config = place.platform === "win32" ? roaming : variable(place, "XDG_CONFIG_HOME") ?? `${place.home}/.config`
  switch (word) {
    case "root":
      return [place.root]
    case "dir":
      return place.folders
    case "plugin":
      return place.plugins
    case "app":
      return [place.app]
    case "config":
      return [config]
    case "appdata":
      return [roaming]
    case "localappdata":
      return [variable(place, "LOCALAPPDATA") ?? `${place.home}/AppData/Local`]
    case "programdata":
      return [variable(place, "PROGRAMDATA") ?? variable(place, "ProgramData") ?? "C:/ProgramData"]
    case "vscode": {
      const parent = place.platform === "darwin" ? `${place.home}/Library/Application Support` : config
      return editors.map((editor) => `${parent}/${editor}/User`)
    }
    default:
      return []
  }
}

/** The paths of a pattern, nearest first. */
const expanded = (place: Place, pattern: string): ReadonlyArray<string> => {
  const word = /\{(\w+)\}/.exec(pattern)
  if (word === null) return [pattern.startsWith("~") ? slashes(place.home) + pattern.slice(1) : pattern]
  return foldersOf(place, word[1]!).flatMap((folder) =>
    expanded(place, pattern.slice(0, word.index) + slashes(folder) + pattern.slice(word.index + word[0].length))
  )
}

const patternsOf = (place: Place, location: Dialect.Location): ReadonlyArray<string> => {
  const [name, rest] = location.variable ?? []
  const folder = name === undefined ? undefined : variable(place, name)
  if (folder !== undefined) return [rest === "" ? folder : `${folder}/${rest}`]
  const { path } = location
  if (typeof path === "string" || Array.isArray(path)) return pathsOf(location)
  return Object.entries(path).flatMap(([platform, paths]) => platform === place.platform ? paths ?? [] : [])
}

const endings: ReadonlyArray<readonly [ending: string, format: Document.Format]> = [
  [".toml", "toml"],
  [".yaml", "yaml"],
  [".yml", "yaml"],
  [".jsonc", "jsonc"]
]

/** The format by the name of the file, where that tells one. */
export const formatOf = (path: string, otherwise: Document.Format): Document.Format =>
  endings.find(([ending]) => path.toLowerCase().endsWith(ending))?.[1] ??
    (path.toLowerCase().endsWith(".json") && otherwise !== "jsonc" ? "json" : otherwise)

/**
 * Every file that could be there: those that the options name, those that are always read, then those of imports. A path
 * that two dialects know is read by the first of them. More imports only add sources at the end.
 */
export const locate = (
  place: Place,
  options: ConfigDiscovery.Options,
  imports: ReadonlyArray<Import>
): ReadonlyArray<Source> => {
  const sources = options.files.map(({ host, path }, rank): Source => {
    const dialect = Dialect.find(host ?? hostOf(path)) ?? Dialect.all[0]!
    return {
      dialect,
      scope: "session",
      origin: "code",
      path,
      format: formatOf(path, dialect.format),
      pointer: undefined,
      exclusive: false,
      policyOnly: false,
      rank,
      distance: 0,
      isOwn: true,
      isNamed: true
    }
  })
  const keys = new Set<string>()
  const add = (
    { dialect, locations }: Wanted,
    isWanted: (path: string, scope: Scope.Scope) => boolean,
    isOwn: boolean
  ) => {
    for (const location of locations) {
      const { origin, scope } = location
      if (
        (!options.enableProjectConfig && origin === "workspace") || (!options.enableUserConfig && origin === "home")
      ) {
        continue
      }
      const pointer = location.pointer?.map((part) => part.replace("{root}", () => place.root))
      const isOfRoot = location.pointer?.includes("{root}") === true
      for (const pattern of patternsOf(place, location)) {
        for (const [index, path] of expanded(place, pattern).entries()) {
          const key = `${path}\0${scope}\0${pointer?.join("\0") ?? ""}`
          if (keys.has(key) || !isWanted(path, scope)) continue
          keys.add(key)
          // a file of the workspace is as far away as the folder of the workspace
          const isAtRoot = isOfRoot || pattern.includes("{root}")
          sources.push({
            dialect,
            scope,
            origin,
            path,
            format: location.format ?? formatOf(path, dialect.format),
            pointer,
            exclusive: location.exclusive === true,
            policyOnly: location.policyOnly === true,
            rank: sources.length,
            distance: pattern.includes("{dir}") ? index : isAtRoot ? place.folders.length - 1 : 0,
            isOwn,
            isNamed: false
          })
        }
      }
    }
  }
  for (const wanted of always()) add(wanted, () => true, true)
  const own = new Set(sources.map(({ path }) => path))
  for (const { host, isOfWorkspace } of imports) {
    for (const dialect of dialectsOf(host)) {
      const locations = isOfWorkspace
        ? dialect.locations.filter(({ origin }) => origin === "workspace")
        : dialect.locations
      add({ dialect, locations }, (path, scope) => !own.has(path) || scope === "local", false)
    }
  }
  return sources
}
