// @effect-diagnostics nodeBuiltinImport:off -- Effect has no comparison of plain JSON
/** The result of a tool as text for a model, and its images, sounds and files beside it. */
import { isDeepStrictEqual } from "node:util"
import { isObject, type Json } from "../json/Json.ts"
import type * as ToolResult from "../tools/ToolResult.ts"

/** Content that is not text. `data` is base64 as it came, and `reference` is its name in the text. */
export interface Attachment {
  readonly _tag: "Image" | "Audio" | "Blob"
  readonly mimeType: string
  readonly data: string
  readonly reference: string
}

/** A result as text, as the server wrote it. */
export interface ResultText {
  readonly text: string
  readonly attachments: ReadonlyArray<Attachment>
  /** The places of JSON in the text, and its strings as they were before they were escaped. */
  readonly json: ReadonlyArray<{ readonly at: number; readonly end: number; readonly words: string }>
}

const maxString = 2_000
const maxKey = 128
const maxItems = 200
const maxDepth = 32

/** A longer text of the alphabet of base64 is bytes; a shorter one may be a name or a checksum. */
const minEncoded = 256

const isEncoded = (text: string): boolean =>
  text.length >= minEncoded &&
  (text.startsWith("data:") ? text.slice(0, 256).includes(";base64,") : /^[A-Za-z0-9+/_-]+={0,2}$/.test(text))

