/**
 * The two pipes at which a program is served that has started this one: `NodeStdioLink.layer` has those of the process.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"

export class StdioLink extends Context.Tag("effect-mcp-runtime/server/StdioLink")<StdioLink, {
  /** What the caller writes, until it writes no more. */
  readonly input: Stream.Stream<Uint8Array>
  /** Succeeds when it was taken over, with whether the caller still reads. */
  readonly write: (text: string) => Effect.Effect<boolean>
}>() {}
