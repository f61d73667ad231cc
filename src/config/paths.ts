/** The paths of a configuration. */
import type * as Dialect from "./Dialect.ts"
import type * as HostEnvironment from "./HostEnvironment.ts"
import type * as Scope from "./Scope.ts"
import type * as ServerConfig from "./ServerConfig.ts"

export const home = (expansion: Scope.Expansion | undefined, host: HostEnvironment.Host): string | undefined => {
  if (expansion !== undefined && Object.hasOwn(expansion.builtins, "userHome")) return expansion.builtins["userHome"]
  const variables = host.variables()
  return variables[host.platform === "win32" ? "USERPROFILE" : "HOME"]
}

/** The folder that a file is in, which may be the root of all. */
export const folderOf = (path: string): string => {
  const folder = path.replace(/[\\/][^\\/]*$/, "")
  // `C:` alone is the current folder of that drive
  return folder === "" || /^[A-Za-z]:$/.test(folder) ? path.slice(0, folder.length + 1) : folder
}

export const absolute = (path: string, directory: string | undefined, home: string | undefined): string => {
  if (home !== undefined && /^~(?:[\\/]|$)/.test(path)) return home + path.slice(1)
  if (directory === undefined || /^(?:[\\/]|[A-Za-z]:[\\/])/.test(path)) return path
  return `${directory.replace(/[\\/]$/, "")}/${path.replace(/^\.[\\/]/, "")}`
}

/**
 * Relative paths begin where the configuration says, and not where this process happens to have been started. A command
 * without a slash is looked for on the PATH.
 */
export const anchored = (
  config: ServerConfig.ServerConfig,
  directory: string,
  home: string | undefined,
  platform: string
): ServerConfig.ServerConfig => {
  if (config.transport !== "stdio" && config.transport !== "docker") return config
  const isPath = (platform === "win32" ? /[\\/]/ : /\//).test(config.command)
  const command = isPath ? absolute(config.command, directory, home) : config.command
  return config.transport === "docker" || config.cwd === undefined
    ? { ...config, command }
    : { ...config, command, cwd: absolute(config.cwd, directory, home) }
}

/** The name of a file, without its folders. */
export const nameOfFile = (path: string): string =>
  path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)

/** The locations of a host whose files have the name of this one. */
export const locationsNamed = ({ locations }: Dialect.Dialect, path: string): ReadonlyArray<Dialect.Location> =>
  locations.filter((location) => pathsOf(location).some((one) => nameOfFile(one) === nameOfFile(path)))

/** All paths of a location, for every platform. */
export const pathsOf = ({ path }: Dialect.Location): ReadonlyArray<string> =>
  (typeof path === "string" ? [path] : Object.values(path)).flat()
