/**
 * The body of a request, of bounded size.
 *
 * @internal
 */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/** @internal */
export type Fault = "too-large" | "broken"

/** @internal */
export const read = (
  request: HttpServerRequest.HttpServerRequest,
  limit: number
): Effect.Effect<string, Fault> => {
  if (Number(request.headers["content-length"] ?? 0) > limit) return Effect.fail("too-large")
  return Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let bytes = 0
    return request.stream.pipe(
      Stream.mapError((): Fault => "broken"),
      Stream.runForEach((chunk): Effect.Effect<void, Fault> => {
        bytes += chunk.length
        if (bytes > limit) return Effect.fail("too-large")
        chunks.push(chunk)
        return Effect.void
      }),
      Effect.map(() => Buffer.concat(chunks).toString("utf8"))
    )
  })
}
