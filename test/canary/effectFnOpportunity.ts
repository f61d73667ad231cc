import * as Effect from "effect/Effect"

export const program = (n: number) => {
  return Effect.gen(function*() {
    yield* Effect.log("begin")
    const one = yield* Effect.succeed(1)
    const two = yield* Effect.succeed(2)
    return n + one + two
  })
}

export const piped = (n: number) =>
  Effect.gen(function*() {
    yield* Effect.log("begin")
    const one = yield* Effect.succeed(1)
    return n + one
  }).pipe(Effect.withSpan("piped"))

export function declared(n: number) {
  return Effect.gen(function*() {
    yield* Effect.log("begin")
    const one = yield* Effect.succeed(1)
    return n + one
  })
}
