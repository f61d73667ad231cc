/**
 * Values outside the command line that change which program an entry runs, or which hosts it talks to.
 *
 * @internal
 */
import type * as ConfigEntry from "../../ConfigEntry.ts"
import * as Variables from "../../environmentVariables.ts"
import * as Interpolation from "../../Interpolation.ts"
import { launched, type Line, runsPackages } from "../../launcher.ts"
import type { Hazard } from "./hazard.ts"

const details: { readonly [E in Variables.Effect]: string } = {
  code: "It makes the program load or run other code.",
  trust: "It switches off checks of the program's connections.",
  program: "It decides where programs, packages or settings are found.",
  peer: "It decides which host connections go through, or which certificates they accept."
}

const hazard = (at: string, effect: Variables.Effect): Hazard => ({
  kind: "launch-override",
  at,
  detail: details[effect]
})

/** True for `PATH=${PATH}`, which passes the host's value on unchanged. */
const isUnchanged = (name: string, template: ConfigEntry.Template): boolean => {
  const [only, ...others] = Interpolation.parse(template)
  return others.length === 0 && typeof only === "object" && only.kind === "env" && only.name === name &&
    only.fallback === undefined
}

const ofEnvironment = (env: ConfigEntry.StdioEntry["env"]): ReadonlyArray<Hazard> =>
  Array.from(env ?? []).flatMap(([name, value]) => {
    const effect = Variables.effect(name)
    return effect === undefined || (value !== null && isUnchanged(name, value)) ? [] : [hazard(`env.${name}`, effect)]
  })

/**
 * The variables among the arguments of a program such as `env`: `env PATH=./bin npx …`.
 *
 * @internal
 */
export const ofWords = (line: Line): ReadonlyArray<Hazard> => {
  const programs = launched(line)
  const last = programs.at(-1)?.from ?? 0
  return line.words.slice(0, last).flatMap((word, at) => {
    const name = /^(\w+)=/.exec(word)?.[1]
    const effect = name === undefined ? undefined : Variables.effect(name)
    return effect === undefined ? [] : [hazard(line.at(at), effect)]
  })
}

/** True for the workspace, which is the default folder of such an entry. */
const isUsual = (cwd: string): boolean => /^(\.[\\/]?|\$\{var:(projectDir|workspaceFolder)\}[\\/]?)$/.test(cwd)

/** `cwd` counts if the program is a relative path or a package runner, because both are looked up there. */
const ofFolder = (line: Line, cwd: string | undefined): ReadonlyArray<Hazard> => {
  if (cwd === undefined || isUsual(cwd)) return []
  const isFound = launched(line).some((one) => {
    const word = one.words[one.from] ?? ""
    return runsPackages(one) || (/[\\/]/.test(word) && !/^([\\/~]|[A-Za-z]:|\$\{)/.test(word))
  })
  return isFound ? [{ kind: "launch-override", at: "cwd", detail: "The program is looked up in this folder." }] : []
}

/** @internal */
export const ofProgram = (entry: ConfigEntry.StdioEntry, line: Line): ReadonlyArray<Hazard> => [
  ...ofEnvironment(entry.env),
  ...ofWords(line),
  ...ofFolder(line, entry.cwd)
]
