/**
 * Secret texts in the keyring of the system. A text that is too large for one entry is split over several, and read whole
 * or not at all.
 *
 * @internal
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { sha256 } from "../../json/canonical.ts"
import type * as KeyringModule from "./keyringModule.ts"

/**
 * Why not: it said no, it said nothing in time, or the text is too large. What it says itself is not handed on, because
 * nobody knows what is in it.
 *
 * @internal
 */
export type Fault = "refused" | "silent" | "large"

/** @internal */
export interface Options {
  readonly module: KeyringModule.KeyringModule
  /** Whose the entries are, as the keyring shows it. */
  readonly service: string
  /** Bytes of one entry. */
  readonly partSize: number
  /** Bytes of a text. */
  readonly maxBytes: number
  /** For all that one use of it asks of the keyring: a person may have to open it. */
  readonly patience: Duration.Duration
}

/** @internal */
export interface Keyring {
  /** Whether what is kept in it is found again. */
  readonly probe: Effect.Effect<void, Fault>
  readonly get: (account: string) => Effect.Effect<string | undefined, Fault>
  readonly set: (account: string, text: string) => Effect.Effect<void, Fault>
  readonly remove: (account: string) => Effect.Effect<void, Fault>
}

/** The other store of Linux, the kernel's, forgets when the person logs out. */
const entryOptions = { linux: { store: "secret-service" } } as const

/** Parts are written to the side that is not in use, and then the head says which it is. */
type Side = "a" | "b"

interface Head {
  readonly side: Side
  readonly count: number
  readonly sum: string
}

const whole = "whole\n"
const splitHead = /^parts ([ab]) (\d{1,4}) ([0-9a-f]{64})$/

/** How often a text is read again that somebody was writing. */
const attempts = 3

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const join = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

const headIn = (text: string | undefined): Head | undefined => {
  const [, side, count, sum] = splitHead.exec(text ?? "") ?? []
  return (side === "a" || side === "b") && count !== undefined && sum !== undefined
    ? { side, count: Number(count), sum }
    : undefined
}

const partName = (account: string, side: Side, at: number): string => `${account}.${side}.${at}`

const settled = (): undefined => undefined

/** @internal */
export const make = ({ maxBytes, module, partSize, patience, service }: Options): Keyring => {
  const maxParts = Math.ceil(maxBytes / partSize)
  let last: Promise<void> = Promise.resolve()

  /**
   * One after the other, and none while another goes on that nobody waits for any more: a write that comes late would put
   * an old secret in the place of a new one, and calls that hang would take the threads that files are read with.
   */
  const call = <A>(account: string, use: (entry: KeyringModule.Entry) => Promise<A>): Effect.Effect<A, Fault> =>
    Effect.tryPromise({
      try: (signal) => {
        const done = last.then(() =>
          signal.aborted
            ? Promise.reject(signal.reason)
            : use(new module.AsyncEntry(service, account, entryOptions))
        )
        last = done.then(settled, settled)
        return done
      },
      catch: (): Fault => "refused"
    })

  const bounded = <A>(effect: Effect.Effect<A, Fault>): Effect.Effect<A, Fault> =>
    Effect.timeoutFail(effect, { duration: patience, onTimeout: (): Fault => "silent" })

  const read = (account: string) =>
    Effect.map(
      call(account, (entry) => entry.getSecret()),
      (bytes) => bytes === null || bytes === undefined ? undefined : Uint8Array.from(bytes)
    )

  const readText = (account: string) =>
    Effect.map(read(account), (bytes) => bytes === undefined ? undefined : decoder.decode(bytes))

  const write = (account: string, bytes: Uint8Array) => call(account, (entry) => entry.setSecret(bytes))

  const erase = (account: string) => call(account, (entry) => entry.deleteCredential())

  const eraseParts = (account: string, side: Side) =>
    Effect.gen(function*() {
      for (let at = 0; at < maxParts; at++) {
        if (!(yield* erase(partName(account, side, at)))) return
      }
    })

  const readParts = (account: string, { count, side, sum }: Head) =>
    Effect.gen(function*() {
      const parts: Array<Uint8Array> = []
      for (let at = 0; at < Math.min(count, maxParts); at++) {
        const part = yield* read(partName(account, side, at))
        if (part === undefined) return
        parts.push(part)
      }
      const text = decoder.decode(join(parts))
      return sha256(text) === sum ? text : undefined
    })

  const get = (account: string) =>
    Effect.gen(function*() {
      for (let attempt = 0; attempt < attempts; attempt++) {
        const text = yield* readText(account)
        if (text?.startsWith(whole) === true) return text.slice(whole.length)
        const head = headIn(text)
        if (head === undefined) return
        const joined = yield* readParts(account, head)
        if (joined !== undefined) return joined
      }
      return
    })

  const set = (account: string, text: string) =>
    Effect.gen(function*() {
      const bytes = encoder.encode(text)
      if (bytes.length > maxBytes) return yield* Effect.fail<Fault>("large")
      const before = headIn(yield* readText(account))
      const head = encoder.encode(whole)
      if (head.length + bytes.length <= partSize) {
        yield* write(account, join([head, bytes]))
      } else {
        const side = before?.side === "a" ? "b" : "a"
        const count = Math.ceil(bytes.length / partSize)
        for (let at = 0; at < count; at++) {
          yield* write(partName(account, side, at), bytes.subarray(at * partSize, (at + 1) * partSize))
        }
        yield* write(account, encoder.encode(`parts ${side} ${count} ${sha256(text)}`))
      }
      if (before !== undefined) yield* eraseParts(account, before.side)
    })

  const remove = (account: string) =>
    Effect.gen(function*() {
      const isSplit = headIn(yield* readText(account)) !== undefined
      // Before the head, so that whoever dies in between leaves no secret that nobody finds. Parts without a head were left
      // by whoever died while writing them.
      if (isSplit || maxParts > 1) {
        yield* eraseParts(account, "a")
        yield* eraseParts(account, "b")
      }
      yield* erase(account)
    })

  const probe = Effect.gen(function*() {
    const isKept = Effect.map(readText("probe"), (text) => text === service)
    if (yield* isKept) return
    yield* write("probe", encoder.encode(service))
    if (!(yield* isKept)) return yield* Effect.fail<Fault>("refused")
  })

  return {
    probe: bounded(probe),
    get: (account) => bounded(get(account)),
    set: (account, text) => bounded(set(account, text)),
    remove: (account) => bounded(remove(account))
  }
}
