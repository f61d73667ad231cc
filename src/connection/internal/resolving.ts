/**
 * A connector for configurations that are made of templates: each connect reads the variables anew, and nothing of what
 * they hold outlives it but the connection itself.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Limits from "../../config/Limits.ts"
import * as Resolution from "../../config/Resolution.ts"
import * as ServerConfig from "../../config/ServerConfig.ts"
import * as McpError from "../../McpError.ts"
import * as McpEvent from "../../McpEvent.ts"
import * as UntrustedText from "../../UntrustedText.ts"
import * as Connector from "../Connector.ts"

const said = (server: string, { at, kind, variable }: Resolution.Warning) =>
  Effect.logWarning(`configuration: ${kind}`).pipe(Effect.annotateLogs({
    server: UntrustedText.excerpt(server, 128),
    field: UntrustedText.excerpt(at, 128),
    ...(variable === undefined ? {} : { variable: UntrustedText.excerpt(variable, 128) })
  }))

/**
 * In place of the connector that it finds.
 *
 * @internal
 */
export const make: Effect.Effect<Connector.Connector["Type"], never, Connector.Connector | McpEvent.McpEvents> = Effect
  .gen(function*() {
    const connector = yield* Connector.Connector
    const events = yield* McpEvent.McpEvents
    const { resolve } = yield* Resolution.Resolution
    const base = yield* Limits.CurrentLimits

    return {
      connect: (config) => {
        const server = config.name
        const limit = ServerConfig.limits(config, base).startupTimeout
        const late = (error: Pick<McpError.ConnectTimeout, "phase" | "stderrTail">) =>
          new McpError.ConnectTimeout({ server, limit, phase: error.phase, stderrTail: error.stderrTail })
        const resolved = Effect.timeoutFail(resolve(config), {
          duration: limit,
          onTimeout: () => late({ phase: "spawn", stderrTail: undefined })
        }).pipe(
          // said here for those who do not come to the connector, which says it of the others
          Effect.tapError((error) =>
            Effect.sync(() => events.publish(McpEvent.McpEvent.ConnectFailed({ server, error })))
          )
        )
        return Effect.gen(function*() {
          const began = yield* Clock.currentTimeMillis
          const { config: plain, warnings } = yield* resolved
          for (const warning of warnings) {
            events.publish(McpEvent.McpEvent.ConfigurationWarning({ server, warning }))
            yield* said(server, warning)
          }
          const took = (yield* Clock.currentTimeMillis) - began
          if (took <= 0) return yield* connector.connect(plain)
          // the limit is one for all of it, and what is told is what was set
          const startupTimeout = Duration.millis(Math.max(1, Duration.toMillis(limit) - took))
          return yield* Effect.catchTag(
            connector.connect({ ...plain, startupTimeout }),
            "ConnectTimeout",
            (error) => Effect.fail(late(error))
          )
        })
      }
    }
  })
