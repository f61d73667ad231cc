/** Stores logins in files that only the user can read, encrypted with a key in the system keyring. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import type * as PlatformError from "@effect/platform/Error"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as SynchronizedRef from "effect/SynchronizedRef"
import * as TokenStore from "../auth/TokenStore.ts"
import * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import * as FileLock from "./fileLock.ts"
import * as FileStore from "./FileStore.ts"
import * as Keyring from "./keyring.ts"

export interface Options {
  /** The application name. Each application has separate logins. */
  readonly app: string
  /** The folder of the files and of their locks (default: `logins`, in the state folder of the application). */
  readonly directory: string | undefined
  /** `any`: encrypted, or without a usable keyring not encrypted, with a warning. */
  readonly backend: "any" | "files" | "keyring"
  /** The time limit for the first use of the keyring, which takes longer if the user has to unlock it. */
  readonly timeout: Duration.DurationInput
}

const defaults: Options = {
  app: ConfigDiscovery.defaults.app,
  directory: undefined,
  backend: "any",
  timeout: Duration.seconds(2)
}

/** A login has a few thousand bytes. */
const maxBytes = 128 * 1024

type Failure = TokenStore.TokenStoreError

/** The prefix of a login in a file. */
const marks = { plain: "plain:", sealed: "sealed:" }

interface Backend {
  readonly where: string
  /** The key from the keyring; `undefined` if logins are not encrypted. */
  readonly key: Buffer | undefined
}

const failure = (reason: Failure["reason"], detail: string): Failure =>
  new TokenStore.TokenStoreError({ reason, detail })

const fromFiles = (fault: PlatformError.PlatformError): Failure => {
  if (fault._tag !== "SystemError") {
    return failure("unavailable", `the folder of the logins cannot be used (${fault._tag})`)
  }
  if (fault.reason === "Busy") {
    return failure("locked", `another process has locked this login for ${FileLock.limit / 1000} seconds`)
  }
  if (fault.module !== "KeyValueStore") {
    return failure("unavailable", `the folder of the logins cannot be used (${fault.reason})`)
  }
  const path = fault.pathOrDescriptor === "" ? "" : ` (${fault.pathOrDescriptor})`
  return failure(fault.reason === "PermissionDenied" ? "refused" : "unavailable", `${fault.description}${path}`)
}

export const make = Effect.fnUntraced(function*(custom?: Partial<Options>) {
  const options: Options = { ...defaults, ...custom }
  const load = yield* Keyring.KeyringLoader
  const directory = yield* FileStore.directoryOf(options.directory, "state", options.app, "logins")
  // base64 makes an encrypted text a third longer
  const store = yield* FileStore.make({ directory, maxBytes: 2 * maxBytes, maxAge: Duration.infinity })
  const files = directory === undefined
    ? `nowhere: ${FileStore.noFolder}`
    : `files in ${directory}, readable only by this user`

  /** Locked, because two processes would otherwise replace the key of each other. */
  const keyring = Effect.mapError(
    store.locked("the key in the keyring")(Effect.either(Keyring.keyOf(options.app, options.timeout))),
    fromFiles
  ).pipe(Effect.flatten, Effect.provideService(Keyring.KeyringLoader, load))

  const find: Effect.Effect<Backend, Failure> = options.backend === "files"
    ? Effect.succeed({ where: files, key: undefined })
    : Effect.matchEffect(keyring, {
      onSuccess: (key) => Effect.succeed({ where: `${files}, encrypted with a key in the system keyring`, key }),
      onFailure: (error) =>
        options.backend === "keyring" ? Effect.fail(error) : Effect.as(
          RuntimeLog.warning(`Logins are stored without encryption, in ${files}: ${error.detail}.`),
          { where: `${files} (${error.detail})`, key: undefined }
        )
    })

  // determined at the first use, and again after a failure
  const found = yield* SynchronizedRef.make<Backend | undefined>(undefined)
  const backend = SynchronizedRef.modifyEffect(
    found,
    (known) => Effect.map(known === undefined ? find : Effect.succeed(known), (backend) => [backend, backend] as const)
  )

  return TokenStore.TokenStore.of({
    where: Effect.match(backend, {
      onFailure: ({ detail }) => `nowhere: ${detail}`,
      onSuccess: ({ where }) => where
    }),
    get: Effect.fnUntraced(function*(name) {
      const kept = Option.getOrUndefined(yield* Effect.mapError(store.get(name), fromFiles))
      // the keyring is not used for a server without a login
      if (kept === undefined) return Option.none()
      const isSealed = kept.startsWith(marks.sealed)
      if (!isSealed && options.backend === "keyring") return Option.none()
      const text = isSealed
        ? Keyring.unseal((yield* backend).key, name, kept.slice(marks.sealed.length))
        : kept.slice(marks.plain.length)
      return Option.map(Option.fromNullable(text), (text) => Redacted.make(text))
    }),
    set: Effect.fnUntraced(function*(name, secret) {
      const text = Redacted.value(secret)
      if (Buffer.byteLength(text) > maxBytes) {
        return yield* failure("unavailable", `the login is larger than ${maxBytes / 1024} KiB`)
      }
      const { key } = yield* backend
      const kept = key === undefined ? marks.plain + text : marks.sealed + Keyring.seal(key, name, text)
      yield* Effect.mapError(store.set(name, kept), fromFiles)
    }),
    remove: (name) => Effect.mapError(store.remove(name), fromFiles),
    locked: (key) => (effect) =>
      // errors of the effect pass unchanged
      Effect.flatten(Effect.mapError(store.locked(key)(Effect.either(effect)), fromFiles))
  })
})

/** Uses the keyring only when a login is first read or stored. */
export const layer = (options?: Partial<Options>): Layer.Layer<TokenStore.TokenStore> =>
  Layer.effect(TokenStore.TokenStore, make(options)).pipe(
    Layer.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer))
  )
