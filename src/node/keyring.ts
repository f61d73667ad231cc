/**
 * Secret texts in the keyring of the system, through the optional package `@napi-rs/keyring`. A text that is too large for
 * one entry is split over several, and read whole or not at all.
 */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as TokenStore from "../auth/TokenStore.ts"
import { sha256 } from "../json/canonical.ts"

export interface Entry {
  /** `undefined` or `null` if there is none. */
  readonly getSecret: () => Promise<ArrayLike<number> | null | undefined>
  readonly setSecret: (secret: Uint8Array) => Promise<void>
  /** False if there was none. */
  readonly deleteCredential: () => Promise<boolean>
}

export interface KeyringModule {
  readonly AsyncEntry: new(
    service: string,
    account: string,
    options: { readonly linux: { readonly store: "secret-service" } }
  ) => Entry
}

/** Loads the package when it is first needed. */
export class KeyringLoader extends Context.Reference<KeyringLoader>()("effect-mcp-runtime/node/KeyringLoader", {
  defaultValue: (): Effect.Effect<KeyringModule, Cause.UnknownException> =>
    // with this catch, bundlers do without the package where it is not installed
    Effect.tryPromise(() => import("@napi-rs/keyring").catch((error: unknown) => Promise.reject(error)))
}) {}

export interface Options {
  /** The owner of the entries, as the keyring shows it. */
  readonly service: string
  /** Bytes of one entry; `Infinity` where no text is split. */
  readonly partSize: number
  /** For all calls of one operation: a person may have to unlock the keyring. */
  readonly timeout: Duration.DurationInput
}

export interface Keyring {
  readonly get: (key: string) => Effect.Effect<string | undefined, TokenStore.TokenStoreError>
  readonly set: (key: string, text: string) => Effect.Effect<void, TokenStore.TokenStoreError>
  readonly remove: (key: string) => Effect.Effect<void, TokenStore.TokenStoreError>
}

const unavailable = (detail: string) => new TokenStore.TokenStoreError({ reason: "unavailable", detail })

/** The error of the package is left out, because its text may hold the secret. */
const refused = unavailable("the keyring of the system refuses")

export const silent = unavailable("the keyring of the system does not answer")

/** The other store of Linux, the kernel's, is cleared when the person logs out. */
const entryOptions = { linux: { store: "secret-service" } } as const

/** Parts are written to the side that is not in use, and then the head that names the side. */
type Side = "a" | "b"

interface Head {
  readonly side: Side
  readonly count: number
  readonly sum: string
}

const whole = "whole\n"
const splitHead = /^parts ([ab]) (\d{1,4}) ([0-9a-f]{64})$/

/** Parts of a text at most. */
const maxParts = 64

/** Reads of a text that another process is writing. */
const attempts = 3

const headIn = (text: string | undefined): Head | undefined => {
  const [, side, count, sum] = splitHead.exec(text ?? "") ?? []
  return (side === "a" || side === "b") && count !== undefined && sum !== undefined
    ? { side, count: Number(count), sum }
    : undefined
}

const partName = (account: string, side: Side, at: number): string => `${account}.${side}.${at}`

export const make = (module: KeyringModule, { partSize, service, timeout }: Options) => {
  let last: Promise<unknown> = Promise.resolve()

  /**
   * One call after the other, also after a call that its caller has given up: a late write would overwrite a newer secret,
   * and calls that hang would occupy the threads that files are read with.
   */
  const call = <A>(account: string, use: (entry: Entry) => Promise<A>): Effect.Effect<A, TokenStore.TokenStoreError> =>
    Effect.tryPromise({
      try: (signal) => {
        const done = last.then(() =>
          signal.aborted
            ? Promise.reject(signal.reason)
            : use(new module.AsyncEntry(service, account, entryOptions))
        )
        last = done.catch(() => undefined)
        return done
      },
      catch: () => refused
    })

  const read = (account: string) =>
    Effect.map(call(account, (entry) => entry.getSecret()), (bytes) => bytes ? Buffer.from(bytes) : undefined)

  const readText = (account: string) => Effect.map(read(account), (bytes) => bytes?.toString())

  const write = (account: string, data: string | Uint8Array) =>
    call(account, (entry) => entry.setSecret(Buffer.from(data)))

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
      const text = Buffer.concat(parts).toString()
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
      const bytes = Buffer.from(text)
      const before = headIn(yield* readText(account))
      if (whole.length + bytes.length <= partSize) {
        yield* write(account, whole + text)
      } else {
        const side = before?.side === "a" ? "b" : "a"
        const count = Math.ceil(bytes.length / partSize)
        for (let at = 0; at < count; at++) {
          yield* write(partName(account, side, at), bytes.subarray(at * partSize, (at + 1) * partSize))
        }
        yield* write(account, `parts ${side} ${count} ${sha256(text)}`)
      }
      if (before !== undefined) yield* eraseParts(account, before.side)
    })

  const remove = (account: string) =>
    Effect.gen(function*() {
      // Before the head, so that a crash in between leaves no secret that cannot be found. Parts without a head were left by
      // a process that crashed while writing them.
      if (Number.isFinite(partSize)) yield* Effect.zipRight(eraseParts(account, "a"), eraseParts(account, "b"))
      yield* erase(account)
    })

  /** Fails unless the keyring returns what was written to it. */
  const probe = Effect.gen(function*() {
    const isKept = Effect.map(readText("probe"), (text) => text === service)
    if (yield* isKept) return
    yield* write("probe", service)
    if (!(yield* isKept)) return yield* refused
  })

  const accountOf = (key: string): string => sha256(JSON.stringify(key))
  const bounded = Effect.timeoutFail({ duration: timeout, onTimeout: () => silent })
  const keyring: Keyring = {
    get: (key) => bounded(get(accountOf(key))),
    set: (key, text) => bounded(set(accountOf(key), text)),
    remove: (key) => bounded(remove(accountOf(key)))
  }
  return { keyring, probe }
}

/** The keyring of the system, if it can be used within this time. */
export const open = (
  options: Options,
  within: Duration.DurationInput
): Effect.Effect<Keyring, TokenStore.TokenStoreError> =>
  Effect.gen(function*() {
    const module = yield* yield* KeyringLoader
    const { keyring, probe } = make(module, options)
    yield* probe
    return keyring
  }).pipe(
    Effect.catchTag(
      "UnknownException",
      () => unavailable("@napi-rs/keyring is not installed, or not for this system")
    ),
    Effect.timeoutFail({ duration: within, onTimeout: () => silent })
  )
