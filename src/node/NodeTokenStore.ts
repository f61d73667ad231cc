/**
 * Logins, kept for the next run in the keyring of the system, or else in files that only the user can read. Whoever has
 * two users on a machine has two stores, because each has a keyring and a folder.
 *
 * @since 0.1.0
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import type * as PlatformError from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as TokenStore from "../auth/TokenStore.ts"
import * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import { sha256 } from "../json/canonical.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import * as FileStore from "./FileStore.ts"
import * as Keyring from "./internal/keyring.ts"
import * as KeyringModule from "./internal/keyringModule.ts"
import * as Turns from "./internal/turns.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** The application: each has logins of its own. */
  readonly app: string
  /**
   * Where files are kept (default: `logins`, in the folder of the application for what must not be forgotten). With a
   * keyring too, it is where processes take turns.
   */
  readonly directory: string | undefined
  /** Whether nothing is kept where there is no keyring, and what is in files is not looked at. */
  readonly strict: boolean
  /**
   * How long the keyring may take at first, when it is tried. A keyring that is locked asks a person to open it, and then
   * that takes as long as the person does.
   */
  readonly patience: Duration.DurationInput
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = {
  app: ConfigDiscovery.defaults.app,
  directory: undefined,
  strict: false,
  patience: Duration.seconds(2)
}

/** A login is some thousand bytes; what is larger is nothing that was written here. */
const maxBytes = 128 * 1024

/** Windows takes 2560 bytes for an entry. Elsewhere a login is one entry, because a person may be asked about each. */
const partOnWindows = 2048

/** When it has been tried; so long is also what a person has for opening it. */
const patience = Duration.seconds(10)

type Failure = TokenStore.TokenStoreError

interface Place {
  readonly where: string
  readonly isFiles: boolean
  readonly get: (key: string) => Effect.Effect<Option.Option<Redacted.Redacted>, Failure>
  readonly set: (key: string, secret: Redacted.Redacted) => Effect.Effect<void, Failure>
  readonly remove: (key: string) => Effect.Effect<void, Failure>
}

const unavailable = (detail: string): Failure => new TokenStore.TokenStoreError({ reason: "unavailable", detail })

const tooLarge = unavailable(`it is larger than ${maxBytes / 1024} KiB`)

const busy = new TokenStore.TokenStoreError({
  reason: "locked",
  detail: `somebody else has been changing this login for ${Turns.limit / 1000} seconds`
})

const nowhere = "the environment names no folder for it"

/** Who refuses is `FileStore` itself, and what it says has no path in it. */
const fromFiles = (error: PlatformError.PlatformError): Failure =>
  error._tag === "SystemError" && error.module === "KeyValueStore"
    ? new TokenStore.TokenStoreError({ reason: "refused", detail: error.description ?? "it is not only ours" })
    : unavailable(`its folder cannot be used (${error._tag === "SystemError" ? error.reason : error._tag})`)

const faults: Record<Keyring.Fault, string> = {
  refused: "the keyring of the system refuses",
  silent: "the keyring of the system does not answer",
  large: tooLarge.detail
}

const fromKeyring = (fault: Keyring.Fault): Failure => fault === "large" ? tooLarge : unavailable(faults[fault])

const inFiles = (store: FileStore.FileStore, directory: string | undefined): Place => {
  const there = <A>(effect: Effect.Effect<A, PlatformError.PlatformError>): Effect.Effect<A, Failure> =>
    directory === undefined ? Effect.fail(unavailable(nowhere)) : Effect.mapError(effect, fromFiles)
  return {
    isFiles: true,
    where: directory === undefined ? `nowhere: ${nowhere}` : `files in ${directory} that only this user can read`,
    get: (key) => Effect.map(there(store.get(key)), Option.map((text) => Redacted.make(text))),
    set: (key, secret) =>
      Effect.suspend(() => {
        const text = Redacted.value(secret)
        return Buffer.byteLength(text) > maxBytes ? Effect.fail(tooLarge) : there(store.set(key, text))
      }),
    remove: (key) => there(store.remove(key))
  }
}

const inKeyring = (keyring: Keyring.Keyring): Place => {
  const accountOf = (key: string): string => sha256(JSON.stringify(key))
  return {
    isFiles: false,
    where: "the keyring of the system",
    get: (key) =>
      Effect.mapBoth(keyring.get(accountOf(key)), {
        onFailure: fromKeyring,
        onSuccess: (text) => Option.map(Option.fromNullable(text), (text) => Redacted.make(text))
      }),
    set: (key, secret) => Effect.mapError(keyring.set(accountOf(key), Redacted.value(secret)), fromKeyring),
    remove: (key) => Effect.mapError(keyring.remove(accountOf(key)), fromKeyring)
  }
}

/**
 * The keyring, and what was kept in files while it could not be used: that is the newer of two, since it goes when the
 * keyring gets another.
 */
const overFiles = (keyring: Place, files: Place): Place => ({
  isFiles: false,
  where: keyring.where,
  get: (key) => Effect.flatMap(files.get(key), (kept) => Option.isSome(kept) ? Effect.succeed(kept) : keyring.get(key)),
  set: (key, secret) => Effect.zipRight(keyring.set(key, secret), files.remove(key)),
  remove: (key) => Effect.zipRight(files.remove(key), keyring.remove(key))
})

