/**
 * What a runtime takes, made of what a file says.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import type * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Redacted from "effect/Redacted"
import type * as McpError from "../../McpError.ts"
import type * as ConfigEntry from "../ConfigEntry.ts"
import type * as Expansion from "../Expansion.ts"
import * as Interpolation from "../Interpolation.ts"
import * as Limits from "../Limits.ts"
import type * as Provenance from "../Provenance.ts"
import * as ServerConfig from "../ServerConfig.ts"

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
  if (url.includes("${") || !URL.canParse(url)) return { url, headers }
  const address = new URL(url)
  if (address.username === "" && address.password === "") return { url, headers }
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

const launch = (entry: ConfigEntry.StdioEntry, found: Options): object => {
  const env = entry.env === undefined ? undefined : secrets(entry.env)
  const args = gatewayArgs(entry)
  if (args !== undefined) return { transport: "docker", args, env, inheritEnv: entry.inheritEnv }
  const unset = Array.from(entry.env ?? []).flatMap(([name, text]) => text === null ? [name] : [])
  return {
    transport: "stdio",
    command: entry.command,
    args: entry.args,
    env,
    withoutEnv: unset.length === 0 ? undefined : unset,
    envFile: entry.envFile,
    inheritEnv: entry.inheritEnv,
    cwd: folderOf(entry, found)
  }
}

const reach = (entry: ConfigEntry.RemoteEntry): object => {
  const { headers, url } = withoutUserinfo(entry)
  return {
    transport: entry.transport === "auto" ? "streamable-http" : entry.transport,
    url,
    headers: headers === undefined ? undefined : secrets(headers),
    headersCommand: entry.headersCommand,
    oauth: oauth(entry.oauth)
  }
}

const defined = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** @internal */
export const make = (
  entry: ConfigEntry.ConfigEntry,
  found: Options
): Either.Either<ServerConfig.ServerConfig, McpError.ConfigurationError> =>
  ServerConfig.decodeEither(
    defined({
      ...(entry.transport === "stdio" ? launch(entry, found) : reach(entry)),
      name: entry.name,
      title: entry.title,
      description: entry.description,
      enabled: entry.enabled,
      required: entry.required,
      lazy: entry.lazy,
      protocol: entry.protocol,
      startupTimeout: time(entry.timeouts?.startupMs),
      requestTimeout: time(entry.timeouts?.requestMs),
      enabledTools: entry.tools?.allow,
      disabledTools: entry.tools?.deny,
      autoApprove: entry.tools?.autoApprove
    }),
    found
  )
