/** A server as a file of any host describes it, and the configuration that it becomes. */
import type * as Duration from "effect/Duration"
import type * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import type * as Redacted from "effect/Redacted"
import type * as McpError from "../McpError.ts"
import { percentDecoded } from "../text/uriTemplate.ts"
import type * as Fields from "./fields.ts"
import * as Interpolation from "./Interpolation.ts"
import * as ServerConfig from "./ServerConfig.ts"

type Plain<A> = A extends Duration.Duration ? number
  : A extends Redacted.Redacted ? string
  : A extends ReadonlyMap<string, unknown> ? ReadonlyMap<string, string>
  : A extends ReadonlyArray<unknown> ? A
  : A extends object ? { readonly [K in keyof A]: Plain<A[K]> }
  : A

type Entered<Server> = Omit<Plain<Server>, keyof typeof Fields.found | "transport">

/** A program as a file describes it: plain texts that may be templates, and milliseconds. */
export interface StdioEntry extends Entered<ServerConfig.StdioServer> {
  readonly transport: "stdio"
  readonly args: ReadonlyArray<string>
  readonly enabled: boolean
}

/** A server behind an address as a file describes it. `auto`: Streamable HTTP, then the older HTTP+SSE. */
export interface RemoteEntry extends Entered<ServerConfig.HttpServer> {
  readonly transport: "streamable-http" | "sse" | "ws" | "auto"
  readonly enabled: boolean
  /** Variables that `${env:…}` in its texts is read from first, where the host has such a rule. */
  readonly env?: ReadonlyMap<string, string> | undefined
}

/** A server as a file of any host describes it: the native record, with its templates unresolved. */
export type Entry = StdioEntry | RemoteEntry

/** The variables of an entry; `null`: one that it does not get, even if it is inherited. */
export const variables = (entry: Entry): ReadonlyMap<string, string | null> =>
  new Map<string, string | null>([
    ...(entry.env ?? []),
    ...(entry.transport === "stdio" ? entry.withoutEnv ?? [] : []).map((name) => [name, null] as const)
  ])

/** A user and a password in an address become a header, because addresses are shown and logged. */
const withoutUserinfo = ({ headers, url }: RemoteEntry): Pick<RemoteEntry, "url" | "headers"> => {
  const address = url.includes("${") || !URL.canParse(url) ? undefined : new URL(url)
  if (address === undefined || (address.username === "" && address.password === "")) return { url, headers }
  const basic = Encoding.encodeBase64(`${percentDecoded(address.username)}:${percentDecoded(address.password)}`)
  address.username = ""
  address.password = ""
  const has = Array.from(headers?.keys() ?? []).some((header) => header.toLowerCase() === "authorization")
  return {
    url: address.href,
    headers: has ? headers : new Map([...(headers ?? []), ["Authorization", Interpolation.literal(`Basic ${basic}`)]])
  }
}

const gateway = ["mcp", "gateway", "run"]

/** The arguments of `docker` that start its gateway. */
export const gatewayArgs = (
  { args = [], profile, servers }: Pick<ServerConfig.DockerServer, "args" | "profile" | "servers">
): ReadonlyArray<string> => [
  ...gateway,
  ...(profile === undefined ? [] : ["--profile", profile]),
  ...(servers === undefined ? [] : ["--servers", servers.join(",")]),
  ...args
]

const isGateway = ({ args, command, cwd, envFile }: StdioEntry): boolean =>
  command === "docker" && cwd === undefined && envFile === undefined && gateway.every((word, at) => args[at] === word)

/** The configuration of an entry that was found. A person's program starts where this one does, others at their files. */
export const ofEntry = (
  entry: Entry,
  found: Required<Pick<ServerConfig.ServerConfig, "expansion" | "provenance">>
): Either.Either<ServerConfig.ServerConfig, McpError.ConfigurationError> => {
  if (entry.transport !== "stdio") {
    const { env: _, transport, ...fields } = entry
    const { headers, url } = withoutUserinfo(entry)
    return ServerConfig.decodeEither(
      { ...fields, transport: transport === "auto" ? "streamable-http" : transport, url, headers },
      found
    )
  }
  if (isGateway(entry)) {
    const { command: _, cwd: __, envFile: ___, withoutEnv: ____, ...fields } = entry
    return ServerConfig.decodeEither({ ...fields, transport: "docker", args: entry.args.slice(gateway.length) }, found)
  }
  const { expansion, provenance } = found
  const isPersonal = provenance?.scope === "user" || provenance?.scope === "managed"
  const cwd = entry.cwd ??
    (isPersonal || expansion === undefined ? undefined : Interpolation.literal(expansion.directory))
  return ServerConfig.decodeEither(cwd === undefined ? entry : { ...entry, cwd }, found)
}
