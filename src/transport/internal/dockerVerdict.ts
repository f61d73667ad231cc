/** @internal */
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import type * as DockerRun from "./dockerRun.ts"

/** The help is about `mcp`: without the plugin, Docker prints its own help, and calls that a success. */
const isHelpOfMcp = /^\s*usage:\s*\S.*\bmcp\b/im

/** Programs that are not there, or are not programs; for anything else, Docker is not to blame. */
const notThere: ReadonlySet<string> = new Set(["ENOENT", "EACCES", "ENOTDIR"])

/**
 * Docker itself could not be started.
 *
 * @internal
 */
export const notStarted = (error: McpError.SpawnFailed): McpError.DockerUnavailable | McpError.SpawnFailed =>
  notThere.has(error.errno)
    ? new McpError.DockerUnavailable({
      server: error.server,
      reason: "not-installed",
      detail: `${error.command}: ${error.detail}`
    })
    : error

const complaint = ({ exit, stderr }: DockerRun.Ran, otherwise: string): string =>
  stderr.trim() !== "" ? stderr.trim() : exit.code === 0 ? otherwise : `it ended with exit code ${exit.code}`

/** Who was ended by somebody else has not answered. */
const answered = (ran: Option.Option<DockerRun.Ran>): Option.Option<DockerRun.Ran> =>
  Option.filter(ran, ({ exit }) => exit.code !== null)

const silence = (command: string, limit: Duration.Duration, ran: Option.Option<DockerRun.Ran>): string =>
  Option.match(ran, {
    onNone: () => `"${command}" took longer than ${Duration.format(limit)}`,
    onSome: ({ exit }) => `"${command}" was ended by ${exit.signal}`
  })

/**
 * The version of the daemon, or why there can be no gateway. What no retry can mend is told first, and an answer
 * before a silence, which may have the same cause.
 *
 * @internal
 */
export const of = (
  server: string,
  limit: Duration.Duration,
  help: Option.Option<DockerRun.Ran>,
  info: Option.Option<DockerRun.Ran>
): Either.Either<string, McpError.DockerUnavailable> => {
  const unavailable = (reason: McpError.DockerUnavailable["reason"], detail: string) =>
    Either.left(new McpError.DockerUnavailable({ server, reason, detail }))
  const helped = answered(help)
  if (Option.isSome(helped) && (helped.value.exit.code !== 0 || !isHelpOfMcp.test(helped.value.stdout))) {
    return unavailable("no-mcp-plugin", complaint(helped.value, "it printed the help of something else"))
  }
  const informed = answered(info)
  if (Option.isNone(informed)) return unavailable("timeout", silence("docker info", limit, info))
  // Docker 28.0 prints nothing but its complaint, and calls that a success.
  const version = informed.value.stdout.trim()
  if (informed.value.exit.code !== 0 || version === "") {
    return unavailable("daemon-down", complaint(informed.value, "it told no version"))
  }
  return Option.isNone(helped)
    ? unavailable("timeout", silence("docker mcp --help", limit, help))
    : Either.right(UntrustedText.excerpt(version, 64))
}
