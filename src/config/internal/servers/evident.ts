/**
 * Configurations that are evidently right: of plain fields only, each of its kind. The schema would say the same of them
 * and give the same, and takes ten times as long for it, which thousands of servers make noticeable. Of all others
 * nothing is said here.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type * as McpError from "../../../McpError.ts"
import type * as Expansion from "../../Expansion.ts"
import type * as Provenance from "../../Provenance.ts"
import * as ServerConfig from "../../ServerConfig.ts"
import * as Address from "./address.ts"

type Is = (value: unknown) => boolean

const isText: Is = (value) => typeof value === "string"
const isWord: Is = (value) => typeof value === "string" && value !== ""
const isFlag: Is = (value) => typeof value === "boolean"
const areTexts: Is = (value) => Array.isArray(value) && value.every(isText)
const areWords: Is = (value) => Array.isArray(value) && value.every(isWord)

const areSecrets: Is = (value) => {
  if (!(value instanceof Map)) return false
  for (const [name, secret] of value) {
    if (typeof name !== "string" || !Redacted.isRedacted(secret) || typeof Redacted.value(secret) !== "string") {
      return false
    }
  }
  return true
}

const isAddress = (protocols: ReadonlyArray<string>): Is => (value) =>
  typeof value === "string" && value !== "" && Address.fault(value, protocols) === undefined

const reserved: ReadonlySet<unknown> = new Set(["__proto__", "constructor", "prototype"])

/** Names of which nobody has to think. */
const isName: Is = (value) => typeof value === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(value) && !reserved.has(value)

const common: ReadonlyArray<readonly [field: string, is: Is]> = [
  ["transport", isText],
  ["name", isName],
  ["title", isText],
  ["description", isText],
  ["enabled", isFlag],
  ["required", isFlag],
  ["lazy", isFlag],
  ["enabledTools", areWords],
  ["disabledTools", areWords],
  ["autoApprove", areWords]
]

interface Kind {
  readonly fields: ReadonlyMap<string, Is>
  /** Beside the name. */
  readonly needed: string
}

const remote = (protocols: ReadonlyArray<string>): Kind => ({
  fields: new Map([...common, ["url", isAddress(protocols)], ["headers", areSecrets]]),
  needed: "url"
})

const kinds: ReadonlyMap<unknown, Kind> = new Map<unknown, Kind>([
  ["stdio", {
    fields: new Map([
      ...common,
      ["command", isWord],
      ["args", areTexts],
      ["env", areSecrets],
      ["withoutEnv", areWords],
      ["envFile", isWord],
      ["cwd", isWord]
    ]),
    needed: "command"
  }],
  ["streamable-http", remote(Address.http)],
  ["sse", remote(Address.http)],
  ["ws", remote(Address.webSocket)]
])

const isEvident = (input: object): input is ServerConfig.ServerConfig => {
  const kind = "transport" in input ? kinds.get(input.transport) : undefined
  if (kind === undefined || !Object.hasOwn(input, "name") || !Object.hasOwn(input, kind.needed)) return false
  for (const [field, value] of Object.entries(input)) if (kind.fields.get(field)?.(value) !== true) return false
  return true
}

/**
 * `ServerConfig.decodeEither` for what was made to become a configuration: nobody else has it, so that it can become one
 * itself.
 *
 * @internal
 */
export const decode = (
  made: object,
  found: { readonly expansion: Expansion.Expansion; readonly provenance?: Provenance.Provenance }
): Either.Either<ServerConfig.ServerConfig, McpError.ConfigurationError> =>
  isEvident(made) ? Either.right(Object.assign(made, found)) : ServerConfig.decodeEither(made, found)
