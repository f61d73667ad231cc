/** @internal */
import type * as ServerConfig from "../../config/ServerConfig.ts"

/**
 * What tells Docker where its daemon is and how to reach it. Not all that begins with `DOCKER_`: many a host has its
 * password for a registry in `DOCKER_PASSWORD`.
 */
const variables: ReadonlyArray<string> = [
  "DOCKER_API_VERSION",
  "DOCKER_CERT_PATH",
  "DOCKER_CONFIG",
  "DOCKER_CONTEXT",
  "DOCKER_HOST",
  "DOCKER_TLS",
  "DOCKER_TLS_VERIFY"
]

/** A program with the environment that Docker needs. */
const program = (config: ServerConfig.DockerServer, args: ReadonlyArray<string>): ServerConfig.StdioServer => {
  const { inheritEnv = false, profile: _profile, servers: _servers, ...rest } = config
  return {
    ...rest,
    transport: "stdio",
    args,
    inheritEnv: inheritEnv === true ? true : [...variables, ...(inheritEnv === false ? [] : inheritEnv)]
  }
}

/**
 * The gateway as the stdio server that it is.
 *
 * @internal
 */
export const gateway = (config: ServerConfig.DockerServer): ServerConfig.StdioServer =>
  program(config, [
    "mcp",
    "gateway",
    "run",
    ...(config.profile === undefined ? [] : ["--profile", config.profile]),
    ...(config.servers === undefined ? [] : ["--servers", config.servers.join(",")]),
    ...(config.args ?? [])
  ])

/**
 * Asks whether Docker has the command `mcp`.
 *
 * @internal
 */
export const help = (config: ServerConfig.DockerServer): ServerConfig.StdioServer => program(config, ["mcp", "--help"])

/**
 * Asks whether the daemon answers.
 *
 * @internal
 */
export const info = (config: ServerConfig.DockerServer): ServerConfig.StdioServer =>
  program(config, ["info", "--format", "{{.ServerVersion}}"])
