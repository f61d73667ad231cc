/** Stores decisions of the user in files that only the user can read. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as ConfigFiles from "../config/ConfigFiles.ts"
import * as Trust from "../config/Trust.ts"
import * as TrustStore from "../config/TrustStore.ts"
import type * as McpEvent from "../McpEvent.ts"
import * as FileStore from "./FileStore.ts"

export interface Options extends Trust.Options {
  /** The application. Applications do not share decisions. */
  readonly app: string
  /** The folder of the files (default: `trust`, in the state folder of the application). */
  readonly directory: string | undefined
  /**
   * Signs the files with this key, which the application takes from a keyring. Without it, owner and mode protect the files
   * from other users, but not from programs of the same user.
   */
  readonly key: FileStore.Key | undefined
}

export const defaults: Options = {
  ...Trust.defaults,
  app: ConfigDiscovery.defaults.app,
  directory: undefined,
  key: undefined
}

/** The kinds of decisions. Each has its own folder, because processes watch only one of them. */
export type Room = "trust" | "pins" | "grants"

const directoryOf = (room: Room, { app, directory }: Pick<Options, "app" | "directory">) =>
  FileStore.directoryOf(directory, "state", app, room)

export const makeStore = (
  room: Room,
  options?: Partial<Pick<Options, "app" | "directory" | "key">>
): Effect.Effect<TrustStore.TrustStore["Type"], never, FileSystem.FileSystem | Path.Path> => {
  const all = { ...defaults, ...options }
  const make = (directory: string | undefined) => FileStore.make({ directory, key: all.key, maxAge: Duration.infinity })
  return Effect.flatMap(directoryOf(room, all), make)
}

/** The time for all writes of one decision. */
const settling = Duration.millis(50)

export const make = (
  custom?: Partial<Options>
): Effect.Effect<
  Trust.Trust["Type"],
  never,
  ConfigFiles.ConfigFiles | FileSystem.FileSystem | McpEvent.McpEvents | Path.Path | Scope.Scope
> =>
  Effect.gen(function*() {
    const options: Options = { ...defaults, ...custom }
    const store = yield* makeStore("trust", options)
    const trust = yield* Effect.provideService(Trust.make(options), TrustStore.TrustStore, store)
    const { watch } = yield* ConfigFiles.ConfigFiles
    const { join } = yield* Path.Path
    const directory = yield* directoryOf("trust", options)
    if (directory === undefined) return trust
    // Decisions of other processes apply too, because the user may answer in another window. A pause follows each change and
    // is not extended by later changes, which may arrive continuously.
    const elsewhere = Stream.suspend(() => watch([join(directory, "*.value")])).pipe(
      Stream.drop(1),
      Stream.buffer({ capacity: 1, strategy: "sliding" }),
      Stream.tap(() => Effect.sleep(settling))
    )
    return { ...trust, changes: Stream.merge(trust.changes, elsewhere, { haltStrategy: "left" }) }
  })

export const layer = (options?: Partial<Options>): Layer.Layer<Trust.Trust, never, McpEvent.McpEvents> =>
  Layer.scoped(Trust.Trust, make(options)).pipe(
    Layer.provide(ConfigFiles.layer),
    Layer.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer))
  )
