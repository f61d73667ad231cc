/**
 * Logins, kept for the next run in the keyring of the system, or else in files that only the user can read. Keyring and
 * folder belong to one user of the machine, so each user has a store of logins.
 */
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
import * as HostEnvironment from "../config/HostEnvironment.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import * as FileLock from "./fileLock.ts"
import * as FileStore from "./FileStore.ts"
import * as Keyring from "./keyring.ts"

export interface Options {
  /** The application: each has logins of its own. */
  readonly app: string
  /**
   * The folder of the files (default: `logins`, in the state folder of the application). The locks among processes are
   * there too, also with a keyring.
   */
  readonly directory: string | undefined
  /** `any`: the keyring, or files with a warning where no keyring can be used. */
  readonly backend: "any" | "files" | "keyring"
  /** For the first use of the keyring. A keyring that a person has to unlock takes longer, and then files are used. */
  readonly timeout: Duration.DurationInput
}

export const defaults: Options = {
  app: ConfigDiscovery.defaults.app,
  directory: undefined,
  backend: "any",
  timeout: Duration.seconds(2)
}

/** A login is some thousand bytes. */
const maxBytes = 128 * 1024

/** Windows takes 2560 bytes for an entry. Elsewhere a login is one entry, because a person may be asked about each. */
const partOnWindows = 2048

/** For each use of the keyring after the first: a person may have to unlock it. */
const keyringTimeout = Duration.seconds(10)

type Failure = TokenStore.TokenStoreError

interface Backend extends Pick<TokenStore.TokenStore["Type"], "get" | "set" | "remove"> {
  readonly where: string
}

const failure = (reason: Failure["reason"], detail: string): Failure =>
  new TokenStore.TokenStoreError({ reason, detail })

const fromFiles = (fault: PlatformError.PlatformError): Failure => {
  if (fault._tag !== "SystemError") return failure("unavailable", `its folder cannot be used (${fault._tag})`)
  if (fault.reason === "Busy") {
    return failure("locked", `another process has been changing this login for ${FileLock.limit / 1000} seconds`)
  }
  if (fault.module !== "KeyValueStore") return failure("unavailable", `its folder cannot be used (${fault.reason})`)
  const path = fault.pathOrDescriptor === "" ? "" : ` (${fault.pathOrDescriptor})`
  return failure(fault.reason === "PermissionDenied" ? "refused" : "unavailable", `${fault.description}${path}`)
}

export const make = Effect.fnUntraced(function*(custom?: Partial<Options>) {
  const options: Options = { ...defaults, ...custom }
  const host = yield* HostEnvironment.HostEnvironment
  const load = yield* Keyring.KeyringLoader
  const directory = yield* FileStore.directoryOf(options.directory, "state", options.app, "logins")
  const store = yield* FileStore.make({ directory, maxBytes, maxAge: Duration.infinity })

  const files: Backend = {
    where: directory === undefined
      ? `nowhere: ${FileStore.noFolder}`
      : `files in ${directory} that only this user can read`,
    get: (key) =>
      Effect.mapBoth(store.get(key), { onFailure: fromFiles, onSuccess: Option.map((text) => Redacted.make(text)) }),
    set: (key, secret) => Effect.mapError(store.set(key, Redacted.value(secret)), fromFiles),
    remove: (key) => Effect.mapError(store.remove(key), fromFiles)
  }

  // An empty file says that the keyring has a login, so that no person is asked to unlock it for a server without one.
  const markOf = (key: string): string => JSON.stringify(["a login is kept", key])
  const mark = (change: Effect.Effect<void, PlatformError.PlatformError>) =>
    directory === undefined ? Effect.void : Effect.mapError(change, fromFiles)
  const isMarked = (key: string): Effect.Effect<boolean> =>
    directory === undefined || options.backend === "files"
      ? Effect.succeed(true)
      : Effect.exists([key, markOf(key)], (key) => Effect.map(store.get(key), Option.isSome)).pipe(
        Effect.orElseSucceed(() => true)
      )

  /** Logins that were kept in files while the keyring could not be used are newer, and are removed with the next write. */
  const overFiles = (keyring: Keyring.Keyring): Backend => {
    const older = options.backend === "any" ? files : undefined
    return {
      where: "the keyring of the system",
      get: (key) =>
        Effect.filterOrElse(
          older?.get(key) ?? Effect.succeedNone,
          Option.isSome,
          () =>
            Effect.map(keyring.get(key), (text) => Option.map(Option.fromNullable(text), (text) => Redacted.make(text)))
        ),
      set: (key, secret) =>
        mark(store.set(markOf(key), "")).pipe(
          Effect.zipRight(keyring.set(key, Redacted.value(secret))),
          Effect.zipRight(older?.remove(key) ?? Effect.void)
        ),
      remove: (key) =>
        (older?.remove(key) ?? Effect.void).pipe(
          Effect.zipRight(keyring.remove(key)),
          Effect.zipRight(mark(store.remove(markOf(key))))
        )
    }
  }

  const partSize = host.platform === "win32" ? partOnWindows : Infinity
  const keyring = Keyring.open({ service: options.app, partSize, timeout: keyringTimeout }, options.timeout).pipe(
    Effect.map(overFiles),
    Effect.provideService(Keyring.KeyringLoader, load)
  )

  const find: Effect.Effect<Backend, Failure> = options.backend === "files"
    ? Effect.succeed(files)
    : Effect.catchAll(keyring, (error) =>
      options.backend === "keyring" ? Effect.fail(error) : Effect.as(
        RuntimeLog.warning(`Logins are kept in ${files.where} instead of a keyring: ${error.detail}.`),
        { ...files, where: `${files.where} (${error.detail})` }
      ))

  // Found when it is first needed, and looked for again as long as there is none.
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
    get: (key) =>
      Effect.flatMap(
        isMarked(key),
        (marked) => marked ? Effect.flatMap(backend, ({ get }) => get(key)) : Effect.succeedNone
      ),
    set: (key, secret) =>
      Buffer.byteLength(Redacted.value(secret)) > maxBytes
        ? failure("unavailable", `it is larger than ${maxBytes / 1024} KiB`)
        : Effect.flatMap(backend, ({ set }) => set(key, secret)),
    remove: (key) => Effect.flatMap(backend, ({ remove }) => remove(key)),
    locked: (key) => (effect) =>
      // what the effect fails with passes as it is
      Effect.flatten(Effect.mapError(store.locked(key)(Effect.either(effect)), fromFiles))
  })
})

/**
 * The keyring, if there is one that works, and files otherwise. That is found out when a login is first read or kept, and
 * a warning is logged if it is files.
 */
export const layer = (options?: Partial<Options>): Layer.Layer<TokenStore.TokenStore> =>
  Layer.effect(TokenStore.TokenStore, make(options)).pipe(
    Layer.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer))
  )
