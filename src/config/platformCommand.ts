// @effect-diagnostics nodeBuiltinImport:off
/**
 * A command as its platform can run it. Windows itself finds only `.exe` files, `npx` is a `.cmd` file, and only
 * `cmd.exe` can run those.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import type * as HostEnvironment from "./HostEnvironment.ts"

export interface Command {
  readonly file: string
  readonly args: ReadonlyArray<string>
  /** The arguments are one command line, quoted already. */
  readonly isVerbatim: boolean
}

export const isFile = (path: string): boolean => Fs.statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

const find = (command: string, cwd: string, environment: ReadonlyMap<string, string>): string => {
  const variable = (wanted: string): string =>
    Array.from(environment).find(([name]) => name.toUpperCase() === wanted)?.[1] ?? ""
  const extensions = ["", ...(variable("PATHEXT") || ".COM;.EXE;.BAT;.CMD").split(";")]
  const folders = /[\\/:]/.test(command) ? [cwd] : variable("PATH").split(";").filter((folder) => folder !== "")
  for (const folder of folders) {
    for (const extension of extensions) {
      const path = Path.win32.resolve(folder, command + extension)
      if ((extension !== "" || Path.win32.extname(command) !== "") && isFile(path)) return path
    }
  }
  return command
}

const meta = /[()\][%!^"`<>&|;, *?]/g

const quote = (argument: string): string => `"${argument.replace(/(\\*)"/g, "$1$1\\\"").replace(/(\\*)$/, "$1$1")}"`

const escapeTwice = (text: string): string => text.replace(meta, "^$&").replace(meta, "^$&")

/**
 * The arguments of `cmd.exe` for a `.cmd` or `.bat` file: one command line in which everything that `cmd.exe` would
 * interpret is escaped, twice for the arguments, because the file passes them on with `%*`. `undefined` if they hold a
 * line break, which cannot be escaped.
 */
export const batchArguments = (file: string, args: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  if ([file, ...args].some((text) => /[\r\n\0]/.test(text))) return undefined
  const line = [file.replace(meta, "^$&"), ...args.map((argument) => escapeTwice(quote(argument)))].join(" ")
  return ["/d", "/s", "/c", `"${line}"`]
}

/** `undefined` for arguments that no batch file can be given. */
export const make = (
  [command, ...args]: readonly [string, ...ReadonlyArray<string>],
  cwd: string | undefined,
  host: HostEnvironment.Host,
  environment: ReadonlyMap<string, string>
): Command | undefined => {
  if (host.platform !== "win32") return { file: command, args, isVerbatim: false }
  const file = find(command, cwd ?? ".", environment)
  if (!/\.(?:cmd|bat)$/i.test(file)) return { file, args, isVerbatim: false }
  const line = batchArguments(file, args)
  return line && { file: host.variables()["ComSpec"] ?? "cmd.exe", args: line, isVerbatim: true }
}
