/**
 * The sample configurations of hosts, each with what is to come of it, and the one mapping between their words and ours.
 */
import * as Duration from "effect/Duration"
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import type * as ConfigFile from "../../src/config/ConfigFile.ts"
import type * as ConfigIssue from "../../src/config/ConfigIssue.ts"
import type * as Dialect from "../../src/config/Dialect.ts"
import type * as Document from "../../src/config/document.ts"
import * as Interpolation from "../../src/config/Interpolation.ts"
import * as Limits from "../../src/config/Limits.ts"
import type { Item } from "../../src/config/readEntry.ts"
import * as Scope from "../../src/config/Scope.ts"
import type * as ServerPolicy from "../../src/config/ServerPolicy.ts"

export interface SampleFile {
  /** Below the folder of the case, with `/`. */
  readonly path: string
  readonly bytes: Uint8Array
}

export interface Sample {
  readonly id: string
  readonly expected: Json
  readonly files: ReadonlyArray<SampleFile>
}

export type Json = { readonly [key: string]: unknown }

const root = fileURLToPath(new URL("../fixtures/config-samples", import.meta.url))

const folders = (folder: string): ReadonlyArray<string> =>
  fs.readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name)
    .toSorted()

const filesOf = (folder: string): ReadonlyArray<SampleFile> =>
  fs.readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "expected.json")
    .map((entry) => path.join(entry.parentPath, entry.name))
    .toSorted()
    .map((file) => ({ path: path.relative(folder, file).replaceAll("\\", "/"), bytes: fs.readFileSync(file) }))

export const samples: ReadonlyArray<Sample> = folders(root).flatMap((group) =>
  folders(path.join(root, group)).map((name) => {
    const folder = path.join(root, group, name)
    return {
      id: `${group}/${name}`,
      expected: JSON.parse(fs.readFileSync(path.join(folder, "expected.json"), "utf8")),
      files: filesOf(folder)
    }
  })
)

const plain = (value: unknown): unknown => {
  if (value instanceof Map) return Object.fromEntries(Array.from(value, ([key, part]) => [key, plain(part)]))
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === "bigint") return String(value)
  if (typeof value !== "object" || value === null || value instanceof Date) return value
  const parts = Object.entries(value).filter(([, part]) => part !== undefined).map(([key, part]) => [key, plain(part)])
  return Object.fromEntries(parts)
}

const noted = ({ at, kind }: { readonly kind: ConfigIssue.Kind; readonly at?: string | undefined }): string =>
  at === undefined ? kind : `${kind}:${at}`

/** Some hosts write "as long as it takes" as zero. */
const millis = (time: number | undefined): number | undefined =>
  time === Duration.toMillis(Limits.defaults.toolTimeout) ? 0 : time

/** The fields of an entry in the words of the samples, which put some of them together. */
export const entryOf = ({ approval, entry, extra }: Extract<Item, { readonly _tag: "Server" }>): Json => {
  const { autoApprove, disabledTools: deny, enabledTools: allow, env, requestTimeout, startupTimeout, ...rest } = entry
  const { withoutEnv = [], ...fields } = { withoutEnv: undefined, ...rest }
  const variables = new Map<string, unknown>([...(env ?? []), ...withoutEnv.map((name) => [name, null] as const)])
  const timeouts = { startupMs: millis(startupTimeout), requestMs: millis(requestTimeout) }
  const tools = { allow, deny, autoApprove, approval }
  const grouped = { timeouts, tools, extra, ...(variables.size === 0 ? {} : { env: variables }) }
  const filled = Object.entries(plain(grouped) as Json).filter(([, part]) => Object.keys(Object(part)).length > 0)
  return { ...(plain(fields) as Json), ...Object.fromEntries(filled) }
}

/** An item as the samples write it. */
export const itemOf = (item: Item): Json => {
  switch (item._tag) {
    case "Patch":
      return { name: item.name, patch: { enabled: item.enabled } }
    case "Given":
      return { name: item.name }
    case "Invalid": {
      const { at, detail, kind, name } = item
      const image = kind === "needs-gateway" && detail !== undefined ? { image: detail } : {}
      return { name, error: kind, ...(at === undefined ? {} : { at }), ...image }
    }
    case "Server": {
      // the variables of a remote are no part of their shape
      const { env, ...entry } = entryOf(item)
      return {
        ...entry,
        ...(item.entry.transport === "stdio" && env !== undefined ? { env } : {}),
        ...(item.warnings.length === 0 ? {} : { warnings: item.warnings.map(noted) })
      }
    }
  }
}

