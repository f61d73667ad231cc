/**
 * From bytes to data: what every format has in common, and the choice of the parser. Those of TOML and YAML are loaded
 * when the first file of their kind is read.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as UntrustedText from "../../../text/UntrustedText.ts"
import type * as ConfigDocument from "../../ConfigDocument.ts"
import * as JsonDocument from "./jsonDocument.ts"
import { DocumentFault, lines, type Parse } from "./parsed.ts"

const json: ConfigDocument.Limits = { maxBytes: 16 * 1024 * 1024, maxDepth: 64, maxEntries: 250_000 }
/** Their parsers are slower, so that as much work is in fewer bytes. */
const slow: ConfigDocument.Limits = { maxBytes: 2 * 1024 * 1024, maxDepth: 64, maxEntries: 100_000 }

/** @internal */
export const defaults: { readonly [F in ConfigDocument.Format]: ConfigDocument.Limits } = {
  json,
  jsonc: json,
  toml: slow,
  yaml: slow
}

/** What hardly any host writes is parsed by packages that take longer to load than a file takes to read. */
const imported: { readonly [F in "toml" | "yaml"]: () => Promise<{ readonly parse: Parse }> } = {
  toml: () => import("./tomlDocument.ts"),
  yaml: () => import("./yamlDocument.ts")
}

const unloadable: Parse = () => {
  throw new DocumentFault("syntax", "the parser for this format could not be loaded")
}

const loaded = new Map<ConfigDocument.Format, Parse>()
const loading = new Map<ConfigDocument.Format, Promise<Parse>>()

/** What could not be loaded is tried again the next time. */
const load = async (format: "toml" | "yaml"): Promise<Parse> => {
  try {
    const { parse } = await imported[format]()
    loaded.set(format, parse)
    return parse
  } catch {
    return unloadable
  } finally {
    loading.delete(format)
  }
}

const isSlow = (format: ConfigDocument.Format): format is "toml" | "yaml" => format !== "json" && format !== "jsonc"

const parserOf = (format: ConfigDocument.Format): Parse =>
  isSlow(format) ? loaded.get(format) ?? unloadable : JsonDocument.parse

const begun = (format: "toml" | "yaml"): Promise<Parse> => {
  const known = loading.get(format) ?? load(format)
  if (!loaded.has(format)) loading.set(format, known)
  return known
}

/**
 * Begins to load what a format needs, while files of it are still read.
 *
 * @internal
 */
export const anticipate = (format: ConfigDocument.Format): void => {
  if (isSlow(format) && !loaded.has(format)) void begun(format)
}

/**
 * Waits for what these formats need.
 *
 * @internal
 */
export const ready = (formats: Iterable<ConfigDocument.Format>): Effect.Effect<void> =>
  Effect.suspend(() => {
    const missing = Array.from(new Set(formats)).filter(isSlow).filter((format) => !loaded.has(format))
    return missing.length === 0 ? Effect.void : Effect.promise(() => Promise.all(missing.map(begun)))
  })

/** More than any configuration has, and no more than can be looked into at once. */
const maxVariables = 100_000
const maxBraces = 300_000

const occursMore = (text: string, mark: string, most: number): boolean => {
  let count = 0
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) if (++count > most) return true
  return false
}

/** Every text is looked into for variables, several times, and each mark of one costs. */
const checkVariables = (text: string): void => {
  if (occursMore(text, "$", maxVariables) || occursMore(text, "{", maxBraces)) {
    throw new DocumentFault("too-many-entries", `more than ${maxVariables} variables`)
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const startsWith = (bytes: Uint8Array, ...first: ReadonlyArray<number>): boolean =>
  first.every((byte, at) => bytes[at] === byte)

const textOf = (bytes: Uint8Array): string => {
  if (startsWith(bytes, 0xff, 0xfe) || startsWith(bytes, 0xfe, 0xff)) {
    throw new DocumentFault("encoding", "this is UTF-16: save it as UTF-8")
  }
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw new DocumentFault("encoding", "this is no UTF-8")
  }
  // UTF-16 without its mark, or no text at all
  if (text.includes("\0")) throw new DocumentFault("encoding", "there are NUL characters in it")
  return text
}

/** Git's marks are what people look for first. */
const conflict = /^(?:<{7}|>{7})(?: |$)/m

const explained = (fault: DocumentFault, text: string): DocumentFault => {
  if (fault.kind !== "syntax") return fault
  const at = text.search(conflict)
  return at === -1
    ? fault
    : new DocumentFault("syntax", "there are conflict markers of a merge in it", lines(text)(at))
}

const faultOf = (error: unknown): DocumentFault =>
  error instanceof DocumentFault ? error : new DocumentFault("syntax", "the parser gave up")

const failed = (
  warnings: ReadonlyArray<ConfigDocument.DocumentIssue>,
  { detail, kind, line }: DocumentFault
): ConfigDocument.ConfigDocument => ({
  root: undefined,
  issues: [...warnings, { kind, severity: "error", line, detail: UntrustedText.excerpt(detail) }],
  line: () => undefined
})

const concluded = (
  text: string,
  before: ReadonlyArray<ConfigDocument.DocumentIssue>,
  parse: Parse,
  limits: ConfigDocument.Limits,
  format: ConfigDocument.Format
): ConfigDocument.ConfigDocument => {
  try {
    const { line, root, warnings } = parse(text, limits, format)
    const issues = [...before, ...warnings]
    if (root === undefined) {
      return { root: new Map(), issues: [...issues, { kind: "empty-file", severity: "warning" }], line }
    }
    return root instanceof Map
      ? { root, issues, line }
      : failed(issues, new DocumentFault("root-not-object", "expected a table at the top", line([])))
  } catch (error) {
    return failed(before, explained(faultOf(error), text))
  }
}

/**
 * A document whose format is ready, at once: dozens of files are understood when a program starts.
 *
 * @internal
 */
export const decodeReady = (
  bytes: Uint8Array,
  format: ConfigDocument.Format,
  limits?: Partial<ConfigDocument.Limits>
): ConfigDocument.ConfigDocument => {
  const allowed = { ...defaults[format], ...limits }
  if (bytes.length > allowed.maxBytes) {
    return failed([], new DocumentFault("file-too-large", `more than ${allowed.maxBytes} bytes`))
  }
  const hasMark = startsWith(bytes, 0xef, 0xbb, 0xbf)
  const warnings: ReadonlyArray<ConfigDocument.DocumentIssue> = hasMark
    ? [{ kind: "bom-stripped", severity: "warning" }]
    : []
  let text: string
  try {
    text = textOf(hasMark ? bytes.subarray(3) : bytes)
    checkVariables(text)
  } catch (error) {
    return failed(warnings, faultOf(error))
  }
  return concluded(text, warnings, parserOf(format), allowed, format)
}

/** @internal */
export const decode = (
  bytes: Uint8Array,
  format: ConfigDocument.Format,
  limits?: Partial<ConfigDocument.Limits>
): Effect.Effect<ConfigDocument.ConfigDocument> => Effect.map(ready([format]), () => decodeReady(bytes, format, limits))
