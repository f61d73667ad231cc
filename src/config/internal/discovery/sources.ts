/**
 * Where to look: the locations of dialects as paths of this machine, in the order of their strength.
 *
 * @internal
 */
import type * as ConfigDocument from "../../ConfigDocument.ts"
import type * as Dialect from "../../Dialect.ts"
import type * as Scope from "../../Scope.ts"

/** @internal */
export interface Place {
  readonly platform: string
  readonly variables: Readonly<Record<string, string | undefined>>
  /** What a variable was when this process began: an administrator's rules do not follow it. */
  readonly started: (name: string) => string | undefined
  readonly home: string
  /** The workspace. */
  readonly root: string
  /** The current folder and those above it, up to the workspace. */
  readonly folders: ReadonlyArray<string>
  /** The folders of plugins. */
  readonly plugins: ReadonlyArray<string>
  /** The name of the application in paths. */
  readonly app: string
}

/**
 * One path, or a pattern with `*` in it, and how to read what is there.
 *
 * @internal
 */
export interface Source {
  readonly dialect: Dialect.Dialect
  readonly scope: Scope.Scope
  readonly origin: Scope.Origin
  readonly path: string
  readonly format: ConfigDocument.Format
  readonly pointer: ReadonlyArray<string> | undefined
  readonly exclusive: boolean
  readonly policyOnly: boolean
  readonly rank: number
  readonly distance: number
  /** Somebody has named this very file, so that it is a fault if it is not there. */
  readonly isNamed: boolean
}

const editors = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"]

const slashes = (path: string): string => path.replaceAll("\\", "/").replace(/(?<=.)\/+$/, "")

/** A variable counts if it has a value; an empty one is as good as none. */
const variable = ({ variables }: Place, name: string): string | undefined => {
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined
  return value === undefined || value === "" ? undefined : slashes(value)
}

const isWindows = (place: Place): boolean => place.platform === "win32"

/** What a word in braces stands for; several folders where an editor has several names. */
const folders = (place: Place, word: string): ReadonlyArray<string> => {
  const roaming = variable(place, "APPDATA") ?? `${place.home}/AppData/Roaming`
  const config = isWindows(place) ? roaming : variable(place, "XDG_CONFIG_HOME") ?? `${place.home}/.config`
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

const inBraces = /\{(\w+)\}/

const absolute = ({ home }: Place, path: string): string => path.startsWith("~") ? slashes(home) + path.slice(1) : path

/** The paths of a pattern, nearest first. */
const paths = (
  place: Place,
  pattern: string,
  known: Map<string, ReadonlyArray<string>>
): ReadonlyArray<string> => {
  const word = inBraces.exec(pattern)
  if (word === null) return [absolute(place, pattern)]
  const name = word[1]!
  const found = known.get(name) ?? folders(place, name).map(slashes)
  known.set(name, found)
  const [before, after] = [pattern.slice(0, word.index), pattern.slice(word.index + word[0].length)]
  // most have one word only
  return after.includes("{")
    ? found.flatMap((folder) => paths(place, before + folder + after, known))
    : found.map((folder) => absolute(place, before + folder + after))
}

const list = (value: string | ReadonlyArray<string>): ReadonlyArray<string> =>
  typeof value === "string" ? [value] : value

const patterns = (place: Place, { path, variable: moved }: Dialect.Location): ReadonlyArray<string> => {
  if (moved !== undefined) {
    const folder = variable(place, moved[0])
    if (folder !== undefined) return [moved[1] === "" ? folder : `${folder}/${moved[1]}`]
  }
  if (typeof path === "string" || Array.isArray(path)) return list(path as string | ReadonlyArray<string>)
  const platforms = path as { readonly [platform: string]: string | ReadonlyArray<string> | undefined }
  return list(Object.hasOwn(platforms, place.platform) ? platforms[place.platform] ?? [] : [])
}

const formats: ReadonlyArray<readonly [ending: string, format: ConfigDocument.Format]> = [
  [".toml", "toml"],
  [".yaml", "yaml"],
  [".yml", "yaml"],
  [".jsonc", "jsonc"]
]

/**
 * The format by the name of the file, where that says one.
 *
 * @internal
 */
export const formatOf = (path: string, otherwise: ConfigDocument.Format): ConfigDocument.Format =>
  formats.find(([ending]) => path.toLowerCase().endsWith(ending))?.[1] ??
    (path.toLowerCase().endsWith(".json") && otherwise !== "jsonc" ? "json" : otherwise)

/**
 * Every file that could be there. A path that two dialects know is read by the first of them.
 *
 * @internal
 */
export const sources = (
  place: Place,
  dialects: ReadonlyArray<{
    readonly dialect: Dialect.Dialect
    readonly locations: ReadonlyArray<Dialect.Location>
  }>
): ReadonlyArray<Source> => {
  const found: Array<Source> = []
  const known = new Set<string>()
  const words = new Map<string, ReadonlyArray<string>>()
  let rank = 0
  for (const { dialect, locations } of dialects) {
    for (const location of locations) {
      for (const pattern of patterns(place, location)) {
        // a file of the workspace is as far away as its folder, wherever in it somebody is
        const isOfRoot = pattern.includes("{root}") || location.pointer?.includes("{root}") === true
        for (const [distance, path] of paths(place, pattern, words).entries()) {
          const pointer = location.pointer?.map((part) => part.replace("{root}", () => place.root))
          const key = `${path}\0${location.scope}\0${pointer?.join("\0") ?? ""}`
          if (known.has(key)) continue
          known.add(key)
          found.push({
            dialect,
            scope: location.scope,
            origin: location.origin,
            path,
            format: location.format ?? formatOf(path, dialect.format),
            pointer,
            exclusive: location.exclusive === true,
            policyOnly: location.policyOnly === true,
            rank: rank++,
            distance: pattern.includes("{dir}") ? distance : isOfRoot ? place.folders.length - 1 : 0,
            isNamed: false
          })
        }
      }
    }
  }
  return found
}
