/**
 * Changes of a native file that keep its comments and its formatting. A change is checked before it is written, and it
 * replaces the file at once, so that a reader or a crash never leaves half of it.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Jsonc from "jsonc-parser"
import * as ConfigFile from "./ConfigFile.ts"
import * as ConfigFiles from "./ConfigFiles.ts"

/** A native file that can be changed. Its path may not exist yet. */
export interface NativeFile {
  readonly path: string
  readonly scope: "project" | "user"
  /** An empty object for a file that does not exist. */
  readonly text: string
  readonly decoded: ConfigFile.ConfigFile
  /** The key of the table that has its servers. */
  readonly root: string
}

/** The servers and questions as a native file has them, and the hosts whose files are read too. */
export interface Content {
  readonly mcpServers?: { readonly [name: string]: object }
  readonly inputs?: ReadonlyArray<{ readonly id: string }>
  readonly imports?: ReadonlyArray<string>
}

/** Why a file is not changed, and for one that is not JSON what to do by hand. */
export interface Refusal {
  readonly detail: string
  readonly byHand?: string
}

/** One change; without a value the part is removed, and `-1` at the end of a path appends to a list. */
interface Change {
  readonly path: ReadonlyArray<string | number>
  readonly value: unknown
}

const originOf = (scope: NativeFile["scope"]) => scope === "user" ? "home" : "workspace"

const decode = (text: string, { path, scope }: Pick<NativeFile, "path" | "scope">) =>
  ConfigFile.decode(Buffer.from(text), { host: "native", scope, origin: originOf(scope), path })

const refuse = (detail: string, byHand?: string) =>
  Effect.fail<Refusal>({ detail, ...(byHand === undefined ? {} : { byHand }) })

/** Reads the first of these paths that is a file, else the first path; fails with a sentence if it cannot be changed. */
export const open = Effect.fnUntraced(function*(paths: ReadonlyArray<string>, scope: NativeFile["scope"]) {
  const files = yield* ConfigFiles.ConfigFiles
  const path = Option.getOrElse(yield* Effect.findFirst(paths, files.exists), () => paths[0] ?? "")
  const content = yield* files.read(path, { origin: originOf(scope) })
  if (content?._tag === "Refused") return yield* refuse(content.detail)
  const text = content === undefined ? "" : new TextDecoder().decode(content.bytes)
  const decoded = yield* decode(text, { path, scope })
  const { document, issues } = decoded
  const fault = issues.find(({ server, severity }) => severity === "error" && server === undefined)
  if (fault !== undefined) {
    return yield* refuse(`${fault.line === undefined ? "" : `line ${fault.line}: `}${fault.message}`)
  }
  // a second key beside the one in use would hide its servers
  const used = decoded.items[0]?.provenance.pointer[0]
  const root = typeof used === "string"
    ? used
    : document.root?.has("mcp_servers") === true && !document.root.has("mcpServers")
    ? "mcp_servers"
    : "mcpServers"
  const isEmpty = issues.some(({ kind }) => kind === "empty-file")
  const file: NativeFile = { path, scope, text: isEmpty ? `${text}{}\n` : text, decoded, root }
  return file
})

/** A comma, and a comment on the same line, behind the last part of a table or list. */
const behind = /^(\s*,)?[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/)?/

/** The text with one change. Only the part that changes is formatted: as the rest of the file, as far as that shows. */
const edited = (jsonc: typeof Jsonc, text: string, { path, value }: Change): string => {
  const { applyEdits, findNodeAtLocation, modify, parseTree } = jsonc
  if (value === undefined) return applyEdits(text, modify(text, [...path], undefined, {}))
  const eol = text.includes("\r\n") ? "\r\n" : "\n"
  const unit = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  "
  const tree = parseTree(text, undefined, { allowTrailingComma: true })
  const nodeAt = (path: Change["path"]) => tree && findNodeAtLocation(tree, [...path])
  /** The line break and the indentation of the line that an offset is in. */
  const lineOf = (offset: number): string => eol + /[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1))![0]
  const written = (value: unknown, line: string): string => JSON.stringify(value, null, unit).replaceAll("\n", line)
  const replaced = path.at(-1) === -1 ? undefined : nodeAt(path)
  if (replaced !== undefined) {
    return applyEdits(text, [{ ...replaced, content: written(value, lineOf(replaced.offset)) }])
  }
  const [key, parents] = [path.at(-1)!, path.slice(0, -1)]
  const parent = nodeAt(parents)
  if (parent === undefined) {
    return edited(jsonc, text, { path: parents, value: key === -1 ? [value] : { [key]: value } })
  }
  if (parent.type !== (key === -1 ? "array" : "object")) throw new Error(`"${parents.join(".")}" has another type`)
  const label = key === -1 ? "" : `${JSON.stringify(key)}: `
  const last = parent.children?.at(-1)
  const from = last === undefined ? parent.offset + 1 : last.offset + last.length
  const [tail, comma] = last === undefined ? ["", ""] : behind.exec(text.slice(from))!
  const end = parent.offset + parent.length - 1
  const rest = text.slice(from + tail.length, end)
  const line = lineOf(parent.offset)
  const isOneLine = last !== undefined && !text.slice(parent.offset, end).includes("\n")
  const content = isOneLine
    ? ` ${label}${JSON.stringify(value)}`
    : `${line}${unit}${label}${written(value, line + unit)}${rest.includes("\n") ? "" : line}`
  return applyEdits(text, [
    { offset: from, length: 0, content: last === undefined || comma ? "" : "," },
    { offset: from + tail.length, length: 0, content }
  ])
}

