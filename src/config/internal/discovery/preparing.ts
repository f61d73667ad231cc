/**
 * One merged entry made into what a runtime takes, with what policies say of it, and whether a person has to be asked.
 *
 * @internal
 */
import * as Either from "effect/Either"
import type * as McpError from "../../../McpError.ts"
import type * as ConfigEntry from "../../ConfigEntry.ts"
import type * as Dialect from "../../Dialect.ts"
import type * as Expansion from "../../Expansion.ts"
import * as Fingerprint from "../../Fingerprint.ts"
import * as Hazards from "../../hazards.ts"
import * as Interpolation from "../../Interpolation.ts"
import type * as Merge from "../../Merge.ts"
import * as Scope from "../../Scope.ts"
import type * as ServerConfig from "../../ServerConfig.ts"
import * as ServerPolicy from "../../ServerPolicy.ts"
import type * as Trust from "../../Trust.ts"
import * as Access from "../../variableAccess.ts"
import { folderOf } from "../files/paths.ts"
import * as Given from "./given.ts"
import * as Server from "./server.ts"
import type { Place } from "./sources.ts"

/** @internal */
export interface Prepared {
  readonly merged: Merge.Merged
  readonly fingerprint: string
  /** Absent for an entry that is invalid on its own. */
  readonly config: Either.Either<ServerConfig.ServerConfig, McpError.ConfigurationError> | undefined
  readonly decision: ServerPolicy.Decision
  readonly candidate: Trust.Candidate | undefined
  /** For an entry that the user did not write. */
  readonly hazards: Trust.Candidate["hazards"]
}

const noHazards: Prepared["hazards"] = []

/** @internal */
export interface Around {
  readonly place: Place
  readonly policies: ReadonlyArray<ServerPolicy.Policy>
  readonly given: ReadonlyArray<ServerConfig.ServerConfig>
  readonly inputs: ReadonlyMap<string | undefined, ReadonlyArray<Dialect.Input>>
  readonly places: Map<string, Expansion.Expansion["places"]>
}

/** An entry that is made of several has the rights of the one with the fewest. */
const originOf = ({ provenance, sources }: Merge.Merged): Scope.Origin =>
  sources.find(({ origin }) => !Scope.rights(origin).start)?.origin ?? provenance.origin

/** The same for all servers of a file, and so made once. */
const placesOf = (
  { path, scope }: Merge.Merged["provenance"],
  { place, places }: Around
): Expansion.Expansion["places"] => {
  const key = `${scope}\0${path ?? ""}`
  const known = places.get(key)
  if (known !== undefined) return known
  const configDir = path === undefined ? place.root : folderOf(path)
  const made = {
    projectDir: place.root,
    workspaceFolder: place.root,
    workspaceFolderBasename: place.root.replace(/^.*[\\/]/, ""),
    userHome: place.home,
    configDir,
    pathSeparator: place.platform === "win32" ? "\\" : "/",
    ...(scope === "plugin" ? { pluginRoot: configDir, pluginData: `${configDir}/data` } : undefined)
  }
  places.set(key, made)
  return made
}

/** Where relative paths begin: at the workspace for what belongs to it, and else at the file. */
const directoryOf = (
  { path, scope }: Merge.Merged["provenance"],
  { configDir }: Expansion.Expansion["places"],
  { root }: Place
): string => path === undefined || scope === "project" || scope === "local" ? root : configDir ?? root

const expansionOf = (
  merged: Merge.Merged,
  entry: ConfigEntry.ConfigEntry,
  fingerprint: string,
  around: Around
): Expansion.Expansion => {
  const { provenance } = merged
  const { inputs, place } = around
  const declared = inputs.get(provenance.path) ?? []
  const places = placesOf(provenance, around)
  const expansion: Expansion.Expansion = {
    origin: originOf(merged),
    grants: [],
    places,
    directory: directoryOf(provenance, places, place),
    root: place.root,
    fingerprint
  }
  const hasOwn = entry.transport !== "stdio" && entry.env !== undefined
  if (!hasOwn && declared.length === 0) return expansion
  return {
    ...expansion,
    ...(hasOwn ? { own: Server.secrets(entry.env) } : undefined),
    ...(declared.length === 0 ? undefined : { inputs: declared })
  }
}

