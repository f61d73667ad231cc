// @effect-diagnostics nodeBuiltinImport:off -- stdout is a stream of Node
/**
 * The pipes of this process, for serving the program that has started it.
 *
 * @since 0.1.0
 */
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Writable } from "node:stream"
import * as Hold from "../internal/hold.ts"
import * as StdioLink from "../server/StdioLink.ts"

type Write = (text: string, done: (error?: Error | null) => void) => void

/** The chunks of all links, so that one opened inside another works too. */
const protocol = new WeakSet<Uint8Array>()

const ignore = (): void => undefined

/**
 * Stdout for the protocol alone: every other chunk that reaches `process.stdout`, however it was written, goes to stderr.
 * The diversion is below the buffer of the stream, so that `write` and `console.log` return, call back and drain as ever.
 */
const ownStdout: Effect.Effect<Write, never, Scope.Scope> = Effect.suspend(() => {
  const { stderr, stdout } = process
  const below = { _write: stdout._write, _writev: Object.getOwnPropertyDescriptor(stdout, "_writev") }
  const isShadowed = Object.hasOwn(stdout, "_write")
  let isOwned = true

  const divert: Writable["_write"] = (chunk, encoding, done) => {
    if (!isOwned || protocol.has(chunk)) below._write.call(stdout, chunk, encoding, done)
    // a stderr that is gone costs the caller nothing
    else stderr.write(chunk, encoding, () => done())
  }
  const acquire = () => {
    stdout._write = divert
    // chunks of both kinds may wait together: they leave one by one
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
  return Effect.as(Hold.make(acquire, release), (text, done) => {
    const chunk = Buffer.from(text)
    protocol.add(chunk)
    // not `stdout.write`, which the application may have replaced
    Reflect.apply(Writable.prototype.write, stdout, [chunk, done])
  })
})

/**
 * `process.stdin` and `process.stdout`. While it is open, whatever else the process writes to `process.stdout` (with
 * `console.log`, a logger, a dependency's `write`) goes to stderr.
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
    const write = yield* ownStdout
    return {
      // a pipe that breaks has ended as well as one that is closed
      input: Stream.catchAll(NodeStream.stdin, () => Stream.empty),
      write: (text) =>
        Effect.async<boolean>((resume) => {
          if (!isRead) return resume(Effect.succeed(false))
          write(text, (error) => resume(Effect.succeed(error === undefined || error === null)))
        })
    }
  })
)
