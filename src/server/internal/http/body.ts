/** The body of a request, of bounded size. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/** @internal */
export type Fault = "too-large" | "broken"

/** Bytes of a body too large that are read, for the sake of an answer. */
const mostIgnored = 4 * 1024 * 1024

/** @internal */
export const read = (
  request: HttpServerRequest.HttpServerRequest,
  limit: number
): Effect.Effect<string, Fault> => {
  const length = request.headers["content-length"]
  if (Number(length ?? 0) > limit) return Effect.fail("too-large")
  // there will be no more of it than it says
  if (length !== undefined) return Effect.mapError(request.text, (): Fault => "broken")
  return Effect.suspend(() => {
    let chunks: Array<Uint8Array> = []
    let bytes = 0
    return request.stream.pipe(
      Stream.mapError((): Fault => "broken"),
      Stream.runForEach((chunk): Effect.Effect<void, Fault> => {
        bytes += chunk.length
        if (bytes <= limit) chunks.push(chunk)
        else chunks = []
        // whoever stops reading breaks the connection, and then nobody can be told why
        return bytes > limit + mostIgnored ? Effect.fail("too-large") : Effect.void
      }),
      Effect.filterOrFail(() => bytes <= limit, (): Fault => "too-large"),
      Effect.map(() => Buffer.concat(chunks).toString("utf8"))
    )
  })
}
