/** Decisions about a variable of a process: if an entry may set it, a server inherits it, or consent shows it. */
import * as Names from "./variableNames.ts"

/** The change that a variable makes if an entry sets it. */
export type Effect = keyof typeof Names.effects

const words = (text: string): ReadonlyArray<string> => text.split(/\s+/)

const effects: ReadonlyMap<string, Effect> = new Map(
  (["code", "trust", "program", "peer"] as const).flatMap((effect) =>
    words(Names.effects[effect]).map((name) => [name, effect] as const)
  )
)

/** Families of names: a name of the table wins over them, and the first match wins among them. */
const families: ReadonlyArray<readonly [pattern: RegExp, effect: Effect]> = [
  [/^(LD_|DYLD_|GIT_CONFIG|NPM_CONFIG_|YARN_|BASH_FUNC_)/, "code"],
  [/(^|_)(HTTPS?|ALL|NO|FTP|WSS?|SOCKS|GRPC)_PROXY$/, "peer"],
  [/^(XDG_|PIP_|PIPX_|UV_|BUN_|DENO_|COREPACK_|PNPM_|CARGO_|CONDA_|DOCKER_|ASDF_|MISE_|PYENV_|RUSTUP_)/, "program"]
]

const inherited = { posix: new Set(words(Names.inherited.posix)), windows: new Set(words(Names.inherited.windows)) }

const harmless = {
  posix: new Set([...inherited.posix, ...words(Names.harmless.posix)]),
  windows: new Set([...inherited.windows, ...words(Names.harmless.windows)])
}

const ofGoose: ReadonlySet<string> = new Set(words(Names.refusedByGoose))

/** `undefined` for one that only the program knows. Ignores case, because Windows and npm do and proxies are written both ways. */
export const effect = (name: string): Effect | undefined => {
  const upper = name.toUpperCase()
  return effects.get(upper) ?? families.find(([pattern]) => pattern.test(upper))?.[1]
}

/** True if a file of the workspace may not set it, because it injects code or switches off checks of connections. */
export const isHostile = (name: string): boolean => ["code", "trust"].includes(effect(name) ?? "")

/** True if a server inherits the host's value without configuration. On Windows the name has to be in upper case. */
export const isInherited = (name: string, platform: "posix" | "windows"): boolean =>
  inherited[platform].has(name) || name === "PATH" || (platform === "posix" && name.startsWith("LC_"))

/** True if its value names a path, a locale or a user, and is no secret. */
export const isHarmless = (name: string): boolean =>
  harmless.posix.has(name) || /^LC_[A-Z]+$/.test(name) || harmless.windows.has(name.toUpperCase())

export const isRefusedByGoose = (name: string): boolean => ofGoose.has(name.toUpperCase())
