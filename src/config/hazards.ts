/** Hazards of an entry, which a person should know before approving it. */
import { isCredentialParameter } from "../text/credentialName.ts"
import { isOneEdit } from "../text/nearest.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as ConfigIssue from "./ConfigIssue.ts"
import * as Variables from "./environmentVariables.ts"
import * as Interpolation from "./Interpolation.ts"
import { hazards as rows } from "./issueSentences.ts"
import * as Launcher from "./launcher.ts"
import * as Launchers from "./launchers.ts"
import type * as Scope from "./Scope.ts"
import * as Secrets from "./secrets.ts"
import * as ServerEntry from "./serverEntry.ts"

type Row = typeof rows[keyof typeof rows]

export interface Hazard extends ConfigIssue.EntryWarning {
  readonly at: string
  readonly detail: string
}

type Inputs = Scope.Expansion["inputs"]

/** A longer value stays a reference, so that a short file does not become an endless line. */
const longestValue = 256

/**
 * Gives a template the values that the entry itself decides: its literal variables, and defaults. Other references stay,
 * and what they stand for is not known.
 */
export const filling = ({ env }: ServerEntry.Entry, inputs: Inputs = []) => {
  const defaults = new Map(inputs.map((input) => [input.id, input.default]))
  const valueOf = ({ fallback, kind, name }: Interpolation.Reference): string | undefined => {
    const template = kind === "env" ? env?.get(name) : undefined
    const literal = template === undefined ? undefined : Interpolation.plainText(template)
    return literal ?? (kind === "input" ? defaults.get(name) : undefined) ?? fallback
  }
  return (template: string): string =>
    Interpolation.parse(template).map((part) => {
      if (typeof part === "string") return part
      const value = valueOf(part)
      if (value !== undefined && value.length <= longestValue) return value
      return Interpolation.written({ ...part, fallback: undefined })
    }).join("")
}

const hazard = ({ detail, kind }: Row, at: string, name = "", known = ""): Hazard => ({
  kind,
  at,
  detail: detail.replace("{name}", () => name).replace("{known}", known)
})

const words = (text: string): ReadonlyArray<string> => text.trim().split(/\s+/)

/** A package name after a space; nothing for a text that may be an address with a token in it. */
const shown = (name: string): string =>
  /^[@\w.~+/:[\]-]{1,214}$/.test(name) && !name.includes("://") ? ` ${UntrustedText.excerpt(name)}` : ""

// Packages

const known = { names: words(Launchers.knownNames), inScopes: words(Launchers.knownInScopes) }
const exactNames: ReadonlySet<string> = new Set([...known.names, ...known.inScopes])

/** The well-known name that a package's name, or its scope, is one edit away from. */
const nearName = (name: string): string | undefined => {
  if (name.length > 128 || exactNames.has(name.toLowerCase())) return undefined
  const scope = /^@[^/]*(?=\/)/.exec(name)?.[0] ?? name
  return exactNames.has(scope.toLowerCase())
    ? known.inScopes.find((other) => isOneEdit(name, other))
    : known.names.find((other) => isOneEdit(scope, other))
}

