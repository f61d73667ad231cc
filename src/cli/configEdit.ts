// @effect-diagnostics strictEffectProvide:off -- few commands edit files
/** Edits mcp-client.json of the user or the workspace, for `config add`, `config remove`, `config import` and `add`. */
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
import { Usage, usage } from "./Command.ts"
import * as Screen from "./Screen.ts"

/** The JSON document of a command that edits a file. */
export const Edited = Schema.Struct({
  file: Schema.String,
  /** The names of servers. */
  added: Schema.Array(Schema.String),
  removed: Schema.Array(Schema.String),
  /** The ids of hosts. */
  imported: Schema.Array(Schema.String)
})

const disk = Layer.provideMerge(ConfigFiles.layer, Layer.merge(NodeFileSystem.layer, NodePath.layer))

/** Prints the lines to add by hand to stdout, so that they can be appended to the file. */
const failing = ({ byHand, detail, path }: EditNative.Refusal) =>
  Effect.gen(function*() {
    if (byHand === undefined) return yield* new McpError.ConfigurationError({ server: "", path, detail })
    yield* (yield* Screen.Screen).out(...byHand.split("\n"))
    return yield* new Usage({
      detail: `${path}: ${detail}`,
      next: "Edit the file by hand: stdout has the lines to add."
    })
  })

/** Runs edits one at a time, across processes too, if there is a folder for the lock. */
const inTurn = <A, E, R>(path: string, change: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const directory = yield* FileStore.directoryOf(undefined, "state", ConfigDiscovery.defaults.app, "edits")
    if (directory === undefined) return yield* change
    const { locked } = yield* FileStore.make({ directory })
    const done = yield* locked(path)(Effect.either(change)).pipe(
      Effect.catchAll(({ message }) => failing({ path, detail: `cannot lock the file: ${message}` }))
    )
    return yield* done
  })

/** The new text of the file, and what changed. */
interface Change extends Partial<Omit<typeof Edited.Type, "file">> {
  readonly text: Effect.Effect<string, EditNative.Refusal>
}

/** Edits the file of the user or the workspace under a lock, and reports the change. */
const edit = (
  { json, root }: Command.Shared,
  isWorkspace: boolean,
  change: (file: EditNative.NativeFile) => Effect.Effect<Change, Usage>
) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const scope = isWorkspace ? "project" : "user"
    const directory = root === undefined ? undefined : (yield* Path.Path).resolve(root)
    const paths = yield* ConfigDiscovery.nativePaths(scope, { root: directory, directory })
    const changed = Effect.gen(function*() {
      const file = yield* EditNative.open(paths, scope)
      const { added = [], imported = [], removed = [], text } = yield* change(file)
      yield* EditNative.write(file, yield* text)
      return { file: file.path, added, removed, imported }
    })
    const edited = yield* inTurn(
      paths[0] ?? "",
      Effect.catchAll(changed, (error) => "_tag" in error ? Effect.fail(error) : failing(error))
    )
    if (json) yield* screen.json(Edited, edited)
    const { added, file, imported, removed } = edited
    const done = [["Added", added], ["Removed", removed], ["Importing the servers of", imported]] as const
    for (const [what, names] of done) {
      if (names.length > 0) yield* screen.note(`${what} ${names.join(", ")} in ${file}`)
    }
    if (isWorkspace && added.length > 0) {
      yield* screen.note(`Approve it before first use: mcp-runtime approve ${added.join(" ")}`)
    }
  }).pipe(Effect.provide(disk))

/** Adds a server and its inputs, as `--workspace` and `--force` say. */
export const add = (
  { isSet, shared }: Command.Invocation,
  name: string,
  content: Pick<EditNative.Content, "mcpServers" | "inputs">
) =>
  edit(shared, isSet("workspace"), (file) =>
    !isSet("force") && file.decoded.items.some((item) => item.name === name)
      ? usage(`the server "${name}" already exists in ${file.path}`, "Replace it with --force, or choose another name.")
      : Effect.succeed({ text: EditNative.add(file, content), added: [name] }))

export const remove = ({ isSet, shared }: Command.Invocation, name: string) =>
  edit(shared, isSet("workspace"), (file) => {
    const item = file.decoded.items.find((item) => item.name === name)
    return item === undefined
      ? usage(
        `the server "${name}" is not in ${file.path}`,
        "`mcp-runtime config` shows where it is; --workspace edits the file of the workspace."
      )
      : Effect.succeed({ text: EditNative.remove(file, item), removed: [name] })
  })

/** Adds hosts to `imports`. */
export const importHosts = (shared: Command.Shared, hosts: ReadonlyArray<string>, isWorkspace = false) =>
  edit(
    shared,
    isWorkspace,
    (file) => Effect.succeed({ text: EditNative.add(file, { imports: hosts }), imported: hosts })
  )
