/**
 * What a runtime takes, made of what a file says.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import type * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Redacted from "effect/Redacted"
import type * as McpError from "../../../McpError.ts"
import type * as ConfigEntry from "../../ConfigEntry.ts"
import type * as Expansion from "../../Expansion.ts"
import * as Interpolation from "../../Interpolation.ts"
import * as Limits from "../../Limits.ts"
import type * as Provenance from "../../Provenance.ts"
import * as ServerConfig from "../../ServerConfig.ts"
import * as Address from "../servers/address.ts"

/** @internal */
export interface Options {
  readonly expansion: Expansion.Expansion
  readonly provenance: Provenance.Provenance
}

/**
 * What is not taken away.
 *
 * @internal
 */
export const secrets = (texts: ReadonlyMap<string, string | null>): ReadonlyMap<string, Redacted.Redacted> => {
  const wrapped = new Map<string, Redacted.Redacted>()
  for (const [name, text] of texts) if (text !== null) wrapped.set(name, Redacted.make(text))
  return wrapped
}

/** Zero is how some hosts write "for as long as it takes". */
const time = (millis: number | undefined): Duration.Duration | undefined =>
  millis === undefined ? undefined : millis === 0 ? Limits.defaults.toolTimeout : Duration.millis(Math.ceil(millis))

const oauth = (said: ConfigEntry.RemoteEntry["oauth"]): unknown => {
  if (said === undefined || said === false) return said
  if (said.enabled === false) return false
  const { clientSecret, enabled: _, public: __, ...rest } = said
  return clientSecret === undefined ? rest : { ...rest, clientSecret: Redacted.make(clientSecret) }
}

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Credentials have no place in an address, which is shown and logged; as a header they are the same to the server. */
const withoutUserinfo = (entry: ConfigEntry.RemoteEntry): Pick<ConfigEntry.RemoteEntry, "url" | "headers"> => {
  const { headers, url } = entry
  const address = Address.isPlain(url) || url.includes("${") ? undefined : Address.parsed(url)
  if (address === undefined || (address.username === "" && address.password === "")) return { url, headers }
  const basic = Encoding.encodeBase64(`${decoded(address.username)}:${decoded(address.password)}`)
  address.username = ""
  address.password = ""
  const has = Array.from(headers?.keys() ?? []).some((header) => header.toLowerCase() === "authorization")
  return {
    url: address.href,
    headers: has ? headers : new Map([...(headers ?? []), ["Authorization", Interpolation.literal(`Basic ${basic}`)]])
  }
}

const gateway = ["mcp", "gateway", "run"]

/** What `docker mcp client connect` writes is the gateway that we know how to treat. */
const gatewayArgs = ({ args, command, cwd, envFile }: ConfigEntry.StdioEntry): ReadonlyArray<string> | undefined =>
  command === "docker" && cwd === undefined && envFile === undefined &&
    gateway.every((word, at) => args[at] === word)
    ? args.slice(gateway.length)
    : undefined

/** A person's servers start where the program does, all others where their file belongs. */
const folderOf = (entry: ConfigEntry.StdioEntry, { expansion, provenance }: Options): string | undefined =>
  entry.cwd ??
    (provenance.scope === "user" || provenance.scope === "managed"
      ? undefined
      : Interpolation.literal(expansion.directory))

/** Sets what there is: by the thousand, leaving out is cheaper than taking away. */
const put = (fields: Record<string, unknown>, name: string, value: unknown): void => {
  if (value !== undefined) fields[name] = value
}

const launch = (fields: Record<string, unknown>, entry: ConfigEntry.StdioEntry, found: Options): void => {
  const { env, inheritEnv } = entry
  if (env !== undefined) put(fields, "env", secrets(env))
  put(fields, "inheritEnv", inheritEnv)
  const args = gatewayArgs(entry)
  put(fields, "transport", args === undefined ? "stdio" : "docker")
  put(fields, "args", args ?? entry.args)
  if (args !== undefined) return
  put(fields, "command", entry.command)
  put(fields, "envFile", entry.envFile)
  put(fields, "cwd", folderOf(entry, found))
  if (env === undefined) return
  const unset: Array<string> = []
  for (const [name, text] of env) if (text === null) unset.push(name)
  if (unset.length > 0) put(fields, "withoutEnv", unset)
}

const reach = (fields: Record<string, unknown>, entry: ConfigEntry.RemoteEntry): void => {
  const { headers, url } = withoutUserinfo(entry)
  put(fields, "transport", entry.transport === "auto" ? "streamable-http" : entry.transport)
  put(fields, "url", url)
  if (headers !== undefined) put(fields, "headers", secrets(headers))
  put(fields, "headersCommand", entry.headersCommand)
  put(fields, "oauth", oauth(entry.oauth))
}

/** @internal */
export const make = (
  entry: ConfigEntry.ConfigEntry,
  found: Options
): Either.Either<ServerConfig.ServerConfig, McpError.ConfigurationError> => {
  const { timeouts, tools } = entry
  const fields: Record<string, unknown> = { name: entry.name, enabled: entry.enabled }
  if (entry.transport === "stdio") launch(fields, entry, found)
  else reach(fields, entry)
  put(fields, "title", entry.title)
  put(fields, "description", entry.description)
  put(fields, "required", entry.required)
  put(fields, "lazy", entry.lazy)
  put(fields, "protocol", entry.protocol)
  put(fields, "startupTimeout", time(timeouts?.startupMs))
  put(fields, "requestTimeout", time(timeouts?.requestMs))
  put(fields, "enabledTools", tools?.allow)
  put(fields, "disabledTools", tools?.deny)
  put(fields, "autoApprove", tools?.autoApprove)
  return ServerConfig.decodeEither(fields, found)
}
