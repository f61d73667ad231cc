/**
 * Where the relative paths of an entry begin, written into it before it is laid together with entries of other places:
 * a program beside a person's file must not become one of the workspace.
 *
 * @internal
 */
import type * as ConfigEntry from "../../ConfigEntry.ts"
import * as Interpolation from "../../Interpolation.ts"
import type * as Provenance from "../../Provenance.ts"

const isRelative = (path: ConfigEntry.Template): boolean => !/^(?:[\\/~]|[A-Za-z]:[\\/]|\$\{)/.test(path)

const isPath = (command: ConfigEntry.Template): boolean => /[\\/]/.test(command)

/** @internal */
export const anchored = (
  entry: ConfigEntry.ConfigEntry,
  { path, scope }: Provenance.Provenance
): ConfigEntry.ConfigEntry => {
  // paths of the workspace begin at the workspace, whichever of its files they are in
  if (entry.transport !== "stdio" || path === undefined || scope === "project" || scope === "local") return entry
  const folder = Interpolation.literal(path.replace(/[\\/][^\\/]*$/, ""))
  const from = (to: ConfigEntry.Template): ConfigEntry.Template =>
    isRelative(to) ? `${folder}/${to.replace(/^\.[\\/]/, "")}` : to
  return {
    ...entry,
    command: isPath(entry.command) ? from(entry.command) : entry.command,
    ...(entry.cwd === undefined ? {} : { cwd: from(entry.cwd) }),
    ...(entry.envFile === undefined ? {} : { envFile: from(entry.envFile) })
  }
}
