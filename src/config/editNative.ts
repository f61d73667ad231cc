/**
 * Changes of a native file that keep its comments and its formatting. A change is checked before it is written, and it
 * replaces the file at once, so that a reader or a crash never leaves half of it.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Jsonc from "jsonc-parser"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as ConfigFile from "./ConfigFile.ts"
import * as ConfigFiles from "./ConfigFiles.ts"
import type * as ConfigIssue from "./ConfigIssue.ts"
import * as Document from "./document.ts"

/** A native file that can be changed. Its path may not exist yet. */
export interface NativeFile {
  readonly path: string
  readonly scope: "project" | "user"
  /** As it was read; nothing for a file that does not exist. */
  readonly bytes: Uint8Array | undefined
  /** An empty object for a file that does not exist. */
  readonly text: string
  readonly decoded: ConfigFile.ConfigFile
  /** The key of the table that has its servers. */
  readonly root: string
}

/** Servers and inputs as a native file has them, and the hosts whose files are read too. */
export interface Content {
  readonly mcpServers?: { readonly [name: string]: object }
  readonly inputs?: ReadonlyArray<{ readonly id: string }>
  readonly imports?: ReadonlyArray<string>
}

/** The reason why a file is not changed, and for a file that is not JSON the lines to write by hand. */
export interface Refusal {
  readonly path: string
  readonly detail: string
  readonly byHand?: string
}

/** One change; without a value the part is removed, and `-1` at the end of a path appends to a list. */
interface Change {
  readonly path: ReadonlyArray<string | number>
  readonly value: unknown
}

const originOf = (scope: NativeFile["scope"]) => scope === "user" ? "home" : "workspace"

const decode = (bytes: Uint8Array, { path, scope }: Pick<NativeFile, "path" | "scope">) =>
  ConfigFile.decode(bytes, { host: "native", scope, origin: originOf(scope), path })

const refuse = (path: string, detail: string, byHand?: string) =>
  Effect.fail<Refusal>({ path, detail, ...(byHand === undefined ? {} : { byHand }) })

const sentence = ({ line, message }: ConfigIssue.ConfigIssue): string =>
  `${line === undefined ? "" : `line ${line}: `}${message}`

const isToml = (path: string): boolean => /\.toml$/i.test(path)

/** Reads the first of these paths that is a file, else the first path; refuses a file that cannot be changed. */
export const open = Effect.fnUntraced(function*(paths: ReadonlyArray<string>, scope: NativeFile["scope"]) {
  const files = yield* ConfigFiles.ConfigFiles
  const path = Option.getOrElse(yield* Effect.findFirst(paths, files.exists), () => paths[0] ?? "")
  const content = yield* files.read(path, { origin: originOf(scope) })
  if (content?._tag === "Refused") return yield* refuse(path, content.detail)
  const bytes = content?.bytes
  const decoded = yield* decode(bytes ?? new Uint8Array(), { path, scope })
  const { document, issues } = decoded
  const fault = issues.find(({ server, severity }) => severity === "error" && server === undefined)
  if (fault !== undefined) return yield* refuse(path, sentence(fault))
  // a second key beside the one in use would hide its servers
  const used = decoded.items[0]?.provenance.pointer[0]
  const keys = isToml(path) ? ["mcp_servers", "mcpServers"] as const : ["mcpServers", "mcp_servers"] as const
  const root = typeof used === "string" ? used : keys.find((key) => document.root?.has(key) === true) ?? keys[0]
  // bytes that are not UTF-8 are a fault of the document
  const text = new TextDecoder().decode(bytes)
  const isEmpty = issues.some(({ kind }) => kind === "empty-file")
  const before = text === "" || text.endsWith("\n") ? text : `${text}\n`
  const file: NativeFile = {
    path,
    scope,
    bytes,
    text: isEmpty && !isToml(path) ? `${before}{}\n` : text,
    decoded,
    root
  }
  return file
})

/** The rest of a line, if it is a comment or nothing. */
const remark = /^[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/[ \t]*)?/
const remarkLine = new RegExp(`${remark.source}\\r?\\n`)

const endOf = ({ length, offset }: Jsonc.Node): number => offset + length

/** The offset behind the comma that follows an offset, past comments. */
const behindComma = ({ createScanner }: typeof Jsonc, text: string, offset: number): number | undefined => {
  const scanner = createScanner(text, true)
  scanner.setPosition(offset)
  scanner.scan()
  const at = scanner.getTokenOffset()
  return text[at] === "," ? at + 1 : undefined
}

