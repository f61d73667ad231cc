// @effect-diagnostics nodeBuiltinImport:off -- platform has no crypto
/**
 * Encrypts texts with a key in the system keyring, through the optional package `@napi-rs/keyring`. The keyring stores only
 * the key, because Windows limits the size of an entry, and because the user may have to confirm each access to an entry.
 */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import * as TokenStore from "../auth/TokenStore.ts"

export interface Entry {
  /** `undefined` or `null` if there is no entry. */
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

/** Imports the package at its first use. */
export class KeyringLoader extends Context.Reference<KeyringLoader>()("effect-mcp-runtime/node/KeyringLoader", {
  defaultValue: (): Effect.Effect<KeyringModule, Cause.UnknownException> =>
    // the catch marks the import as optional for bundlers
    Effect.tryPromise(() => import("@napi-rs/keyring").catch((error: unknown) => Promise.reject(error)))
}) {}

const unavailable = (detail: string) => new TokenStore.TokenStoreError({ reason: "unavailable", detail })

/** Errors of the package are dropped, because their texts may contain the key. */
const refused = unavailable("the system keyring denied access")
const silent = unavailable("the system keyring did not respond in time")

/** Not the kernel keyring of Linux, which is cleared at logout. */
const entryOptions = { linux: { store: "secret-service" } } as const

const algorithm = "aes-256-gcm"
const bytes = { key: 32, iv: 12, tag: 16 }

/** The key in the keyring, created at its first use; `undefined` if the keyring does not store it. */
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
 * The key of an application. A call that timed out continues, and the next caller joins it, because hanging calls would
 * occupy the threads of file access.
 */
export const keyOf = (
  service: string,
  within: Duration.DurationInput
): Effect.Effect<Buffer, TokenStore.TokenStoreError, never> => {
  let fetching: Promise<Buffer | undefined> | undefined
  return Effect.flatMap(KeyringLoader, (load) => load).pipe(
    Effect.mapError(() => unavailable("@napi-rs/keyring is not installed or does not support this system")),
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

/** Encrypts a text and authenticates it together with its name. */
export const seal = (key: Buffer, name: string, text: string): string => {
  const iv = randomBytes(bytes.iv)
  const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(name))
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64")
}

/** Decrypts a text; `undefined` without the key, or if the text was not encrypted with this key and name. */
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
