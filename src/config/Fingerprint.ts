/**
 * The identity of a configuration as a short text that gives nothing away: equal for equal servers, whatever the order
 * in which their fields and variables were written.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Redacted from "effect/Redacted"
import { sha256 } from "../internal/sha256.ts"
import type * as ConfigEntry from "./ConfigEntry.ts"
import type * as Expansion from "./Expansion.ts"
import type * as Provenance from "./Provenance.ts"
import type * as ServerConfig from "./ServerConfig.ts"

type Common = keyof ServerConfig.StdioServer & keyof ServerConfig.HttpServer

/**
 * The fields that say how a server is used, and not what it is. A new common field does not compile until it is decided
 * where it belongs.
 */
const usage: Record<Exclude<Common, "transport" | "protocol">, true> = {
  name: true,
  title: true,
  description: true,
  enabled: true,
  required: true,
  lazy: true,
  trusted: true,
  startupTimeout: true,
  requestTimeout: true,
  toolTimeout: true,
  listTimeout: true,
  stallTimeout: true,
  discoverPatience: true,
  keepAlive: true,
  idleTimeout: true,
  concurrency: true,
  maxMessageBytes: true,
  enabledTools: true,
  disabledTools: true,
  autoApprove: true,
  blocked: true,
  expansion: true,
  provenance: true
}

/**
 * What a server is: its transport, its command or address, its environment and its credentials. Secrets enter only here,
 * so a changed token makes another server; a token that a variable or a program gives is known by the name of that only.
 *
 * @since 0.1.0
 * @category combinators
 */
export const of = (config: ServerConfig.ServerConfig): string => digest(config, (field) => !Object.hasOwn(usage, field))

/**
 * All of a configuration, names, filters and limits included: whether anything has changed at all.
 *
 * @since 0.1.0
 * @category combinators
 */
export const configuration = (config: ServerConfig.ServerConfig): string => digest(config, () => true)

/**
 * An entry of a file, for a person to agree to: every field as it was written, known or not, with who wrote it and where
 * the workspace is. The order of keys, spaces and comments make no difference; the order of arguments does. `inputs` is
 * what stands elsewhere in the file and takes part: the defaults of its `${input:…}`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const entry = (
  { name, raw }: Pick<ConfigEntry.Item, "name" | "raw">,
  { origin, provider, scope }: Pick<Provenance.Provenance, "origin" | "provider" | "scope">,
  root: string,
  inputs: NonNullable<Expansion.Expansion["inputs"]> = []
): string =>
  `sha256:${
    sha256(canonical([
      "entry",
      name,
      provider,
      scope,
      origin,
      root,
      raw,
      ...inputs.map(canonical).toSorted()
    ]))
  }`

const digest = (config: ServerConfig.ServerConfig, counts: (field: string) => boolean): string =>
  sha256(record(config, counts))

/** Every kind of value is written in its own way, so that no two configurations are written alike. */
const canonical = (value: unknown): string => {
  // most of what there is by far, and asked first because thousands of servers are written at once
  if (typeof value === "string") return JSON.stringify(value)
  if (typeof value !== "object" || value === null) return scalar(value)
  if (value instanceof Map) return `map${table(value)}`
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (Redacted.isRedacted(value)) return `secret${canonical(Redacted.value(value))}`
  if (Duration.isDuration(value)) return `duration${Duration.toMillis(value)}`
  if (value instanceof Date) return `date${JSON.stringify(value)}`
  return `object${record(value)}`
}

const scalar = (value: unknown): string => {
  if (typeof value === "bigint") return `integer${value}`
  // JSON has no way to write these, and would write each of them like something else
  if (typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))) {
    return `number${Object.is(value, -0) ? "-0" : value}`
  }
  return JSON.stringify(value) ?? "undefined"
}

const field = (name: unknown, value: unknown): string => `${canonical(name)}:${canonical(value)}`

/** In an order that does not depend on how they were written. */
const inOrder = (fields: Array<string>): string => `{${(fields.length > 1 ? fields.toSorted() : fields).join()}}`

const table = (entries: ReadonlyMap<unknown, unknown>): string => {
  const fields: Array<string> = []
  entries.forEach((value, name) => {
    if (value !== undefined) fields.push(field(name, value))
  })
  return inOrder(fields)
}

const record = (value: object, counts: (field: string) => boolean = () => true): string =>
  inOrder(
    Object.entries(value).flatMap(([name, held]) => held === undefined || !counts(name) ? [] : [field(name, held)])
  )
