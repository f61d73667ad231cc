/** Servers from the command line: `--stdio "npx -y …"` and `--url https://…`, and the entries of `config add`. */
import * as Either from "effect/Either"
import type * as HostEnvironment from "../config/HostEnvironment.ts"
import * as Interpolation from "../config/Interpolation.ts"
import * as Launcher from "../config/launcher.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as ShellWords from "../text/shellWords.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as Command from "./Command.ts"
import { Usage, usage } from "./Command.ts"

/** An entry of the native format. */
export type Entry =
  | {
    readonly command: string
    readonly args: ReadonlyArray<string>
    readonly cwd?: string
    readonly env?: { readonly [name: string]: string }
  }
  | { readonly type?: "ws"; readonly url: string; readonly headers?: { readonly [name: string]: string } }

/** An option with only the first word of its value, because the rest may be a secret. */
const shown = (option: string, text: string): string => {
  const name = /^[^\s:=]*/.exec(text)![0]
  return name === "" ? option : `${option} ${UntrustedText.quote(name)}`
}

/** Parses name-value pairs. A name alone becomes a reference to the variable, so that no secret is typed or saved. */
const pairs = (option: string, texts: ReadonlyArray<string>, pattern: RegExp, example: string) =>
  Either.all(texts.map((text) => {
    const [, name, value] = pattern.exec(text) ?? []
    return name === undefined
      ? usage(`invalid ${shown(option, text)}`, `Usage: ${option} ${example}`)
      : Either.right([name, value ?? `\${env:${name}}`] as const)
  }))

/** The entry of a command line or a URL. */
export const entryOf = (
  from: ReadonlyArray<string> | string,
  { env, headers }: Pick<Command.Shared, "env" | "headers">
): Either.Either<Entry, Usage> =>
  Either.gen(function*() {
    const isUrl = typeof from === "string"
    if (isUrl && env.length > 0) {
      return yield* usage("--env cannot be used with a URL", "Use --header for a remote server.")
    }
    if (!isUrl && headers.length > 0) {
      return yield* usage("--header cannot be used with a command", "Use --env for a local server.")
    }
    const variables = yield* pairs("--env", env, /^([^=]+)(?:=(.*))?$/s, "NAME=VALUE")
    const fields = yield* pairs("--header", headers, /^([^:]+):\s*(.*)$/s, "'Name: value'")
    const named = env.length + headers.length === 0 ? undefined : Object.fromEntries([...variables, ...fields])
    if (isUrl) {
      return { ...(/^wss?:/i.test(from) ? { type: "ws" } : {}), url: from, ...(named && { headers: named }) }
    }
    const [command = "", ...args] = from
    return { command, args, ...(named && { env: named }) }
  })

/** The default name of a server: its package, script, program or host. */
const nameOf = (entry: Entry): string => {
  if ("url" in entry) return URL.canParse(entry.url) ? new URL(entry.url).hostname : "server"
  const { args, command } = entry
  const launcher = Launcher.of({ transport: "stdio", name: "", command, args })
  const script = /(^|[/\\])(node|bun|deno|tsx|python[\d.]*)(\.exe)?$/.test(command)
    ? args.find((word) => /\.\w+$/.test(word))
    : undefined
  const whole = launcher?.installs ?? script ?? command
  // remove version, scope, folders and extension
  const name = whole.replace(/(?<=.)@[^/@]*$|[=<>~!].*$/, "").replace(/^.*[/\\:]/, "").replace(
    /\.[cm]?[jt]s$|\.py$/,
    ""
  )
  return name.replaceAll(/[^\w.-]+/g, "-").replace(/^-+/, "") || "server"
}

/** The entries by unique name. */
const named = (entries: ReadonlyArray<Entry>, name: string | undefined): ReadonlyMap<string, Entry> => {
  const all = new Map<string, Entry>()
  for (const entry of entries) {
    const wanted = name ?? nameOf(entry)
    let free = wanted
    for (let at = 2; all.has(free); at++) free = `${wanted}-${at}`
    all.set(free, entry)
  }
  return all
}

/** The entries of `--stdio` and `--url`. */
export const entries = (
  { env, headers, name, stdio, urls }: Command.Shared,
  { platform, variables }: HostEnvironment.Host
): Either.Either<ReadonlyMap<string, Entry>, Usage> =>
  Either.gen(function*() {
    if (name !== undefined && stdio.length + urls.length !== 1) {
      return yield* usage("--name needs exactly one --stdio or --url", "Remove --name, or keep one server.")
    }
    const entries: Array<Entry> = []
    for (const line of stdio) {
      const command = ShellWords.withoutShell(line, { home: variables()["HOME"], isWindows: platform === "win32" })
      if (command === undefined) {
        return yield* usage(
          `${shown("--stdio", line)} needs a shell, but the command runs without one`,
          "Put special characters in single quotes, or run a shell: --stdio \"sh -c '…'\""
        )
      }
      entries.push(yield* entryOf(command, { env, headers: urls.length === 0 ? headers : [] }))
    }
    for (const url of urls) {
      entries.push(yield* entryOf(url, { env: stdio.length === 0 ? env : [], headers }))
    }
    return named(entries, name)
  })

/** The servers of `--stdio` and `--url`, which need no approval. Programs start in this folder. */
export const all = (
  shared: Command.Shared,
  folder: string,
  host: HostEnvironment.Host
): Either.Either<ReadonlyArray<ServerConfig.ServerConfig>, Usage> =>
  Either.flatMap(entries(shared, host), (entries) => {
    if (entries.size === 0 && shared.env.length + shared.headers.length > 0) {
      return usage("--env and --header need --stdio or --url")
    }
    const expansion = { origin: "code", grants: [], builtins: {}, directory: folder } as const
    return Either.all(
      Array.from(entries, ([name, entry]) => {
        const placed = "command" in entry
          ? { ...entry, transport: "stdio", cwd: Interpolation.literal(folder) }
          : { ...entry, transport: entry.type ?? "streamable-http" }
        return Either.mapLeft(
          ServerConfig.decodeEither({ ...placed, name }, { expansion }),
          ({ detail, path }) => new Usage({ detail: `invalid server "${name}": ${path}: ${detail}` })
        )
      })
    )
  })
