/**
 * The identity of a configuration as a short text that gives nothing away: equal for equal servers, whatever the order
 * in which their fields and variables were written.
 */
import * as Duration from "effect/Duration"
import * as Redacted from "effect/Redacted"
import { canonicalJson, sha256 } from "../json/canonical.ts"
import * as Fields from "./fields.ts"
import type * as FieldSchema from "./fieldSchema.ts"
import type { Item } from "./readEntry.ts"
import type * as Scope from "./Scope.ts"
import type * as ServerConfig from "./ServerConfig.ts"

/**
 * The identity of a server: its transport, its command or address, its environment and its credentials. Secrets enter
 * only here, so a changed token makes another server; a token that a variable or a program gives is known by its name only.
 */
export const of = (config: ServerConfig.ServerConfig): string => {
  const known = identities.get(config)
  if (known !== undefined) return known
  const identity = digest(config, isIdentity)
  identities.set(config, identity)
  return identity
}

const rows: ReadonlyMap<string, FieldSchema.Row> = new Map<string, FieldSchema.Row>(
  [Fields.found, ...Object.values(Fields.tables)].flatMap((table) => Object.entries<FieldSchema.Row>(table))
)

const isIdentity = (key: string): boolean => key !== "name" && rows.get(key)?.identity !== false

/** Everything that a connection depends on: equal for servers that can share one. */
export const connection = (config: ServerConfig.ServerConfig): string =>
  digest(config, (key) => key !== "name" && rows.get(key)?.connection !== false)

const identities = new WeakMap<ServerConfig.ServerConfig, string>()

/** True if both are the same server, regardless of name, filters and limits. */
export const isSame = (one: ServerConfig.ServerConfig | undefined, other: ServerConfig.ServerConfig): boolean =>
  one === other || (one !== undefined && of(one) === of(other))

/** All of a configuration, names, filters and limits included. */
export const configuration = (config: ServerConfig.ServerConfig): string => digest(config, () => true)

/**
 * An entry, for a person to agree to: every field as it was written, known or not, with the workspace and each file that
 * it was read from, because `${var:configDir}` is the folder of a file. The order of keys, spaces and comments make no
 * difference; the order of arguments does. `inputs` stands elsewhere in the file: the defaults of its `${input:…}`.
 */
export const entry = (
  { inputs = [], name, raw }: Pick<Item, "inputs" | "name" | "raw">,
  sources: ReadonlyArray<Pick<Scope.Provenance, "origin" | "path" | "provider" | "scope">>,
  root: string
): string =>
  `sha256:${
    sha256(canonicalJson([
      "entry",
      name,
      sources.map(({ origin, path = null, provider, scope }) => [provider, scope, origin, path]),
      root,
      plain(raw),
      ...inputs.map((input) => canonicalJson(plain(input))).toSorted()
    ]))
  }`

const digest = (config: ServerConfig.ServerConfig, counts: (field: string) => boolean): string =>
  sha256(canonicalJson(plain(Object.fromEntries(Object.entries(config).filter(([field]) => counts(field))))))

/**
 * A configuration as JSON. Each kind of value that JSON does not have becomes an array that begins with its kind, and so
 * does an array itself, so that no two configurations become the same.
 */
const plain = (value: unknown): unknown => {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value
  if (typeof value === "number") {
    if (Object.is(value, -0)) return ["number", "-0"]
    return Number.isFinite(value) ? value : ["number", String(value)]
  }
  if (typeof value !== "object") return [typeof value, String(value)]
  if (Array.isArray(value)) return ["list", ...value.map(plain)]
  if (value instanceof Map) {
    const entries = Array.from(value, ([key, item]) => [canonicalJson(plain(key)), plain(item), item] as const)
    return ["map", Object.fromEntries(entries.flatMap(([key, item, raw]) => raw === undefined ? [] : [[key, item]]))]
  }
  if (Redacted.isRedacted(value)) return ["secret", plain(Redacted.value(value))]
  if (Duration.isDuration(value)) return ["duration", Duration.toMillis(value)]
  if (value instanceof Date) return ["date", value.toJSON()]
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => item === undefined ? [] : [[key, plain(item)]])
  )
}
