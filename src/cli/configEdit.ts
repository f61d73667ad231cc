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
import type * as Command from "./Command.ts"
import * as Failure from "./failure.ts"
import * as Screen from "./Screen.ts"
import { Usage } from "./Usage.ts"

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
      return yield* new McpError.ConfigurationError({ server: Failure.fileItself, path, detail })
    }
    yield* (yield* Screen.Screen).out(...byHand.split("\n"))
    return yield* new Usage({ detail: `${path}: ${detail}.`, next: "Change it by hand, as on the standard output." })
  })

const open = ({ root }: Command.Shared, isWorkspace: boolean) =>
  Effect.gen(function*() {
    const scope = isWorkspace ? "project" : "user"
    const directory = root === undefined ? undefined : (yield* Path.Path).resolve(root)
    const paths = yield* ConfigDiscovery.nativePaths(scope, { root: directory, directory })
    return yield* Effect.catchAll(EditNative.open(paths, scope), failing)
  })

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
  Effect.gen(function*() {
    const isWorkspace = isSet("workspace")
    const file = yield* open(shared, isWorkspace)
    if (!isSet("force") && file.decoded.items.some((item) => item.name === name)) {
      return yield* new Usage({
        detail: `There is a server "${name}" in ${file.path}.`,
        next: "Replace it with --force, or take another name."
      })
    }
    yield* save(shared, file, EditNative.add(file, content), { added: [name] })
    if (isWorkspace) {
      yield* (yield* Screen.Screen).note(`It is started once it is approved: mcp-runtime approve ${name}`)
    }
  }).pipe(Effect.provide(disk))

export const remove = ({ isSet, shared }: Command.Invocation, name: string) =>
  Effect.gen(function*() {
    const file = yield* open(shared, isSet("workspace"))
    const item = file.decoded.items.find((item) => item.name === name)
    if (item === undefined) {
      return yield* new Usage({
        detail: `There is no server "${name}" in ${file.path}.`,
        next: "See where it is with mcp-runtime config; --workspace changes the file of the workspace."
      })
    }
    yield* save(shared, file, EditNative.remove(file, item), { removed: [name] })
  }).pipe(Effect.provide(disk))

/** Reads the servers of other hosts from now on. */
export const importHosts = (shared: Command.Shared, hosts: ReadonlyArray<string>, isWorkspace = false) =>
  Effect.gen(function*() {
    const file = yield* open(shared, isWorkspace)
    yield* save(shared, file, EditNative.add(file, { imports: hosts }), { imported: hosts })
  }).pipe(Effect.provide(disk))
