/** Where configuration files may be: the locations of hosts as paths of this machine, in the order of their strength. */
import type * as ConfigDiscovery from "./ConfigDiscovery.ts"
import * as Dialect from "./Dialect.ts"
import type * as Document from "./document.ts"
import type * as Merge from "./merge.ts"
import { pathsOf } from "./paths.ts"
import type * as Scope from "./Scope.ts"

/** The machine and the workspace of one discovery. */
export interface Machine {
  readonly platform: string
  readonly variables: Readonly<Record<string, string | undefined>>
  /** A variable as it was when the process started: the rules of an administrator do not follow later changes. */
  readonly started: (name: string) => string | undefined
  readonly home: string
  /** The workspace. */
  readonly root: string
  /** The current folder and those above it, up to the workspace. */
  readonly folders: ReadonlyArray<string>
  /** The files of the options, with absolute paths. */
  readonly files: ConfigDiscovery.Options["files"]
  readonly plugins: ReadonlyArray<string>
  readonly app: string
}

/** One path, or a pattern with `*`, and how to read the file. */
export interface Source extends Omit<Merge.Layer, "items"> {
  readonly dialect: Dialect.Dialect
  readonly origin: Scope.Origin
  readonly path: string
  readonly format: Document.Format
  readonly pointer: ReadonlyArray<string> | undefined
  /** Read because of an import, so that its own `imports` do not count. */
  readonly isImported: boolean
  /** The options name this file, so that its absence is a fault. */
  readonly isNamed: boolean
}

/** A host whose files are read as well. A file of the workspace turns on only files of the workspace. */
export interface Import {
  readonly host: string
  readonly isOfWorkspace: boolean
}

/** The id of a host means all of its dialects. */
export const isOf = (dialect: string, host: string): boolean =>
  dialect === host || Dialect.find(dialect)?.partOf === host

export const everything = "all"

export const dialectsOf = (host: string): ReadonlyArray<Dialect.Dialect> =>
  host === everything ? Dialect.all : Dialect.all.filter((dialect) => isOf(dialect.host, host))

/** The host that knows most of a path, without the beginning that differs from machine to machine. */
const hostOf = (path: string): Dialect.Dialect => {
  const wanted = `/${path.replaceAll("\\", "/")}`
  let best = { dialect: Dialect.native, length: 0 }
  for (const dialect of Dialect.all) {
    for (const pattern of dialect.locations.filter(({ scope }) => scope !== "plugin").flatMap(pathsOf)) {
      const ending = pattern.replace(/^.*[}~]\//, "/")
      const isEnding = ending.startsWith("/") && !ending.includes("*") && wanted.endsWith(ending)
      if (isEnding && ending.length > best.length) best = { dialect, length: ending.length }
    }
  }
  return best.dialect
}

const slashes = (path: string): string => path.replaceAll("\\", "/").replace(/(?<=.)\/+$/, "")

/** An empty variable counts as unset, because it is not a path. */
const variable = ({ variables }: Machine, name: string): string | undefined =>
  Object.hasOwn(variables, name) ? variables[name] || undefined : undefined

/** The folders that replace each word in braces, nearest first. */
const foldersOf = (machine: Machine): ReadonlyMap<string, ReadonlyArray<string>> => {
  const { app, folders, home, platform, plugins, root } = machine
  const roaming = variable(machine, "APPDATA") ?? `${home}/AppData/Roaming`
  const config = platform === "win32" ? roaming : variable(machine, "XDG_CONFIG_HOME") ?? `${home}/.config`
  const editors = platform === "darwin" ? `${home}/Library/Application Support` : config
  const words: Readonly<Record<string, ReadonlyArray<string>>> = {
    home: [home],
    root: [root],
    dir: folders,
    plugin: plugins,
    app: [app],
    config: [config],
    appdata: [roaming],
    localappdata: [variable(machine, "LOCALAPPDATA") ?? `${home}/AppData/Local`],
    programdata: [variable(machine, "PROGRAMDATA") ?? variable(machine, "ProgramData") ?? "C:/ProgramData"],
    vscode: ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"].map((editor) => `${editors}/${editor}/User`)
  }
  return new Map(Object.entries(words).map(([word, paths]) => [word, paths.map(slashes)]))
}

