/**
 * The pipes of this process, for serving the program that has started it.
 *
 * @since 0.1.0
 */
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Hold from "../internal/hold.ts"
import * as StdioLink from "../server/StdioLink.ts"

/**
 * `process.stdin` and `process.stdout`. Whatever else writes to stdout breaks the protocol.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<StdioLink.StdioLink> = Layer.scoped(
  StdioLink.StdioLink,
  Effect.gen(function*() {
    let isRead = true
    const lost = (): void => {
      isRead = false
    }
    yield* Hold.make(() => process.stdout.on("error", lost), (stdout) => stdout.off("error", lost))
    return {
      // a pipe that breaks has ended as well as one that is closed
      input: Stream.catchAll(NodeStream.stdin, () => Stream.empty),
      write: (text) =>
        Effect.async<boolean>((resume) => {
          if (!isRead) return resume(Effect.succeed(false))
          process.stdout.write(text, (error) => resume(Effect.succeed(error === undefined || error === null)))
        })
    }
  })
)