const shortened = (text: string, limit: number): string => {
  if (isEncoded(text)) return `(${text.length} characters of base64)`
  return text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length - limit} more characters)`
}

/** JSON on one line, of about `room` characters. It names what it leaves out, and bytes in base64. */
const boundedJson = (value: unknown, room = 8_000): string => {
  let text = ""
  const write = (value: unknown, depth: number): void => {
    if (typeof value === "string") text += JSON.stringify(shortened(value, maxString))
    else if (typeof value !== "object" || value === null) text += JSON.stringify(value) ?? "null"
    else if (depth >= maxDepth) text += "\"(nested deeper)\""
    else {
      const isList = Array.isArray(value)
      const fields = Object.entries(value).filter(([, item]) => isList || item !== undefined)
      text += isList ? "[" : "{"
      for (const [at, [key, item]] of fields.entries()) {
        if (at > 0) text += ","
        const isFull = at === maxItems || text.length >= room
        if (!isList) text += `${JSON.stringify(isFull ? "…" : shortened(key, maxKey))}:`
        write(isFull ? `(${fields.length - at} more)` : item, depth + 1)
        if (isFull) break
      }
      text += isList ? "]" : "}"
    }
  }
  write(value, 0)
  return text
}

/** JSON on one line, bounded only where it is nested deeper than the stack. */
const wholeJson = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? "null"
  } catch {
    return boundedJson(value, 1_000_000)
  }
}

/** Characters and values of JSON that are scanned beside its text. */
const maxWords = 64 * 1024
const maxValues = 20_000

/** The keys and strings of a value, each on its own line, because an order may need a line of its own. */
const wordsOf = (value: unknown): string => {
  const lines: Array<string> = []
  let room = maxWords
  // a loop, because a server decides how deep a value is nested
  const open: Array<unknown> = [value]
  for (let left = maxValues; left > 0 && open.length > 0 && room > 0; left--) {
    const next = open.pop()
    if (typeof next === "string") {
      lines.push(next.slice(0, room))
      room -= next.length
    } else if (Array.isArray(next)) open.push(...next.slice(0, left).toReversed())
    else if (isObject(next)) {
      for (const key of Object.keys(next).slice(0, left).toReversed()) open.push(next[key], key)
    }
  }
  return lines.join("\n")
}

/** A longer text is not parsed for a comparison. */
const maxCompared = 2_000_000

/** False if the text is no JSON, or if one of the two is nested deeper than the stack. */
const isJsonOf = (text: string, value: unknown): boolean => {
  try {
    return isDeepStrictEqual(JSON.parse(text), value)
  } catch {
    return false
  }
}

/** Whether a text is this value, or this value as JSON. */
const says = (text: string, value: unknown): boolean => {
  if (typeof value === "string" && text.trim() === value.trim()) return true
  if (typeof value !== "object" || value === null) return text.length <= 64 && text.trim() === String(value)
  const bracket = /^\s{0,64}([[{])/.exec(text)?.[1]
  if (bracket !== (Array.isArray(value) ? "[" : "{")) return false
  return text.length > maxCompared || isJsonOf(text, value)
}

/** Whether one text, the texts together, or one text for each item say this value. */
const say = (texts: ReadonlyArray<string>, value: unknown): boolean =>
  texts.some((text) => says(text, value)) ||
  (typeof value === "string" && texts.length > 1 && says(texts.join("\n"), value)) ||
  (Array.isArray(value) && value.length === texts.length && texts.every((text, at) => says(text, value[at])))

/**
 * Whether the texts repeat the structured content, as servers do for clients that know texts only. Some servers wrap a
 * value that is not an object into an object with one key.
 */
const repeats = (texts: ReadonlyArray<string>, structured: Json): boolean => {
  if (texts.length === 0) return false
  if (say(texts, structured)) return true
  const [inner, ...others] = isObject(structured) ? Object.values(structured) : []
  return inner !== undefined && others.length === 0 && say(texts, inner)
}

const maxMimeType = 128

/** A type that may stand in the URLs and headers of an application; any other is bytes. */
const safeType = (mimeType: unknown): string =>
  typeof mimeType === "string" && mimeType.length <= maxMimeType &&
    /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:; ?[\w.-]+=[\w.-]+){0,4}$/.test(mimeType)
    ? mimeType
    : "application/octet-stream"

/** Whether a part is for the user and not for the model, as its annotations say. */
const isForUserOnly = (part: ToolResult.Content): boolean => {
  const annotations = isObject(part.raw) ? part.raw["annotations"] : undefined
  const audience = isObject(annotations) ? annotations["audience"] : undefined
  return Array.isArray(audience) && audience.length > 0 && !audience.includes("assistant")
}

/**
 * Texts stand as they are, other parts as JSON or as a reference to an attachment, and structured content only where no
 * text repeats it. Parts for the user only are counted.
 */
export const make = (result: Pick<ToolResult.ToolResult, "content" | "structuredContent">): ResultText => {
  const attachments: Array<Attachment> = []
  const lines: Array<string> = []
  const json: Array<ResultText["json"][number]> = []
  let at = 0
  const add = (line: string): void => {
    lines.push(line)
    at += line.length + 1
  }
  const addJson = (line: string, value: unknown): void => {
    json.push({ at, end: at + line.length, words: wordsOf(value) })
    add(line)
  }
  const attached = (tag: Attachment["_tag"], mimeType: string, data: string, more?: object): string => {
    const reference = `${tag.toLowerCase()}-${attachments.length + 1}`
    attachments.push({ _tag: tag, mimeType, data, reference })
    const bytes = Buffer.byteLength(data, "base64")
    return boundedJson({ type: tag.toLowerCase(), ...more, mimeType, bytes, attachment: reference })
  }

  const texts: Array<string> = []
  const forModel = result.content.filter((part) => !isForUserOnly(part))
  for (const part of forModel) {
    switch (part._tag) {
      case "Text":
        texts.push(part.text)
        add(part.text)
        break
      case "Image":
      case "Audio":
        add(attached(part._tag, safeType(part.mimeType), part.data))
        break
      case "Resource": {
        const { blob, mimeType, text, uri } = part.resource
        if (typeof text === "string") {
          addJson(boundedJson({ type: "resource", uri, mimeType }), [uri, mimeType])
          add(text)
        } else if (typeof blob === "string") addJson(attached("Blob", safeType(mimeType), blob, { uri }), uri)
        else addJson(boundedJson(part.raw), part.raw)
        break
      }
      default:
        addJson(boundedJson(part.raw), part.raw)
    }
  }
  const { structuredContent } = result
  if (structuredContent !== undefined && !repeats(texts, structuredContent)) {
    addJson(wholeJson(structuredContent), structuredContent)
  }
  const forUser = result.content.length - forModel.length
  if (forUser > 0) add(`(${forUser === 1 ? "1 part is" : `${forUser} parts are`} only for the user.)`)
  return { text: lines.join("\n"), attachments, json }
}
