/** @internal */

const meta = /[()\][%!^"`<>&|;, *?]/g

const quote = (argument: string): string => `"${argument.replace(/(\\*)"/g, "$1$1\\\"").replace(/(\\*)$/, "$1$1")}"`

const twice = (text: string): string => text.replace(meta, "^$&").replace(meta, "^$&")

/**
 * How a `.cmd` or `.bat` file is run on Windows, where only `cmd.exe` can: one command line in which everything that
 * `cmd.exe` would interpret is escaped, twice for the arguments, because the file hands them on with `%*`. `undefined`
 * if there is a line break in them, which nothing can escape.
 *
 * @internal
 */
export const make = (file: string, args: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  if ([file, ...args].some((text) => /[\r\n\0]/.test(text))) return undefined
  const line = [file.replace(meta, "^$&"), ...args.map((argument) => twice(quote(argument)))].join(" ")
  return ["/d", "/s", "/c", `"${line}"`]
}

/** @internal */
export const isBatch = (file: string): boolean => /\.(?:cmd|bat)$/i.test(file)
