import * as Redacted from "effect/Redacted"
import * as Variables from "./environmentVariables.ts"
import type * as HostEnvironment from "./HostEnvironment.ts"
import type * as ServerConfig from "./ServerConfig.ts"

/** A function that bash exported is code, and no server asked for it. */
const isFunction = (value: string): boolean => value.startsWith("() {")

/** A folder that is not absolute is another one wherever a program is started: a workspace could be it. */
const absoluteOnly = (path: string, isWindows: boolean): string =>
  isWindows
    ? path.split(";").filter((folder) => /^"?([A-Za-z]:[\\/]|\\\\|%)/.test(folder)).join(";")
    : path.split(":").filter((folder) => folder.startsWith("/")).join(":")

/**
 * The environment of a server's process: what is safe of the host's, what the configuration asks for by name, and what
 * it declares.
 */
export const make = (
  config: Pick<ServerConfig.StdioServer, "env" | "inheritEnv" | "withoutEnv">,
  host: HostEnvironment.HostEnvironment["Type"]
): Map<string, string> => {
  // Names on Windows are the same whatever their case, and the host's spelling is kept.
  const isWindows = host.platform === "win32"
  const key = (name: string): string => (isWindows ? name.toUpperCase() : name)
  const inherit = config.inheritEnv ?? false
  const asked = new Set(typeof inherit === "boolean" ? [] : inherit.map(key))
  const allowed = (name: string): boolean =>
    inherit === true || asked.has(name) || Variables.isInherited(name, isWindows ? "windows" : "posix")
  const environment = new Map<string, readonly [name: string, value: string]>()
  for (const [name, value] of Object.entries(host.variables())) {
    if (value === undefined || !allowed(key(name)) || isFunction(value)) continue
    environment.set(key(name), [name, key(name) === "PATH" ? absoluteOnly(value, isWindows) : value])
  }
  for (const name of config.withoutEnv ?? []) environment.delete(key(name))
  for (const [name, value] of config.env ?? []) {
    environment.set(key(name), [name, Redacted.value(value)])
  }
  return new Map(environment.values())
}

/** The declared variable that no process can be given, if there is one. */
export const invalid = (config: Pick<ServerConfig.StdioServer, "env">): string | undefined => {
  for (const [name, value] of config.env ?? []) {
    if (name === "" || name.includes("=") || name.includes("\0") || Redacted.value(value).includes("\0")) return name
  }
  return undefined
}