const elsewhere =
  /^(git[+:@]|git\+|github:|gitlab:|bitbucket:|gist:|https?:|ssh:|svn\+|hg\+)|^[\w.+-]+(\[[^\]]*\])?\s*@\s*(git\+|https?:|ssh:)|\.git(#|$)/i

/** `user/repository`, which npm takes from GitHub, or an address after the name. */
const elsewhereForNpm = /^[A-Za-z0-9][\w.-]*\/[\w.-]+(#.*)?$|.@(https?:|git[+:]|github:)/

const isLocal = (spec: string): boolean => /^(\.{0,2}[\\/]|[A-Za-z]:[\\/]|file:|\$\{|~[\\/]|\.{1,2}$)/.test(spec)

/** The name of a package, and whether its version is exact. */
const parsed = (spec: string, ecosystem: Launcher.Ecosystem): { readonly name: string; readonly isExact: boolean } => {
  if (ecosystem === "python") {
    const name = /^[\w.-]+/.exec(spec)?.[0] ?? spec
    const rest = spec.slice(name.length).replace(/^\[[^\]]*\]/, "").trim()
    return { name, isExact: /^(?:===?|@)\s*\d[\w.!+-]*$/.test(rest) }
  }
  const [, name = "", version = ""] = /^(?:(?:npm|jsr):\/?)?(@?[^@]*)(?:@([^/]*).*)?$/s.exec(spec) ?? []
  return { name, isExact: /^[=v]?\d+(\.\d+){2,3}(-[\w.-]+)?(\+[\w.-]+)?$/.test(version) }
}

const ofPackage = (spec: string, at: string, ecosystem: Launcher.Ecosystem): ReadonlyArray<Hazard> => {
  if (Launcher.hasUnknownStart(spec)) return [hazard(rows.open, at)]
  if (spec === "" || isLocal(spec)) return []
  const start = spec.replace(/^npm:/, "")
  if (elsewhere.test(start) || (ecosystem === "npm" && elsewhereForNpm.test(start))) return [hazard(rows.elsewhere, at)]
  const { isExact, name } = parsed(spec, ecosystem)
  const known = nearName(name)
  return [
    ...(isExact ? [] : [hazard(rows.newest, at, shown(name))]),
    ...(known === undefined ? [] : [hazard(rows.nearName, at, shown(name), known)])
  ]
}

/** The hazard of a word whose text is not known, because it can be any option, subcommand or program. */
const ofUnknown = ({ at, words }: Launcher.Line, word: number | undefined): ReadonlyArray<Hazard> =>
  word !== undefined && Launcher.hasUnknownStart(words[word] ?? "") ? [hazard(rows.open, at(word))] : []

const ofRunner = (line: Launcher.Launched): ReadonlyArray<Hazard> => {
  const { packages = [], runner, shell = [] } = Launcher.packageRun(line) ?? {}
  return [
    ...ofUnknown(line, Launcher.verbAt(line)),
    ...shell.map(({ word }) => hazard(rows.shellText, line.at(word))),
    ...packages.flatMap(({ value = "", word }) => ofPackage(value, line.at(word), runner!.ecosystem))
  ]
}

// Shells and interpreters

/** The options that make programs run the text of an argument, by the program. */
const textOptions: ReadonlyMap<string, RegExp> = new Map(
  Launchers.interpreters.flatMap(([programs, option]) => words(programs).map((program) => [program, option] as const))
)

const valued = new Set(words(Launchers.interpreterOptions))

/** True for a word that could be an option that runs text. A path that begins with a reference to a folder cannot. */
const isReference = (word: string): boolean => Launcher.hasUnknownStart(word) && !/^\$\{[^}]*\}[\\/]/.test(word)

const ofInterpreter = ({ at, from, program, words }: Launcher.Launched): ReadonlyArray<Hazard> => {
  const text = textOptions.get(program)
  if (text === undefined) return []
  const { first, options } = Launcher.optionsOf(words, from + 1, (option) => !valued.has(option), /^[-+/]./s)
  const found = options.find(({ start }) => text.test(words[start]!))
  if (found !== undefined) return [hazard(rows.text, at(found.start))]
  return first !== undefined && isReference(first.value) ? [hazard(rows.open, at(first.word))] : []
}

/** `-Command` and `-EncodedCommand` in all their short forms, but not `-Config…`, `-Custom…`, `-ExecutionPolicy` or `-ep`. */
const powershellText = /^(--?|\/)(c(?!on|u)|e(?!x|p))[a-z]*$/i

/** Other options of PowerShell have values, so every word up to a file may be the option; a bare first word is text as well. */
const ofPowershell = ({ at, from, program, words }: Launcher.Launched): ReadonlyArray<Hazard> => {
  if (program !== "powershell" && program !== "pwsh") return []
  const find = (fits: (word: string, index: number) => boolean): number =>
    words.findIndex((word, index) => index > from && fits(word, index))
  const text = find((word) => powershellText.test(word))
  const isBare = program === "powershell" && /^[^-/]/.test(words[from + 1] ?? "")
  if (text !== -1 || isBare) return [hazard(rows.text, at(text === -1 ? from + 1 : text))]
  const open = find(isReference)
  const file = find((word, index) =>
    /^(--?|\/)f/i.test(word) || (program === "pwsh" && index === from + 1 && /^[^-/$]/.test(word))
  )
  return open !== -1 && (file === -1 || open < file) ? [hazard(rows.open, at(open))] : []
}

const ofDeno = (line: Launcher.Launched): ReadonlyArray<Hazard> => {
  const { at, from, program, words } = line
  if (program !== "deno") return []
  if (words[from + 1] === "eval") return [hazard(rows.text, at(from + 1))]
  const unknown = ofUnknown(line, from + 1)
  const script = words.findIndex((word, index) => index > from && /^(https?|npm|jsr|data):/.test(word))
  if (script === -1 || unknown.length > 0) return unknown
  return /^(npm|jsr):/.test(words[script]!)
    ? ofPackage(words[script]!, at(script), "npm")
    : [hazard(rows.downloaded, at(script))]
}

// Containers

const switches = new Set(words(Launchers.containerSwitches))

/** Letters in one word are switches up to the first that takes a value: `-itv /:/x` is `-it -v /:/x`. */
const isSwitch = (option: string): boolean =>
  switches.has(option) || /^-[ditPq]+$/.test(option) || (/^-[ditPq]*[^-ditPq]./.test(option))

const separated = (all: Launcher.Option): Launcher.Option => {
  const [, letter, glued] = /^-[ditPq]*([^-ditPq])(.*)$/s.exec(all.option) ?? []
  return letter === undefined ? all : { ...all, option: `-${letter}`, value: glued === "" ? all.value : glued }
}

/** Folders that are the whole machine, or the whole home of a person. */
const vital =
  /^(\/|\/(etc|root|home|Users|var|var\/run|run|proc|sys|dev|boot|usr)\/?|[A-Za-z]:[\\/]?|~\/?|\$\{?HOME\}?\/?|\$\{(env:HOME|var:userHome|env:USERPROFILE)\}[\\/]?)$/

/** The folder of this machine that an option mounts. The colons of a drive and of a variable do not end it. */
const mounted = (option: string, value: string): string =>
  (option === "--mount"
    ? /(?:^|,)(?:source|src)=([^,]*)/.exec(value)
    : /^((?:[A-Za-z]:(?=[\\/])|\$\{[^}]*\})?[^:]*):/.exec(value))?.[1] ?? ""

