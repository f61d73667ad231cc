/**
 * How a composition takes the services that its environment provides, and makes the others.
 */
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as McpError from "../McpError.ts"

/** The service in the environment, else this default. A reference counts only with a value of its own. */
export const given = <Id, Service, E, R>(
  tag: Context.Tag<Id, Service>,
  make: Effect.Effect<Service, E, R>
): Effect.Effect<Service, E, R> =>
  Effect.contextWithEffect((environment: Context.Context<never>): Effect.Effect<Service, E, R> =>
    environment.unsafeMap.has(tag.key) ? Effect.succeed(Context.unsafeGet(environment, tag)) : make
  )

/** Provides `given` to an effect. */
export const supply = <Id, Service, E, R>(tag: Context.Tag<Id, Service>, make: Effect.Effect<Service, E, R>) =>
  Effect.provideServiceEffect(tag, given(tag, make))

/** A context of `given`. */
export const settled = <Id, Service, E, R>(
  tag: Context.Tag<Id, Service>,
  make: Effect.Effect<Service, E, R>
): Effect.Effect<Context.Context<Id>, E, R> => Effect.map(given(tag, make), (service) => Context.make(tag, service))

/** A layer of `given`. Call it where the layer is composed: a constant is memoized, and two runtimes would share it. */
export const concern = <Id, Service, E, R>(
  tag: Context.Tag<Id, Service>,
  make: Effect.Effect<Service, E, R>
): Layer.Layer<Id, E, Exclude<R, Scope.Scope>> => Layer.scoped(tag, given(tag, make))

/** The services that the compositions in the environment have made. They replace nothing in another composition. */
class Outputs extends Context.Reference<Outputs>()("effect-mcp-runtime/runtime/composition/Outputs", {
  defaultValue: (): Context.Context<never> => Context.empty()
}) {}

const without = <A>(context: Context.Context<A>, others: Context.Context<never>): Context.Context<A> =>
  Context.unsafeMake(
    new Map(Array.from(context.unsafeMap).filter(([key, service]) => others.unsafeMap.get(key) !== service))
  )

/** Runs in the environment of the application, without the outputs of other compositions except those in `required`. */
export const isolated = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  required: (application: Context.Context<R>) => Context.Context<Exclude<R, Scope.Scope>>
): Effect.Effect<A, E, R> =>
  Effect.mapInputContext(
    self,
    (application: Context.Context<R>) =>
      Context.merge(without(application, Context.get(application, Outputs)), required(application))
  )

/** Builds a composition in an isolated environment, and marks the services that it made as its outputs. */
export const sealed = <Out, E, R>(
  composition: Layer.Layer<Out, E, R>,
  required: (application: Context.Context<R>) => Context.Context<R>
): Layer.Layer<Out, E, Exclude<R, Scope.Scope>> => {
  const build = Effect.gen(function*() {
    const environment = yield* Effect.context<never>()
    const built = yield* Layer.build(composition)
    const outputs = Context.merge(Context.get(environment, Outputs), without(built, environment))
    return Context.add(built, Outputs, outputs)
  })
  return Layer.scopedContext(isolated(build, required))
}

const first = (error: ConfigError.ConfigError): Exclude<ConfigError.ConfigError, ConfigError.And | ConfigError.Or> =>
  error._op === "And" || error._op === "Or" ? first(error.left) : error

/** Turns an unreadable setting of the environment into a `ConfigurationError` that names its path. */
export const fromEnvironment = <A, R>(
  self: Effect.Effect<A, ConfigError.ConfigError, R>
): Effect.Effect<A, McpError.ConfigurationError, R> =>
  Effect.mapError(self, (error) => {
    const { message, path } = first(error)
    return new McpError.ConfigurationError({ server: "(environment)", path: path.join("."), detail: message })
  })
