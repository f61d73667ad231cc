/**
 * Which of many paths may be there: hosts have hundreds of places, and hardly any is in use, so a folder is looked into
 * once instead of at every path through it.
 *
 * @internal
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** @internal */
export interface Requirements {
  readonly fs: FileSystem.FileSystem
  readonly path: Path.Path
  readonly timeout: Duration.Duration
}

/** Names on the way from the top, and the paths, as they were given, that end here. */
interface Node {
  readonly children: Map<string, Node>
  readonly ends: Array<string>
}

const empty = (): Node => ({ children: new Map(), ends: [] })

/** Volumes differ in what is the same name; too many paths are no harm. */
const folded = (name: string): string => name.normalize("NFC").toLowerCase()

const all = (node: Node): ReadonlyArray<string> => [
  ...node.ends,
  ...Array.from(node.children.values()).flatMap(all)
]

/**
 * Those of the paths and patterns that are not known to be absent. What cannot be looked into is not known.
 *
 * @internal
 */
export const make =
  ({ fs, path, timeout }: Requirements) => (paths: ReadonlyArray<string>): Effect.Effect<ReadonlySet<string>> => {
    const tops = new Map<string, Node>()
    for (const given of paths) {
      const absolute = path.resolve(given)
      const { root } = path.parse(absolute)
      let node = tops.get(root) ?? empty()
      tops.set(root, node)
      for (const name of absolute.slice(root.length).split(path.sep)) {
        const child = node.children.get(name) ?? empty()
        node.children.set(name, child)
        node = child
      }
      node.ends.push(given)
    }

    const names = (folder: string): Effect.Effect<ReadonlySet<string> | undefined> =>
      Effect.map(
        Effect.timeoutOption(Effect.disconnect(Effect.either(fs.readDirectory(folder))), timeout),
        Option.match({
          onNone: () => undefined,
          onSome: (listed) =>
            listed._tag === "Right"
              ? new Set(listed.right.map(folded))
              : listed.left._tag === "SystemError" && listed.left.reason === "NotFound"
              ? new Set<string>()
              : undefined
        })
      )

    const visit = (node: Node, folder: string): Effect.Effect<ReadonlyArray<string>> => {
      if (folder.includes("*")) return Effect.succeed(all(node))
      const children = Array.from(node.children)
      const into = (among: ReadonlyArray<readonly [string, Node]>) =>
        Effect.map(
          Effect.forEach(among, ([name, child]) => visit(child, path.join(folder, name)), { concurrency: "unbounded" }),
          (found) => [...node.ends, ...found.flat()]
        )
      // where there is one way only, going it is as cheap as looking for it
      if (children.length < 2) return into(children)
      return Effect.flatMap(names(folder), (there) =>
        there === undefined
          ? Effect.succeed(all(node))
          : into(children.filter(([name]) => name.includes("*") || there.has(folded(name)))))
    }

    return Effect.map(
      Effect.forEach(tops, ([root, node]) => visit(node, root), { concurrency: "unbounded" }),
      (found) => new Set(found.flat())
    )
  }