const patternsOf = (machine: Machine, location: Dialect.Location): ReadonlyArray<string> => {
  const [name, rest] = location.variable ?? []
  const folder = name === undefined ? undefined : variable(machine, name)
  // only the name of the variable is a part of the pattern, because its value can have braces
  if (folder !== undefined) return [rest === "" ? `{${name}}` : `{${name}}/${rest}`]
  const { path } = location
  if (typeof path === "string" || Array.isArray(path)) return pathsOf(location)
  return Object.entries(path).flatMap(([platform, paths]) => platform === machine.platform ? paths ?? [] : [])
}

const formats: ReadonlyMap<string, Document.Format> = new Map([
  ["toml", "toml"],
  ["yaml", "yaml"],
  ["yml", "yaml"],
  ["jsonc", "jsonc"]
])

/** The format by the name of the file, where that tells one. */
export const formatOf = (path: string, otherwise: Document.Format): Document.Format => {
  const ending = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ""
  return formats.get(ending) ?? (ending === "json" && otherwise !== "jsonc" ? "json" : otherwise)
}

const sourceOf = (
  dialect: Dialect.Dialect,
  { exclusive = false, format, origin, pointer, scope }: Omit<Dialect.Location, "path">,
  path: string,
  at: Pick<Source, "rank" | "distance" | "isImported" | "isNamed">
): Source => ({
  dialect,
  provider: dialect.host,
  scope,
  origin,
  path,
  format: format ?? formatOf(path, dialect.format),
  pointer,
  exclusive,
  ...at
})

/**
 * Every file that could be there: those that the options name, those that are always read, then those of imports. A path
 * that two dialects know is read by the first of them. More imports only add sources at the end.
 */
export const locate = (
  machine: Machine,
  { enableProjectConfig, enableUserConfig }: ConfigDiscovery.Options,
  imports: ReadonlyArray<Import>
): ReadonlyArray<Source> => {
  const words = foldersOf(machine)
  const foldersIn = (word: string): ReadonlyArray<string> => {
    const folder = variable(machine, word)
    return words.get(word) ?? (folder === undefined ? [] : [slashes(folder).replace(/^~/, () => slashes(machine.home))])
  }
  const expanded = (pattern: string): ReadonlyArray<string> => {
    const [, before = "", word, after = ""] = /^([^{]*)\{(\w+)\}(.*)$/.exec(pattern.replace(/^~/, "{home}")) ?? []
    return word === undefined
      ? [pattern]
      : foldersIn(word).flatMap((folder) => expanded(after).map((rest) => before + folder + rest))
  }
  const sources = machine.files.map(({ host, path }, rank) => {
    const dialect = host === undefined ? hostOf(path) : Dialect.find(host) ?? Dialect.native
    return sourceOf(dialect, { scope: "session", origin: "code" }, path, {
      rank,
      distance: 0,
      isImported: false,
      isNamed: true
    })
  })
  const keys = new Set<string>()
  const add = (dialect: Dialect.Dialect, location: Dialect.Location, direct?: ReadonlySet<string>): void => {
    const { origin, scope } = location
    if ((!enableProjectConfig && origin === "workspace") || (!enableUserConfig && origin === "home")) return
    const pointer = location.pointer?.map((part) => part.replace("{root}", () => machine.root))
    for (const pattern of patternsOf(machine, location)) {
      // a file of the workspace is as far away as the folder of the workspace
      const isAtRoot = location.pointer?.includes("{root}") === true || pattern.includes("{root}")
      for (const [index, path] of expanded(pattern).entries()) {
        const key = [path, scope, ...(pointer ?? [])].join("\0")
        if (keys.has(key) || (direct?.has(path) === true && scope !== "local")) continue
        keys.add(key)
        sources.push(sourceOf(dialect, { ...location, pointer }, path, {
          rank: sources.length,
          distance: pattern.includes("{dir}") ? index : isAtRoot ? machine.folders.length - 1 : 0,
          isImported: direct !== undefined,
          isNamed: false
        }))
      }
    }
  }
  for (const dialect of Dialect.all) {
    for (const location of dialect.locations) if (location.always === true) add(dialect, location)
  }
  const direct = new Set(sources.map(({ path }) => path))
  for (const { host, isOfWorkspace } of imports) {
    for (const dialect of dialectsOf(host)) {
      for (const location of dialect.locations) {
        if (!isOfWorkspace || location.origin === "workspace") add(dialect, location, direct)
      }
    }
  }
  return sources
}
