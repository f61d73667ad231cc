// @effect-diagnostics strictEffectProvide:off -- files are changed only by few commands
/** Changes of the native file of the user or of the workspace, for `config add`, `config remove`, `config import`, `add`. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as ConfigFiles from "../config/ConfigFiles.ts"
import * as EditNative from "../config/editNative.ts"
import * as McpError from "../McpError.ts"
import * as FileStore from "../node/FileStore.ts"
import type * as Command from "./Command.ts"
import { Usage } from "./Command.ts"
import * as Screen from "./Screen.ts"

/** The document of a command that changes a file. */
export const Edited = Schema.Struct({
  file: Schema.String,
  /** The names of servers. */
  added: Schema.Array(Schema.String),
  removed: Schema.Array(Schema.String),
  /** The ids of hosts. */
  imported: Schema.Array(Schema.String)
})

const disk = Layer.provideMerge(ConfigFiles.layer, Layer.merge(NodeFileSystem.layer, NodePath.layer))

/** The lines to write by hand go to the standard output, so that they can be appended to the file. */
const failing = ({ byHand, detail, path }: EditNative.Refusal) =>
  Effect.gen(function*() {
    if (byHand === undefined) {
      return yield* new McpError.ConfigurationError({ server: "", path, detail })
    }
    yield* (yield* Screen.Screen).out(...byHand.split("\n"))
    return yield* new Usage({ detail: `${path}: ${detail}.`, next: "Change it by hand, as on the standard output." })
  })

/** Runs one change after another, also of several processes, where the environment names a folder for the lock. */
const inTurn = <A, E, R>(path: string, change: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const directory = yield* FileStore.directoryOf(undefined, "state", ConfigDiscovery.defaults.app, "edits")
    if (directory === undefined) return yield* change
    const { locked } = yield* FileStore.make({ directory })
    const done = yield* locked(path)(Effect.either(change)).pipe(
      Effect.catchAll(({ message }) => failing({ path, detail: `it cannot be locked: ${message}` }))
    )
    return yield* done
  })

/** Reads the file of the user or of the workspace, and changes it before another process reads it to do the same. */
const editing = <A, E, R>(
  { root }: Command.Shared,
  isWorkspace: boolean,
  change: (file: EditNative.NativeFile) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    const scope = isWorkspace ? "project" : "user"
    const directory = root === undefined ? undefined : (yield* Path.Path).resolve(root)
    const paths = yield* ConfigDiscovery.nativePaths(scope, { root: directory, directory })
    const open = Effect.catchAll(EditNative.open(paths, scope), failing)
    return yield* inTurn(paths[0] ?? "", Effect.flatMap(open, change))
  }).pipe(Effect.provide(disk))

/** Writes a changed text, and says where. */
const save = (
  { json }: Command.Shared,
  file: EditNative.NativeFile,
  text: Effect.Effect<string, EditNative.Refusal>,
  { added = [], imported = [], removed = [] }: Partial<typeof Edited.Type>
) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    yield* Effect.flatMap(text, (text) => EditNative.write(file, text)).pipe(
      Effect.catchAll(failing)
    )
    if (json) yield* screen.json(Edited, { file: file.path, added, removed, imported })
    const done = [["Added", added], ["Removed", removed], ["Now reading the servers of", imported]] as const
    for (const [what, names] of done) {
      if (names.length > 0) yield* screen.note(`${what} ${names.join(", ")}, in ${file.path}`)
    }
  })

/** Adds a server, with the questions that it asks, as `--workspace` and `--force` say. */
export const add = (
  { isSet, shared }: Command.Invocation,
  name: string,
  content: Pick<EditNative.Content, "mcpServers" | "inputs">
) =>
  editing(shared, isSet("workspace"), (file) =>
    Effect.gen(function*() {
      if (!isSet("force") && file.decoded.items.some((item) => item.name === name)) {
        return yield* new Usage({
          detail: `There is a server "${name}" in ${file.path}.`,
          next: "Replace it with --force, or take another name."
        })
      }
      yield* save(shared, file, EditNative.add(file, content), { added: [name] })
      if (isSet("workspace")) {
        yield* (yield* Screen.Screen).note(`It is started once it is approved: mcp-runtime approve ${name}`)
      }
    }))

export const remove = ({ isSet, shared }: Command.Invocation, name: string) =>
  editing(shared, isSet("workspace"), (file) => {
    const item = file.decoded.items.find((item) => item.name === name)
    return item === undefined
      ? new Usage({
        detail: `There is no server "${name}" in ${file.path}.`,
        next: "See where it is with mcp-runtime config; --workspace changes the file of the workspace."
      })
      : save(shared, file, EditNative.remove(file, item), { removed: [name] })
  })

/** Reads the servers of other hosts from now on. */
export const importHosts = (shared: Command.Shared, hosts: ReadonlyArray<string>, isWorkspace = false) =>
  editing(
    shared,
    isWorkspace,
    (file) => save(shared, file, EditNative.add(file, { imports: hosts }), { imported: hosts })
  )
