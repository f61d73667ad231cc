import type * as ToolResult from "../../tools/ToolResult.ts"
import type { Attachment } from "../OutputGuard.ts"
import { boundedJson, wholeJson } from "./boundedJson.ts"
import { repeats } from "./repetition.ts"
import { words } from "./words.ts"

/**
 * A result as text, as the server wrote it, and what is no text beside it.
 *
 * @internal
 */
export interface Flat {
  readonly text: string
  readonly attachments: ReadonlyArray<Attachment>
  /** Where JSON stands in the text, and its words as they were before they were escaped. */
  readonly json: ReadonlyArray<{ readonly at: number; readonly end: number; readonly words: string }>
}

const longestMimeType = 128
const unknownType = "application/octet-stream"

/** It goes into URLs and headers of whoever sends an attachment on. */
const mimePattern = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:; ?[\w.-]+=[\w.-]+){0,4}$/

const safeType = (mimeType: unknown): string =>
  typeof mimeType === "string" && mimeType.length <= longestMimeType && mimePattern.test(mimeType)
    ? mimeType
    : unknownType

const bytesOf = (base64: string): number => {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0
  return Math.max(0, Math.floor(base64.length / 4 * 3) - padding)
}

/**
 * Text as it is, other parts as JSON or as a reference to what is kept beside, structured content only where the text does
 * not say the same.
 *
 * @internal
 */
export const flatten = (result: Pick<ToolResult.ToolResult, "content" | "structuredContent">): Flat => {
  const attachments: Array<Attachment> = []
  const lines: Array<string> = []
  const json: Array<Flat["json"][number]> = []
  let at = 0

  const add = (line: string): void => {
    lines.push(line)
    at += line.length + 1
  }
  const addJson = (line: string, value: unknown): void => {
    json.push({ at, end: at + line.length, words: words(value) })
    add(line)
  }

  const keep = (tag: Attachment["_tag"], mimeType: string, data: string): string => {
    const reference = `${tag.toLowerCase()}-${attachments.length + 1}`
    attachments.push({ _tag: tag, mimeType, data, reference })
    return reference
  }

  const described = (tag: Attachment["_tag"], mimeType: string, data: string, more?: object): string =>
    boundedJson({
      type: tag.toLowerCase(),
      ...more,
      mimeType,
      bytes: bytesOf(data),
      attachment: keep(tag, mimeType, data)
    })

  const texts: Array<string> = []
  for (const part of result.content) {
    switch (part._tag) {
      case "Text":
        texts.push(part.text)
        add(part.text)
        break
      case "Image":
      case "Audio":
        add(described(part._tag, safeType(part.mimeType), part.data))
        break
      case "Resource": {
        const { blob, mimeType, text, uri } = part.resource
        if (typeof text === "string") {
          addJson(boundedJson({ type: "resource", uri, mimeType }), [uri, mimeType])
          add(text)
        } else if (typeof blob === "string") {
          addJson(described("Blob", safeType(mimeType), blob, { uri }), uri)
        } else {
          addJson(boundedJson(part.raw), part.raw)
        }
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
  return { text: lines.join("\n"), attachments, json }
}
