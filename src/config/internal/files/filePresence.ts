// @effect-diagnostics nodeBuiltinImport:off
// Looking into dozens of folders at each start, with an Effect for each, costs ten times what the system takes.
/**
 * Which of many paths may be there: hosts have hundreds of places, and hardly any is in use, so a folder is looked into
 * once instead of at every path through it.
 *
 * @internal
 */
import type * as Path from "@effect/platform/Path"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { readdir } from "node:fs/promises"
import { wildcard } from "../../../text/wildcard.ts"

/** @internal */
export interface Requirements {
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

/** The names in a folder; nothing, if that cannot be known. */
const names = async (folder: string): Promise<ReadonlySet<string> | undefined> => {
  try {
    return new Set((await readdir(folder)).map(folded))
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT" ? new Set() : undefined
  }
}

const isPattern = (name: string): boolean => name.includes("*")

const isAmong = (there: ReadonlySet<string>, name: string): boolean =>
  isPattern(name) ? Array.from(there).some(wildcard(folded(name))) : there.has(folded(name))

const all = (node: Node, found: Set<string>): void => {
  for (const end of node.ends) found.add(end)
  for (const child of node.children.values()) all(child, found)
}

const visit = async (node: Node, folder: string, sep: string, found: Set<string>): Promise<void> => {
  if (isPattern(folder)) return all(node, found)
  for (const end of node.ends) found.add(end)
  // where there is one way only, going it is as cheap as looking for it
  const isOpen = node.children.size > 1 || Array.from(node.children.keys()).some(isPattern)
  const there = isOpen ? await names(folder) : undefined
  if (there === undefined && isOpen) return all(node, found)
  await Promise.all(
    Array.from(node.children, ([name, child]) =>
      there === undefined || isAmong(there, name)
        ? visit(child, folder.endsWith(sep) ? folder + name : folder + sep + name, sep, found)
        : undefined)
  )
}

/**
 * Those of the paths and patterns that are not known to be absent. What cannot be looked into is not known.
 *
 * @internal
 */
export const make =
  ({ path, timeout }: Requirements) => (paths: ReadonlyArray<string>): Effect.Effect<ReadonlySet<string>> => {
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
    const look = async () => {
      const found = new Set<string>()
      await Promise.all(Array.from(tops, ([root, node]) => visit(node, root, path.sep, found)))
      return found
    }
    return Effect.promise(look).pipe(
      Effect.timeoutOption(timeout),
      Effect.map(Option.getOrElse(() => new Set(paths)))
    )
  }