const engineSocket = /(docker|containerd|podman|crio)\.sock\b|docker_engine/
const volume = /^(-v|--volume|--mount)$/

const dangers: ReadonlyArray<
  readonly [option: RegExp, isDangerous: (value: string, option: string) => boolean, row: Row]
> = [
  [/^--privileged$/, (value) => value !== "false", rows.allRights],
  [/^--(net|network|pid|ipc|uts|userns|cgroupns)$/, (value) => value === "host", rows.notSeparated],
  [/^--cap-add$/, () => true, rows.moreRights],
  [/^--security-opt$/, (value) => /unconfined|disable/.test(value), rows.unprotected],
  [/^--(device|use-api-socket)$/, () => true, rows.device],
  [volume, (value) => engineSocket.test(value), rows.engine],
  [volume, (value, option) => vital.test(mounted(option, value)), rows.allFiles]
]

const ofContainer = (line: Launcher.Launched): ReadonlyArray<Hazard> => {
  const from = Launcher.containerRun(line)
  if (from === undefined) return []
  // the words after the image belong to the container
  const { first: image, options } = Launcher.optionsOf(line.words, from, isSwitch)
  const ofImage = ({ value = "", word }: Launcher.Argument): ReadonlyArray<Hazard> => {
    if (Launcher.hasUnknownStart(value)) return [hazard(rows.open, line.at(word))]
    return /@sha256:[0-9a-f]{64}$/.test(value) ? [] : [hazard(rows.image, line.at(word), shown(value))]
  }
  return [
    ...ofUnknown(line, Launcher.verbAt(line)),
    ...options.map(separated).flatMap(({ option, value = "", word }) => {
      const danger = dangers.find(([options, isDangerous]) => options.test(option) && isDangerous(value, option))
      return danger === undefined ? [] : [hazard(danger[2], line.at(word))]
    }),
    ...(image === undefined ? [] : ofImage(image))
  ]
}

// Secrets that others can see