/** The text without a part of a table or list, without one comma, and without the line if no other part is on it. */
const without = (jsonc: typeof Jsonc, text: string, part: Jsonc.Node, parent: Jsonc.Node): string => {
  const all = parent.children ?? []
  const before = all[all.indexOf(part) - 1]
  let [left, from, to] = [text, part.offset, endOf(part)]
  const own = behindComma(jsonc, text, to)
  if (own !== undefined && !text.slice(to, own).includes("\n")) to = own
  else {
    const comma = own ?? (before && behindComma(jsonc, text, endOf(before)))
    if (comma !== undefined) left = text.slice(0, comma - 1) + text.slice(comma)
    if (comma !== undefined && comma <= from) [from, to] = [from - 1, to - 1]
  }
  const head = /[ \t]*$/.exec(left.slice(left.lastIndexOf("\n", from - 1) + 1, from))!
  const line = head.index === 0 ? remarkLine.exec(left.slice(to)) : null
  const space = /^[ \t]*/.exec(left.slice(to))![0].length
  const next = left[to + space]
  const isLast = next === "\r" || next === "\n" || next === "}" || next === "]"
  if (line !== null) [from, to] = [from - head[0].length, to + line[0].length]
  else {
    if (isLast) from -= head[0].length
    if (next !== "}" && next !== "]") to += space
  }
  left = left.slice(0, from) + left.slice(to)
  const [start, end] = [parent.offset + 1, endOf(parent) - 1 - (text.length - left.length)]
  return left.slice(start, end).trim() === "" ? left.slice(0, start) + left.slice(end) : left
}

/** The text with one change. Only the part that changes is formatted: as the rest of the file, as far as that shows. */
const edited = (jsonc: typeof Jsonc, text: string, { path, value }: Change): string => {
  const { findNodeAtLocation, getNodeValue, parseTree } = jsonc
  const tree = parseTree(text, undefined, { allowTrailingComma: true })
  if (tree === undefined) throw new Error("its top level is not an object")
  const nodeAt = (path: Change["path"]) => findNodeAtLocation(tree, [...path])
  const replace = (from: number, to: number, content: string) => text.slice(0, from) + content + text.slice(to)
  const node = path.at(-1) === -1 ? undefined : nodeAt(path)
  if (value === undefined) {
    const part = node?.parent?.type === "property" ? node.parent : node
    const parent = part?.parent
    if (part === undefined || parent === undefined) throw new Error(`"${path.join(".")}" does not exist`)
    return without(jsonc, text, part, parent)
  }
  const eol = text.includes("\r\n") ? "\r\n" : "\n"
  const unit = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  "
  /** The line break and the indentation of the line that an offset is in. */
  const lineOf = (offset: number): string => eol + /[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1))![0]
  const written = (value: unknown, line: string): string => JSON.stringify(value, null, unit).replaceAll("\n", line)
  if (node !== undefined) {
    return JSON.stringify(getNodeValue(node)) === JSON.stringify(value)
      ? text
      : replace(node.offset, endOf(node), written(value, lineOf(node.offset)))
  }
  const [key, parents] = [path.at(-1)!, path.slice(0, -1)]
  const parent = nodeAt(parents)
  if (parent === undefined) {
    return edited(jsonc, text, { path: parents, value: key === -1 ? [value] : { [key]: value } })
  }
  if (parent.type !== (key === -1 ? "array" : "object")) throw new Error(`"${parents.join(".")}" has another type`)
  const label = key === -1 ? "" : `${JSON.stringify(key)}: `
  const last = parent.children?.at(-1)
  const lastEnd = last === undefined ? parent.offset + 1 : endOf(last)
  const afterComma = last && behindComma(jsonc, text, lastEnd)
  const from = afterComma ?? lastEnd
  const tail = last === undefined ? "" : remark.exec(text.slice(from))![0].trimEnd()
  const end = endOf(parent) - 1
  const rest = text.slice(from + tail.length, end)
  const line = lineOf(parent.offset)
  const isOneLine = last !== undefined && !text.slice(parent.offset, end).includes("\n")
  const content = isOneLine
    ? ` ${label}${JSON.stringify(value)}`
    : `${line}${unit}${label}${written(value, line + unit)}${rest.includes("\n") ? "" : line}`
  const comma = last === undefined || afterComma !== undefined ? "" : ","
  return replace(lastEnd, from + tail.length, `${comma}${text.slice(lastEnd, from)}${tail}${content}`)
}

/** A key in the name of a TOML table. */
const tomlKey = (key: string | number): string => /^[\w-]+$/.test(`${key}`) ? `${key}` : JSON.stringify(key)

/** The header of a TOML table. */
const tomlTable = (path: ReadonlyArray<string | number>): string => `[${path.map(tomlKey).join(".")}]`

