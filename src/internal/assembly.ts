/**
 * Services made one after another in one scope, each over all that are there by then. Layers that are put together say
 * the same with a scope, a memo and often a fiber for each of them, of which a command of a terminal would have hundreds.
 *
 * @internal
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * What is in `replacements` stands in for what is made of the same name.
 *
 * @internal
 */
export const over = (replacements: Context.Context<never>) => {
  /** All that is made in one step. */
  const all =
    <Out, E, R>(make: Effect.Effect<Context.Context<Out>, E, R>) =>
    <In>(there: Context.Context<In>): Effect.Effect<Context.Context<In | Out>, E, Exclude<R, In>> =>
      Effect.map(
        Effect.provide(make, there),
        (made) => Context.merge(Context.merge(there, made), replacements)
      )
  return {
    all,
    service: <Id, Service, E, R>(tag: Context.Tag<Id, Service>, make: Effect.Effect<Service, E, R>) =>
      all(Effect.map(make, (made) => Context.make(tag, made))),
    layer: <Out, E, R>(self: Layer.Layer<Out, E, R>) => all(Layer.build(self))
  }
}
