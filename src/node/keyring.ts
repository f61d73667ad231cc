// @effect-diagnostics nodeBuiltinImport:off -- platform has no crypto
/**
 * Seals texts with a key in the keyring of the system, through the optional package `@napi-rs/keyring`. The keyring has the
 * key alone, because an entry of Windows is smaller than a login, and because a person may be asked about each entry.
 */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import * as TokenStore from "../auth/TokenStore.ts"

export interface Entry {
  /** `undefined` or `null` if there is none. */
  readonly getSecret: () => Promise<ArrayLike<number> | null | undefined>
  readonly setSecret: (secret: Uint8Array) => Promise<void>
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

const unavailable = (detail: string) => new TokenStore.TokenStoreError({ reason: "unavailable", detail })

/** The error of the package is left out, because its text may hold the key. */
const refused = unavailable("the keyring of the system refuses")
const silent = unavailable("the keyring of the system does not answer")

/** The other store of Linux, the kernel's, is cleared when the person logs out. */
const entryOptions = { linux: { store: "secret-service" } } as const

const algorithm = "aes-256-gcm"
const bytes = { key: 32, iv: 12, tag: 16 }

/** The key in the keyring, made at its first use; `undefined` if the keyring does not keep what it is given. */
const fetched = async ({ AsyncEntry }: KeyringModule, service: string): Promise<Buffer | undefined> => {
  const entry = new AsyncEntry(service, "key", entryOptions)
  const read = async () => Buffer.from(await entry.getSecret() ?? [])
  let key = await read()
  if (key.length === bytes.key) return key
  await entry.setSecret(randomBytes(bytes.key))
  key = await read()
  return key.length === bytes.key ? key : undefined
}

/**
 * Brings the key of an application. A call that was given up goes on, and the next caller waits for it, because calls that
 * hang would occupy the threads that files are read with.
 */
export const keyOf = (
  service: string,
  within: Duration.DurationInput
): Effect.Effect<Buffer, TokenStore.TokenStoreError, never> => {
  let fetching: Promise<Buffer | undefined> | undefined
  return Effect.flatMap(KeyringLoader, (load) => load).pipe(
    Effect.mapError(() => unavailable("@napi-rs/keyring is not installed, or not for this system")),
    Effect.flatMap((module) =>
      Effect.tryPromise({
        try: () =>
          fetching ??= fetched(module, service).finally(() => {
            fetching = undefined
          }),
        catch: () => refused
      })
    ),
    Effect.flatMap((key) => key === undefined ? refused : Effect.succeed(key)),
    Effect.timeoutFail({ duration: within, onTimeout: () => silent })
  )
}

/** Encrypts a text, so that it can be neither read without the key, nor changed, nor given another name. */
export const seal = (key: Buffer, name: string, text: string): string => {
  const iv = randomBytes(bytes.iv)
  const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(name))
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64")
}

/** `undefined` if there is no key, or if it was not sealed with it under this name. */
export const unseal = (key: Buffer | undefined, name: string, sealed: string): string | undefined => {
  if (key === undefined) return undefined
  const all = Buffer.from(sealed, "base64")
  const iv = all.subarray(0, bytes.iv)
  const tag = all.subarray(bytes.iv, bytes.iv + bytes.tag)
  try {
    const decipher = createDecipheriv(algorithm, key, iv, { authTagLength: bytes.tag })
    decipher.setAAD(Buffer.from(name)).setAuthTag(tag)
    return Buffer.concat([decipher.update(all.subarray(bytes.iv + bytes.tag)), decipher.final()]).toString()
  } catch {
    return undefined
  }
}