/** Finds the place when it is first needed, and again as long as there is none. */
const foundOnce = (find: Effect.Effect<Place, Failure>): Effect.Effect<Place, Failure> => {
  const turn = Effect.unsafeMakeSemaphore(1)
  let found: Place | undefined
  const known = (otherwise: Effect.Effect<Place, Failure>) =>
    Effect.suspend(() => found === undefined ? otherwise : Effect.succeed(found))
  return known(
    turn.withPermits(1)(known(Effect.tap(find, (place) => {
      found = place
    })))
  )
}

const makeStore = (options: Options, isKeyringWanted: boolean) =>
  Effect.gen(function*() {
    const host = yield* HostEnvironment.HostEnvironment
    const paths = yield* Path.Path
    const load = yield* KeyringModule.KeyringLoader
    const folder = FileStore.stateDirectory(options.app, host, paths)
    const directory = options.directory ?? (folder === undefined ? undefined : paths.join(folder, "logins"))
    const fileStore = yield* FileStore.make({ directory: () => directory, maxBytes, maxAge: Duration.infinity })
    const turns = yield* Turns.make((fault) => fault === "busy" ? busy : fromFiles(fault))
    const files = inFiles(fileStore, directory)

    /** Fails with why there is none, in words. */
    const keyring = Effect.gen(function*() {
      const module = yield* load
      const keyring = Keyring.make({
        module,
        service: options.app,
        partSize: host.platform === "win32" ? partOnWindows : maxBytes * 2,
        maxBytes,
        patience
      })
      yield* keyring.probe
      return inKeyring(keyring)
    }).pipe(
      Effect.mapError((error) =>
        typeof error === "string" ? faults[error] : "@napi-rs/keyring is not installed, or not for this system"
      ),
      Effect.timeoutFail({ duration: options.patience, onTimeout: () => faults.silent })
    )

    const instead = (why: string): Effect.Effect<Place, Failure> =>
      options.strict ? Effect.fail(unavailable(why)) : Effect.as(
        RuntimeLog.warning(`Logins are kept in ${files.where} instead of a keyring: ${why}.`),
        { ...files, where: `${files.where} (${why})` }
      )

    const place = isKeyringWanted
      ? foundOnce(keyring.pipe(
        Effect.map((keyring) => options.strict ? keyring : overFiles(keyring, files)),
        Effect.catchAll(instead)
      ))
      : Effect.succeed(files)

    const prepared = directory === undefined
      ? Effect.fail(unavailable(nowhere))
      : Effect.mapError(fileStore.prepared, fromFiles)

    // Most servers want no login, and for those no keyring is opened and nobody is warned: an empty file says that there is
    // one, and nothing of it.
    const mark = (key: string): string => JSON.stringify(["a login is kept", key])
    const marked = (
      place: Place,
      change: Effect.Effect<void, PlatformError.PlatformError>
    ): Effect.Effect<void, Failure> =>
      directory === undefined || place.isFiles ? Effect.void : Effect.mapError(change, fromFiles)
    const mayBeThere = (key: string): Effect.Effect<boolean> =>
      directory === undefined || !isKeyringWanted
        ? Effect.succeed(true)
        : Effect.match(fileStore.present, {
          onFailure: () => true,
          onSuccess: (has) => has(key) || has(mark(key))
        })

    return TokenStore.TokenStore.of({
      where: Effect.match(place, {
        onFailure: ({ detail }) => `nowhere: ${detail}`,
        onSuccess: ({ where }) => where
      }),
      get: (key) =>
        Effect.flatMap(
          mayBeThere(key),
          (may) => may ? Effect.flatMap(place, ({ get }) => get(key)) : Effect.succeed(Option.none())
        ),
      set: (key, secret) =>
        Effect.flatMap(place, (place) =>
          Effect.zipRight(marked(place, fileStore.set(mark(key), "")), place.set(key, secret))),
      remove: (key) =>
        Effect.flatMap(place, (place) =>
          Effect.zipRight(place.remove(key), marked(place, fileStore.remove(mark(key))))),
      locked: (key) => (effect) => Effect.flatMap(prepared, (directory) => turns.take(directory, key)(effect))
    })
  })

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options?: Partial<Options>
): Effect.Effect<TokenStore.TokenStore["Type"], never, FileSystem.FileSystem | Path.Path> =>
  makeStore({ ...defaults, ...options }, true)

const provided = (
  store: Effect.Effect<TokenStore.TokenStore["Type"], never, FileSystem.FileSystem | Path.Path>
): Layer.Layer<TokenStore.TokenStore> =>
  Layer.effect(TokenStore.TokenStore, store).pipe(Layer.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer)))

/**
 * The keyring, if there is one that works, and files otherwise. That is found out when a login is first read or kept, and
 * a warning says so if it is files.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<TokenStore.TokenStore> => provided(make(options))

/**
 * The keyring, or nothing.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerKeyring = (options?: Partial<Omit<Options, "strict">>): Layer.Layer<TokenStore.TokenStore> =>
  layer({ ...options, strict: true })

/**
 * Files, whatever else there is.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFile = (
  options?: Partial<Pick<Options, "app" | "directory">>
): Layer.Layer<TokenStore.TokenStore> => provided(makeStore({ ...defaults, ...options }, false))
