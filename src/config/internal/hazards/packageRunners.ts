/**
 * @internal
 */
import { type Argument, type Ecosystem, type Launched, packageRun } from "../../launcher.ts"
import { type Hazard, shown } from "./hazard.ts"
import { nearName } from "./nearNames.ts"

const elsewhere =
  /^(git[+:@]|git\+|github:|gitlab:|bitbucket:|gist:|https?:|ssh:|svn\+|hg\+)|^[\w.+-]+(\[[^\]]*\])?\s*@\s*(git\+|https?:|ssh:)|\.git(#|$)/i

/** `user/repository`, which npm takes from GitHub. */
const shorthand = /^[A-Za-z0-9][\w.-]*\/[\w.-]+(#.*)?$/

const isElsewhere = (spec: string, ecosystem: Ecosystem): boolean => {
  const start = spec.startsWith("npm:") ? spec.slice(4) : spec
  return elsewhere.test(start) ||
    (ecosystem === "npm" && (shorthand.test(start) || /.@(https?:|git[+:]|github:)/.test(start)))
}

interface Package {
  readonly name: string
  readonly exact: boolean
}

const npmVersion = /^[=v]?\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?$/
const pythonVersion = /^\d[\w.!+-]*$/

/**
 * The name of a package, and whether exactly one version of it can be meant.
 *
 * @internal
 */
export const npmPackage = (spec: string): Package => {
  const text = spec.replace(/^(npm|jsr):\/?/, "")
  const at = text.indexOf("@", 1)
  return at === -1
    ? { name: text, exact: false }
    : { name: text.slice(0, at), exact: npmVersion.test(text.slice(at + 1).replace(/\/.*$/, "")) }
}

const pythonPackage = (spec: string): Package => {
  const name = /^[\w.-]+/.exec(spec)?.[0] ?? spec
  const rest = spec.slice(name.length).replace(/^\[[^\]]*\]/, "").trim()
  const version = /^(?:===?|@)\s*(\S+)$/.exec(rest)?.[1]
  return { name, exact: version !== undefined && pythonVersion.test(version) }
}

const isLocal = (spec: string): boolean => /^(\.{0,2}[\\/]|[A-Za-z]:[\\/]|file:|\$\{|~[\\/]|\.{1,2}$)/.test(spec)

/** @internal */
export const ofPackage = (spec: string, at: string, ecosystem: Ecosystem): ReadonlyArray<Hazard> => {
  if (spec === "" || isLocal(spec)) return []
  if (isElsewhere(spec, ecosystem)) {
    return [{
      kind: "remote-code",
      at,
      detail: "It runs code that is downloaded from an address or a repository, past any registry of packages."
    }]
  }
  const { exact, name } = ecosystem === "npm" ? npmPackage(spec) : pythonPackage(spec)
  const hazards: Array<Hazard> = []
  if (!exact) {
    hazards.push({
      kind: "unpinned-package",
      at,
      detail: `The package${
        shown(name)
      } is downloaded in whatever version is the newest; write an exact version after its name.`
    })
  }
  const meant = nearName(name)
  if (meant !== undefined) {
    hazards.push({
      kind: "near-name",
      at,
      detail: `The package${shown(name)} has nearly the name of ${meant}, and is not it; check how it is spelled.`
    })
  }
  return hazards
}

/** @internal */
export const ofRunner = (line: Launched): ReadonlyArray<Hazard> => {
  const run = packageRun(line)
  if (run === undefined) return []
  const of = ({ value = "", word }: Argument) => ofPackage(value, line.at(word), run.runner.ecosystem)
  const ofShell = ({ word }: Argument): Hazard => ({
    kind: "remote-code",
    at: line.at(word),
    detail: "It has a shell run the text of an argument."
  })
  return [...run.shell.map(ofShell), ...run.packages.flatMap(of)]
}