/** Beginnings that only keys and tokens have. */
const token =
  /(^|[\s=:"'])(sk-[\w-]{16,}|sk_live_\w{10,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|(AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|npm_\w{30,}|eyJ[\w-]{8,}\.eyJ[\w-]{8,})/

const isValue = (text: string): boolean => text !== "" && !/^(true|false|\d{1,6})$/i.test(text)

const isInAddress = (text: string): boolean => {
  const start = text.indexOf("://")
  if (start === -1) return false
  const [host = ""] = text.slice(start + 3).split(/[/?#]/, 1)
  const user = host.slice(0, Math.max(0, host.lastIndexOf("@")))
  if (user.includes(":") && !user.endsWith(":")) return true
  const query = /\?([^#]*)/.exec(text.slice(start))?.[1] ?? ""
  return query.split("&").some((pair) => {
    const equals = pair.indexOf("=")
    const name = pair.slice(0, equals)
    return equals > 0 && isValue(pair.slice(equals + 1)) && isCredentialParameter(name)
  })
}

/** The words that are, or follow, the name of a credential. */
const credentials = (words: ReadonlyArray<string>): ReadonlySet<number> =>
  new Set(
    Secrets.inWords(words).flatMap(({ at, value }) =>
      isValue(value.trim()) && !(value === words[at] && value.startsWith("-")) ? [at] : []
    )
  )

/** True if a text has a credential in it, by its name or its form. */
export const hasSecret = (text: string): boolean =>
  credentials([text]).size > 0 || token.test(text) || isInAddress(text)

const ofWords = ({ at, words }: Launcher.Line): ReadonlyArray<Hazard> => {
  const named = credentials(words)
  return words.flatMap((word, index) =>
    index > 0 && (named.has(index) || token.test(word) || isInAddress(word)) ? [hazard(rows.inArgument, at(index))] : []
  )
}

// Launch overrides

const ofVariable = (name: string, at: string): ReadonlyArray<Hazard> => {
  const effect = Variables.effect(name)
  return effect === undefined ? [] : [hazard(rows[effect], at)]
}

/** True for `PATH=${PATH}`, which passes the host's value on unchanged. */
const isUnchanged = (name: string, template: string | null): boolean => {
  const [only, ...others] = Interpolation.parse(template ?? "")
  return others.length === 0 && typeof only === "object" && only.kind === "env" && only.name === name &&
    only.fallback === undefined
}

/** The variables among the arguments of a program such as `env`: `env PATH=./bin npx …`. */
const ofAssignments = ({ at, from, words }: Launcher.Launched): ReadonlyArray<Hazard> =>
  words.slice(0, from).flatMap((word, index) => ofVariable(/^(\w+)=/.exec(word)?.[1] ?? "", at(index)))

/** `cwd` counts if the program is a relative path or a package runner, because both are looked up there. */
const ofFolder = (line: Launcher.Line, cwd: string | undefined): ReadonlyArray<Hazard> => {
  if (cwd === undefined || /^(\.[\\/]?|\$\{var:(projectDir|workspaceFolder)\}[\\/]?)$/.test(cwd)) return []
  const isLookedUp = Launcher.launched(line).some((program) => {
    const word = program.words[program.from] ?? ""
    return Launcher.isPackageRunner(program) || (/[\\/]/.test(word) && !/^([\\/~]|[A-Za-z]:|\$\{)/.test(word))
  })
  return isLookedUp ? [hazard(rows.folder, "cwd")] : []
}

/** A wrapper such as `env` starts what its variable says. A command itself may have no variable. */
const ofWrapped = (line: Launcher.Launched): ReadonlyArray<Hazard> => line.from > 0 ? ofUnknown(line, line.from) : []

const ofProgram = [ofWrapped, ofInterpreter, ofPowershell, ofDeno, ofRunner, ofContainer]

const ofLine = (line: Launcher.Line): ReadonlyArray<Hazard> => {
  const programs = Launcher.launched(line)
  const last = programs.at(-1)
  if (last === undefined) return []
  return [
    ...ofAssignments(last),
    ...programs.flatMap((program) => ofProgram.flatMap((hazardsOf) => hazardsOf(program))),
    ...ofWords(last)
  ]
}

/** The home without its default, which does not count on a machine that knows the home. */
const withHome = (template: string): string =>
  template.replace(/\$\{(env:(?:HOME|USERPROFILE)|var:userHome):-[^}]*\}/g, "$${$1}")

/** A line with the values of its entry, with and without the default of the home, because either can be what starts. */
const ofTemplates = (templates: ReadonlyArray<string>, fill: (template: string) => string, at: Launcher.Line["at"]) => {
  const lines = [templates, templates.map(withHome)].map((all): Launcher.Line => ({ words: all.map(fill), at }))
  const found = lines.flatMap((line) => ofLine(line)).map((hazard) => [JSON.stringify(hazard), hazard] as const)
  return new Map(found).values()
}

/** The hazards of an entry with the inputs of its file. */
export const hazards = (entry: ServerEntry.Entry, inputs?: Inputs): ReadonlyArray<Hazard> => {
  const fill = filling(entry, inputs)
  if (entry.transport !== "stdio") {
    return [
      ...(isInAddress(entry.url) ? [hazard(rows.inAddress, "url")] : []),
      ...ofTemplates(entry.headersCommand ?? [], fill, (word) => `headersCommand.${word}`)
    ]
  }
  const words = [entry.command, ...entry.args]
  const line: Launcher.Line = { words: words.map(fill), at: (word) => word === 0 ? "command" : `args.${word - 1}` }
  const ofEnv = Array.from(ServerEntry.variables(entry))
    .flatMap(([name, value]) => isUnchanged(name, value) ? [] : ofVariable(name, `env.${name}`))
  return [...ofEnv, ...ofFolder(line, entry.cwd), ...ofTemplates(words, fill, line.at)]
}