/** Every template of an entry. */
const templates = (entry: ConfigEntry.ConfigEntry): ReadonlyArray<string> => {
  const values = (map: ReadonlyMap<string, string | null> | undefined) =>
    Array.from(map?.values() ?? []).filter((value) => value !== null)
  if (entry.transport === "stdio") {
    return [entry.command, ...entry.args, entry.cwd ?? "", entry.envFile ?? "", ...values(entry.env)]
  }
  const oauth = entry.oauth === false || entry.oauth === undefined ? [] : Object.values(entry.oauth)
  return [
    entry.url,
    ...values(entry.headers),
    ...(entry.headersCommand ?? []),
    ...oauth.filter((value) => typeof value === "string")
  ]
}

/** Its environment variables, and those that answer its inputs and secrets (`MCP_INPUT_*`, `MCP_SECRET_*`). */
const variablesOf = (
  entry: ConfigEntry.ConfigEntry,
  places: Expansion.Expansion["places"]
): ReadonlyArray<string> => {
  const asked = templates(entry)
  const answers = asked.flatMap(Interpolation.references).flatMap((reference) => Access.answeredBy(reference) ?? [])
  return [
    ...new Set([...asked.flatMap(Interpolation.variables).filter((name) => !Object.hasOwn(places, name)), ...answers])
  ]
}

const inputsOf = (
  entry: ConfigEntry.ConfigEntry,
  declared: ReadonlyArray<Dialect.Input>
): ReadonlyArray<Dialect.Input> => {
  if (declared.length === 0) return declared
  const asked = new Set(
    templates(entry).flatMap(Interpolation.parse).map((part) => typeof part === "string" ? "" : part.name)
  )
  return declared.filter(({ id }) => asked.has(id))
}

/** Where there are no policies, nobody looks at what they would be asked about. */
const decide = (
  policies: Around["policies"],
  config: ServerConfig.ServerConfig,
  fingerprint: string
): ServerPolicy.Decision =>
  policies.length === 0 ? "allowed" : ServerPolicy.decide(policies, ServerPolicy.subject(config, fingerprint))

/** The `not-honoured` warnings of the reader, which consent shows as hazards. */
const lacking = ({ warnings }: Extract<Merge.Merged["item"], { readonly _tag: "Server" }>): Prepared["hazards"] =>
  warnings.flatMap(({ at, detail, kind }) =>
    kind === "not-honoured" && detail !== undefined ? [{ kind, at, detail }] : []
  )

/** @internal */
export const prepare = (merged: Merge.Merged, around: Around): Prepared => {
  const { item, provenance } = merged
  const { given, place, policies } = around
  const fingerprint = Fingerprint.entry(item, provenance, place.root, around.inputs.get(provenance.path))
  if (item._tag !== "Server") {
    return { merged, fingerprint, config: undefined, decision: "allowed", candidate: undefined, hazards: noHazards }
  }
  const inCode = provenance.provider === Given.provider ? given.find(({ name }) => name === merged.name) : undefined
  if (inCode !== undefined) {
    const fingerprint = Fingerprint.of(inCode)
    const decision = decide(policies, inCode, fingerprint)
    const config = Either.right({ ...inCode, provenance })
    return { merged, fingerprint, config, decision, candidate: undefined, hazards: noHazards }
  }
  const { entry } = item
  const config = Server.make(entry, { expansion: expansionOf(merged, entry, fingerprint, around), provenance })
  const decision = Either.isRight(config) ? decide(policies, config.right, fingerprint) : "allowed"
  const rights = Scope.rights(originOf(merged))
  const asks = Either.isRight(config) && decision === "allowed" && !rights.start
  const all = Either.isRight(config) && decision === "allowed" && !rights.loaderVariables
    ? Hazards.hazards(entry)
    : noHazards
  // the user approved the plugin when installing it, so only overrides that its command line hides are reported
  const hazards = asks ? all : all.filter(({ kind }) => kind === "launch-override")
  const candidate = asks
    ? {
      root: place.root,
      server: merged.name,
      fingerprint,
      entry,
      provenance,
      variables: variablesOf(entry, placesOf(provenance, around)),
      inputs: inputsOf(entry, around.inputs.get(provenance.path) ?? []),
      hazards: [...hazards, ...lacking(item)]
    }
    : undefined
  return { merged, fingerprint, config, decision, candidate, hazards }
}
