/**
 * Services made one after another in one scope, each over all that are there by then. Layers that are put together say
 * the same with a scope, a memo and often a fiber for each of them, of which a command of a terminal would have hundreds.
 *
 * @internal
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/**
 * What is in `replacements` stands in for what is made of the same name.
 *
 * @internal
 */
export const over = (replacements: Context.Context<never>) => ({
  service:
    <Id, Service, E, R>(tag: Context.Tag<Id, Service>, make: Effect.Effect<Service, E, R>) =>
    <In>(there: Context.Context<In>): Effect.Effect<Context.Context<In | Id>, E, Exclude<R, In>> =>
      Effect.map(
        Effect.provide(make, there),
        (made) => Context.merge(Context.add(there, tag, made), replacements)
      ),
  layer:
    <Out, E, R>(self: Layer.Layer<Out, E, R>) =>
    <In>(there: Context.Context<In>): Effect.Effect<Context.Context<In | Out>, E, Exclude<R | Scope.Scope, In>> =>
      Effect.map(
        Effect.provide(Layer.build(self), there),
        (made) => Context.merge(Context.merge(there, made), replacements)
      )
})
