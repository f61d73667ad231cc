// @effect-diagnostics nodeBuiltinImport:off -- stdout is a stream of Node
/** The stdin and stdout of this process, for serving its parent process. */
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Writable } from "node:stream"
import * as Scoped from "../scoped.ts"
import * as StdioServer from "../server/StdioServer.ts"

type Write = (text: string, done: (error?: Error | null) => void) => void

/** The protocol chunks of all open links. Links can be nested. */
const protocol = new WeakSet<Uint8Array>()

const ignore = (): void => undefined

/**
 * Reserves stdout for the protocol: every other chunk goes to stderr. It replaces `_write`, which is below the buffer of the
 * stream, so that `write` and `console.log` return, call back and drain as usual.
 */
const ownStdout: Effect.Effect<Write, never, Scope.Scope> = Effect.suspend(() => {
  const { stderr, stdout } = process
  const below = { _write: stdout._write, _writev: Object.getOwnPropertyDescriptor(stdout, "_writev") }
  const isShadowed = Object.hasOwn(stdout, "_write")
  let isOwned = true

  const divert: Writable["_write"] = (chunk, encoding, done) => {
    if (!isOwned || protocol.has(chunk)) below._write.call(stdout, chunk, encoding, done)
    // a closed stderr must not fail the write
    else stderr.write(chunk, encoding, () => done())
  }
  const acquire = () => {
    stdout._write = divert
    // disables batches, which may mix protocol and other chunks
    Object.defineProperty(stdout, "_writev", { value: undefined, configurable: true, writable: true })
    stderr.on("error", ignore)
  }
  const release = (): void => {
    isOwned = false
    stderr.off("error", ignore)
    if (stdout._write !== divert) return
    if (isShadowed) stdout._write = below._write
    else Reflect.deleteProperty(stdout, "_write")
    if (below._writev === undefined) Reflect.deleteProperty(stdout, "_writev")
    else Object.defineProperty(stdout, "_writev", below._writev)
  }
  return Effect.as(Scoped.acquire(acquire, release), (text, done) => {
    const chunk = Buffer.from(text)
    protocol.add(chunk)
    // not `stdout.write`, which the application may have replaced
    Reflect.apply(Writable.prototype.write, stdout, [chunk, done])
  })
})

/** While the layer is open, all other output to `process.stdout` (`console.log`, a logger, a dependency) goes to stderr. */
export const layer: Layer.Layer<StdioServer.StdioLink> = Layer.scoped(
  StdioServer.StdioLink,
  Effect.gen(function*() {
    let isRead = true
    const lost = (): void => {
      isRead = false
    }
    yield* Scoped.acquire(() => process.stdout.on("error", lost), (stdout) => stdout.off("error", lost))
    const write = yield* ownStdout
    return {
      // a broken pipe is the end of the input
      input: Stream.catchAll(NodeStream.stdin, () => Stream.empty),
      write: (text) =>
        Effect.async<boolean>((resume) => {
          if (!isRead) return resume(Effect.succeed(false))
          write(text, (error) => resume(Effect.succeed(error === undefined || error === null)))
        })
    }
  })
)
