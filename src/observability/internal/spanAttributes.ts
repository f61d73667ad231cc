/**
 * What a span says of an operation, in the names of OpenTelemetry's semantic conventions for MCP.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as ServerConfig from "../../config/ServerConfig.ts"
import * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import type * as Transport from "../../transport/Transport.ts"
import type * as CallSpan from "../CallSpan.ts"

type Attributes = Record<string, unknown>

const text = (value: string): string => UntrustedText.excerpt(value, 256)

/** A URL is an identity as a whole, so more of it is kept than of a name. */
const uri = (value: string): string => UntrustedText.excerpt(value, 1024)

const defaultPorts: ReadonlyMap<string, number> = new Map([["http:", 80], ["ws:", 80], ["https:", 443], ["wss:", 443]])

const address = (config: ServerConfig.ServerConfig | undefined): Attributes => {
  if (config === undefined || !("url" in config) || !URL.canParse(config.url)) return {}
  const { hostname, port, protocol } = new URL(config.url)
  return { "server.address": hostname, "server.port": port === "" ? defaultPorts.get(protocol) : Number(port) }
}

const networks: { readonly [K in Transport.Transport["kind"]]: Attributes } = {
  "stdio": { "network.transport": "pipe" },
  "streamable-http": { "network.transport": "tcp", "network.protocol.name": "http" },
  "sse": { "network.transport": "tcp", "network.protocol.name": "http" },
  "ws": { "network.transport": "tcp", "network.protocol.name": "websocket" },
  "memory": {}
}

/** @internal */
export const name = ({ method, prompt, tool }: CallSpan.Operation): string => {
  const target = tool ?? prompt
  return target === undefined ? method : `${method} ${UntrustedText.excerpt(target, 128)}`
}

/** @internal */
export const atStart = (operation: CallSpan.Operation): Attributes => {
  const { callId, config, method, prompt, server, tool, uri: resource } = operation
  return {
    "mcp.method.name": method,
    "mcp.server.name": text(server),
    ...(tool === undefined ? {} : { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": text(tool) }),
    ...(callId === undefined ? {} : { "gen_ai.tool.call.id": text(callId) }),
    ...(prompt === undefined ? {} : { "gen_ai.prompt.name": text(prompt) }),
    ...(resource === undefined ? {} : { "mcp.resource.uri": uri(resource) }),
    ...address(config)
  }
}

const failure = (cause: Cause.Cause<unknown>): Attributes => {
  const error = Option.getOrUndefined(Cause.failureOption(cause))
  if (error === undefined) return { "error.type": Cause.isInterruptedOnly(cause) ? "Interrupted" : "Defect" }
  if (!Predicate.hasProperty(error, "_tag") || typeof error._tag !== "string") return { "error.type": "_OTHER" }
  if (error._tag !== "RemoteError" || !Predicate.hasProperty(error, "code")) {
    return { "error.type": McpError.isMcpError(error) ? McpError.label(error) : text(error._tag) }
  }
  // The convention: the code of JSON-RPC is the type of the error.
  const code = String(error.code)
  return { "error.type": code, "rpc.response.status_code": code }
}

/** @internal */
export const reportsError = (value: unknown): boolean =>
  Predicate.hasProperty(value, "isError") && value.isError === true

/** @internal */
export const atEnd = (
  operation: CallSpan.Operation,
  exit: Exit.Exit<unknown, unknown>
): Iterable<readonly [key: string, value: unknown]> => {
  const connection = operation.connection?.()
  return Object.entries({
    ...(connection === undefined ? {} : {
      "mcp.protocol.version": text(connection.protocolVersion),
      ...networks[connection.transport]
    }),
    ...(Exit.isFailure(exit) ? failure(exit.cause) : reportsError(exit.value) ? { "error.type": "tool_error" } : {})
  })
}