/** The lines that a person writes into a TOML file for these changes. */
const toml = ({ decoded, root }: NativeFile, { imports, inputs, mcpServers }: Required<Content>) =>
  Effect.map(Effect.promise(() => import("smol-toml")), ({ stringify }) => {
    const known = decoded.imports ?? []
    const replaced = [
      ...inputs.filter(({ id }) => indexOfInput(decoded, id) !== -1).map(({ id }) => `the input ${tomlKey(id)}`),
      ...decoded.items.filter(({ name }) => Object.hasOwn(mcpServers, name))
        .map(({ provenance }) => `the table ${tomlTable(provenance.pointer)}`)
    ]
    return [
      ...(imports.length === 0 ? [] : [
        `# at the top of the file${known.length === 0 ? "" : ", in place of the imports there"}`,
        stringify({ imports: [...known, ...imports] }).trim()
      ]),
      ...replaced.map((part) => `# in place of ${part}`),
      ...(inputs.length === 0 ? [] : [stringify({ inputs }).trim()]),
      ...(Object.keys(mcpServers).length === 0 ? [] : [stringify({ [root]: mcpServers }).trim()])
    ].join("\n")
  })

/** The changed text, if all of the file and the servers of these names can be used. */
const change = Effect.fnUntraced(
  function*(
    file: NativeFile,
    changes: ReadonlyArray<Change>,
    byHand: Effect.Effect<string>,
    names: ReadonlyArray<string>
  ) {
    const { decoded, path, text } = file
    if (changes.length === 0) return text
    if (isToml(path)) return yield* refuse(path, "only JSON files can be edited", yield* byHand)
    // the reader takes the last of two equal keys, and a change the first
    const changed = changes.map(({ path }) => UntrustedText.excerpt(path.join("/")))
    const twice = decoded.issues.find(({ at = "", kind }) =>
      kind === "duplicate-key" && changed.some((pointer) => `${at}/`.startsWith(`${pointer}/`))
    )
    if (twice !== undefined) return yield* refuse(path, sentence(twice))
    const jsonc = yield* Effect.promise(() => import("jsonc-parser"))
    const edit = yield* Effect.try({
      try: () => changes.reduce((text, change) => edited(jsonc, text, change), text),
      catch: (error): Refusal => ({
        path,
        detail: error instanceof Error ? error.message : "it has an unexpected structure"
      })
    })
    const { issues } = yield* decode(Buffer.from(edit), file)
    const fault = issues.find(({ server, severity }) =>
      severity === "error" && (server === undefined || names.includes(server))
    )
    return fault === undefined ? edit : yield* refuse(path, `nothing was written: ${fault.message}`)
  }
)

/** The index of the input with this id in the file, or -1. */
const indexOfInput = ({ document }: ConfigFile.ConfigFile, id: string): number =>
  Document.list(document.root?.get("inputs")).findIndex((input) => Document.table(input).get("id") === id)

/** The text with the content added; a server of the same name and an input of the same id are replaced. */
export const add = (file: NativeFile, content: Content): Effect.Effect<string, Refusal> => {
  const { inputs = [], mcpServers = {} } = content
  const imports = (content.imports ?? []).filter((host) => file.decoded.imports?.includes(host) !== true)
  const changes = [
    ...Object.entries(mcpServers).map(([name, value]): Change => ({ path: [file.root, name], value })),
    ...inputs.map((value): Change => ({ path: ["inputs", indexOfInput(file.decoded, value.id)], value })),
    ...imports.map((value): Change => ({ path: ["imports", -1], value }))
  ]
  return change(file, changes, toml(file, { imports, inputs, mcpServers }), Object.keys(mcpServers))
}

/** The text without one of its servers. */
export const remove = (
  file: NativeFile,
  { provenance: { pointer } }: ConfigFile.ConfigFile["items"][number]
): Effect.Effect<string, Refusal> =>
  change(file, [{ path: pointer, value: undefined }], Effect.succeed(`# remove the table ${tomlTable(pointer)}`), [])

/** Replaces the file by the text and keeps its mode; only the user can read a new file of the user. */
export const write = ({ bytes, path, scope }: Pick<NativeFile, "bytes" | "path" | "scope">, text: string) =>
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
    const now = Option.getOrUndefined(yield* Effect.option(fs.readFile(real)))
    const isSame = now === undefined ? bytes === undefined : bytes !== undefined && Buffer.compare(now, bytes) === 0
    if (!isSame) {
      return yield* refuse(path, "it has changed since it was read, so nothing was written: run the command again")
    }
    yield* fs.rename(temporary, real)
  }).pipe(
    Effect.scoped,
    Effect.catchTags({
      BadArgument: ({ message }) => refuse(path, `it cannot be written: ${message}`),
      SystemError: ({ message }) => refuse(path, `it cannot be written: ${message}`)
    })
  )
