import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Source } from "../OutputGuard.ts"
import type { Handle, Options } from "../Spill.ts"
import type { Kept, Store } from "./spillStore.ts"

interface Entry {
  readonly source: Source
  readonly bytes: Uint8Array
  readonly at: number
}

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/**
 * Texts in memory, as bytes: the text itself may be a part of something larger, which would be kept with it.
 *
 * @internal
 */
export const make = (options: Options): Store<never> => {
  const maxAge = Duration.toMillis(options.maxAge)
  // in the order in which they came
  const entries = new Map<Handle, Entry>()
  let total = 0

  const drop = (handle: Handle, entry: Entry): void => {
    entries.delete(handle)
    total -= entry.bytes.length
  }

  const sweep = (room: number) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      for (const [handle, entry] of entries) {
        if (now - entry.at <= maxAge && total + room <= options.maxBytes) break
        drop(handle, entry)
      }
      return now
    })

  return {
    write: (handle, text, source) =>
      Effect.suspend(() => {
        const bytes = encoder.encode(text)
        if (bytes.length > Math.min(options.maxBytesEach, options.maxBytes)) return Effect.succeed(false)
        return Effect.map(sweep(bytes.length), (at) => {
          entries.set(handle, { source, bytes, at })
          total += bytes.length
          return true
        })
      }),
    read: (handle, from, length) =>
      Effect.map(sweep(0), (): Kept => {
        const entry = entries.get(handle)
        if (entry === undefined) return { _tag: "Missing" }
        const text = decoder.decode(entry.bytes).slice(from, from + length)
        return { _tag: "Found", part: { source: entry.source, text } }
      }),
    sweep: Effect.asVoid(sweep(0))
  }
}
