/**
 * The log of the runtime itself. Where the application has chosen no logger it goes to stderr, because stdout is a
 * protocol or a pipe. A logger of the application receives it as it receives everything else.
 */
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"

type AnyLogger = Logger.Logger<unknown, unknown>

let pretty: AnyLogger | undefined = undefined

/** Built when the first line is logged, because its colours depend on stderr, which not every process opens. */
const prettyOnStderr = Logger.make<unknown, void>((line) => {
  pretty ??= Logger.prettyLogger({ stderr: true, colors: process.stderr.isTTY })
  pretty.log(line)
})

/** Effect's default logger and that of `runMain`, each mapped to a logger with the same format on stderr. */
const pairs: ReadonlyArray<readonly [stdout: AnyLogger, stderr: AnyLogger]> = [
  [Logger.defaultLogger, Logger.withConsoleError(Logger.stringLogger)],
  [Logger.prettyLoggerDefault, prettyOnStderr]
]

const replacing = (from: 0 | 1, to: 0 | 1) => (loggers: HashSet.HashSet<AnyLogger>): HashSet.HashSet<AnyLogger> => {
  let replaced = loggers
  for (const pair of pairs) {
    if (HashSet.has(replaced, pair[from])) replaced = HashSet.add(HashSet.remove(replaced, pair[from]), pair[to])
  }
  return replaced
}

/**
 * For effects of the runtime: their log, and that of the fibers that they fork, goes to stderr by default.
 */
export const onStderr: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.locallyWith(
  FiberRef.currentLoggers,
  replacing(0, 1)
)

/**
 * The same for a layer.
 */
export const layerOnStderr: <A, E, R>(self: Layer.Layer<A, E, R>) => Layer.Layer<A, E, R> = Layer.locallyWith(
  FiberRef.currentLoggers,
  replacing(0, 1)
)

/**
 * For effects of the application in a fiber of the runtime: restores the loggers of the application.
 */
export const asApplication: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.locallyWith(
  FiberRef.currentLoggers,
  replacing(1, 0)
)

export const withLevel = (level: LogLevel.LogLevel, ...message: ReadonlyArray<unknown>): Effect.Effect<void> =>
  onStderr(Effect.logWithLevel(level, ...message))

export const debug = (...message: ReadonlyArray<unknown>): Effect.Effect<void> => onStderr(Effect.logDebug(...message))

export const info = (...message: ReadonlyArray<unknown>): Effect.Effect<void> => onStderr(Effect.logInfo(...message))

export const warning = (...message: ReadonlyArray<unknown>): Effect.Effect<void> =>
  onStderr(Effect.logWarning(...message))

export const error = (...message: ReadonlyArray<unknown>): Effect.Effect<void> => onStderr(Effect.logError(...message))
