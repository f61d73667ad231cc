/** @internal */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as ChildEnvironment from "../../config/childEnvironment.ts"
import * as HostEnvironment from "../../config/HostEnvironment.ts"
import * as Program from "../../config/program.ts"
import { Secrets } from "../../config/ServerConfig.ts"
import * as McpError from "../../McpError.ts"

const decode = Schema.decodeEither(Schema.parseJson(Secrets))

/**
 * Runs a program (argv, no shell) that prints a JSON object of headers. Whoever wrote the configuration chose the
 * program, so it gets no more of the environment than a server.
 *
 * @internal
 */
export const run = (
  server: string,
  argv: readonly [string, ...ReadonlyArray<string>]
): Effect.Effect<ReadonlyMap<string, Redacted.Redacted>, McpError.ConfigurationError> => {
  const failure = (detail: string) => new McpError.ConfigurationError({ server, path: "headersCommand", detail })
  return Effect.flatMap(
    HostEnvironment.HostEnvironment,
    (host) =>
      Program.run({ argv, environment: ChildEnvironment.make({}, host) }).pipe(
        Effect.mapError(failure),
        Effect.flatMap((text) => Either.mapLeft(decode(text), () => failure("did not print a JSON object of texts")))
      )
  )
}
