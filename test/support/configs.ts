/** The constructors of `ServerConfig`, run at once, for tests that are not about validation. */
import * as Effect from "effect/Effect"
import * as ServerConfig from "../../src/config/ServerConfig.ts"

export const stdio = (input: ServerConfig.StdioInput): ServerConfig.StdioServer =>
  Effect.runSync(ServerConfig.stdio(input))

/** A server of `MemoryTransport`. */
export const memory = (
  name: string,
  overrides?: Partial<Omit<ServerConfig.StdioInput, "name">>
): ServerConfig.StdioServer => stdio({ command: "memory", ...overrides, name })

export const docker = (input: ServerConfig.DockerInput): ServerConfig.DockerServer =>
  Effect.runSync(ServerConfig.docker(input))

export const http = (input: ServerConfig.HttpInput): ServerConfig.HttpServer => Effect.runSync(ServerConfig.http(input))

export const sse = (input: ServerConfig.RemoteInput): ServerConfig.SseServer => Effect.runSync(ServerConfig.sse(input))

export const ws = (input: ServerConfig.RemoteInput): ServerConfig.WebSocketServer =>
  Effect.runSync(ServerConfig.ws(input))