/** The lines of a TOML file, for a person to paste. */
const toml = ({ imports, inputs, mcpServers = {} }: Content) =>
  Effect.map(Effect.promise(() => import("smol-toml")), ({ stringify }) =>
    stringify({
      ...(imports === undefined ? {} : { imports }),
      ...(inputs === undefined ? {} : { inputs }),
      ...(Object.keys(mcpServers).length === 0 ? {} : { mcp_servers: mcpServers })
    }).trim())

/** The changed text, if all of the file and the servers of these names can be used. */
const change = Effect.fnUntraced(
  function*(
    file: NativeFile,
    changes: ReadonlyArray<Change>,
    byHand: Effect.Effect<string>,
    names: ReadonlyArray<string>
  ) {
    if (!/\.jsonc?$/i.test(file.path)) return yield* refuse("only JSON is changed here", yield* byHand)
    const jsonc = yield* Effect.promise(() => import("jsonc-parser"))
    const text = yield* Effect.try({
      try: () => changes.reduce((text, change) => edited(jsonc, text, change), file.text),
      catch: (error): Refusal => ({ detail: error instanceof Error ? error.message : "it has another form" })
    })
    const { issues } = yield* decode(text, file)
    const fault = issues.find(({ server, severity }) =>
      severity === "error" && (server === undefined || names.includes(server))
    )
    return fault === undefined ? text : yield* refuse(`nothing was written: ${fault.message}`)
  }
)

/** The text with what is not in the file yet; a server of the same name is replaced as a whole. */
export const add = (file: NativeFile, content: Content): Effect.Effect<string, Refusal> => {
  const { imports = [], inputs = [], mcpServers = {} } = content
  const known = new Set(file.decoded.inputs.map(({ id }) => id))
  const changes = [
    ...Object.entries(mcpServers).map(([name, value]): Change => ({ path: [file.root, name], value })),
    ...inputs.filter(({ id }) => !known.has(id)).map((value): Change => ({ path: ["inputs", -1], value })),
    ...imports.filter((host) => file.decoded.imports?.includes(host) !== true)
      .map((value): Change => ({ path: ["imports", -1], value }))
  ]
  return change(file, changes, toml(content), Object.keys(mcpServers))
}

/** The text without one of its servers. */
export const remove = (
  file: NativeFile,
  { provenance: { pointer } }: ConfigFile.ConfigFile["items"][number]
): Effect.Effect<string, Refusal> =>
  change(file, [{ path: pointer, value: undefined }], Effect.succeed(`# remove the table ${pointer.join(".")}`), [])

/** Writes the text in place of the file, with the mode that it has; a new file of the user is for the user alone. */
export const write = ({ path, scope }: Pick<NativeFile, "path" | "scope">, text: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    // a link stays a link
    const real = yield* Effect.orElseSucceed(fs.realPath(path), () => path)
    const folder = paths.dirname(real)
    yield* fs.makeDirectory(folder, { recursive: true, mode: scope === "user" ? 0o700 : 0o755 })
    const mode = yield* Effect.match(fs.stat(real), {
      onFailure: () => scope === "user" ? 0o600 : 0o644,
      onSuccess: (info) => info.mode & 0o777
    })
    const temporary = yield* fs.makeTempFileScoped({ directory: folder, prefix: ".mcp-client-" })
    yield* fs.writeFileString(temporary, text)
    yield* fs.chmod(temporary, mode)
    yield* fs.rename(temporary, real)
  }).pipe(
    Effect.scoped,
    Effect.mapError(({ message }): Refusal => ({ detail: `it cannot be written: ${message}` }))
  )