const namesOf = (rules: ReadonlyArray<ServerPolicy.Matcher>): ReadonlyArray<unknown> =>
  rules.map((rule) => rule._tag === "Name" ? rule.pattern : rule)

const filled = (record: { readonly [key: string]: ReadonlyArray<unknown> | undefined }): Json =>
  Object.fromEntries(Object.entries(record).filter(([, list]) => list !== undefined && list.length > 0))

const textsIn = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string" ? [value] : Object.values(Object(value)).flatMap(textsIn)

/** The inputs that the templates of these entries ask for, in their order. */
const asksFor = (items: ReadonlyArray<Item>): ReadonlyArray<string> => {
  const references = items.flatMap((item) => item._tag === "Server" ? textsIn(plain(item.entry)) : [])
    .flatMap(Interpolation.references)
  return [...new Set(references.flatMap(({ kind, name }) => kind === "input" ? [name] : []))]
}

/** A file as the samples write it: `asked` are the keys that this sample speaks of. */
export const fileOf = (
  { imports, inputs, issues, items: found, policy, switches }: ConfigFile.ConfigFile,
  asked: Json
): Json => {
  const ofFile = issues.filter(({ server }) => server === undefined)
  const errors = ofFile.filter(({ severity }) => severity === "error").map(({ kind }) => kind)
  const warnings = ofFile.filter(({ severity }) => severity === "warning").map(noted)
  const items = found.map(itemOf)
  return {
    ...("serversCount" in asked
      ? { serversCount: items.length, errors: items.filter((item) => "error" in item), first: items[0] }
      : { servers: items }),
    ...filled({ fileErrors: errors, fileWarnings: warnings }),
    ...("inputs" in asked ? { inputs: inputs.map(({ id }) => id) } : {}),
    ...("undeclaredInputs" in asked
      ? { undeclaredInputs: asksFor(found).filter((id) => !inputs.some((input) => input.id === id)) }
      : {}),
    ...("imports" in asked ? { imports } : {}),
    ...("policy" in asked
      ? {
        policy: filled({
          allow: namesOf(policy?.allow ?? []),
          deny: namesOf(policy?.deny ?? []),
          forceEnable: switches?.on
        })
      }
      : {})
  }
}

/** What a sample says about what it does not want compared. */
const about = new Set(["note", "host", "scope", "file", "kind", "pointer", "exclusive", "resolve", "strict"])

/** Without the settings of a login that have no effect: that there may be one, and that its client has no secret. */
const withoutIdle = (key: string, value: unknown): unknown =>
  key === "oauth" && typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).filter(([name, on]) => name !== "public" && (name !== "enabled" || !on)))
    : value

export const wanted = (expected: Json): Json =>
  JSON.parse(
    JSON.stringify(Object.fromEntries(Object.entries(expected).filter(([key]) => !about.has(key)))),
    withoutIdle
  )

/** Our words of one thing, cut to the keys that a sample speaks of. */
export const cut = (ours: Json, theirs: Json): Json =>
  Object.fromEntries(Object.keys(theirs).filter((key) => key in ours).map((key) => [key, ours[key]]))

export const isScope = (text: unknown): text is Scope.Scope => Scope.order.some((scope) => scope === text)

/** Who writes the files of a scope, where a sample does not say. */
export const usualOrigin: { readonly [S in Scope.Scope]: Scope.Origin } = {
  managed: "system",
  session: "code",
  local: "workspace",
  project: "workspace",
  user: "home",
  plugin: "plugin"
}

/** The place of a file among those of its host, by the end of its path. */
export const locationOf = (dialect: Dialect.Dialect | undefined, file: string): Dialect.Location | undefined =>
  dialect?.locations.find(({ path: paths }) => JSON.stringify(paths).includes(`/${file}"`))

export const tableOf = (file: ConfigFile.ConfigFile): Document.Table => file.document.root ?? new Map()

/** 3 000 servers, and one that is none at the end. */
export const huge: Sample = {
  id: "_nasty/huge",
  files: [{
    path: ".mcp.json",
    bytes: new TextEncoder().encode(JSON.stringify({
      mcpServers: Object.fromEntries([
        ...Array.from({ length: 3000 }, (_, at) => [`s${at}`, { command: "c", args: [String(at)] }]),
        ["bad", { command: 5 }]
      ])
    }))
  }],
  expected: {
    host: "claude-code",
    scope: "project",
    file: ".mcp.json",
    serversCount: 3001,
    errors: [{ name: "bad", error: "invalid-type", at: "command" }],
    first: { name: "s0", transport: "stdio", command: "c", args: ["0"], enabled: true }
  }
}
