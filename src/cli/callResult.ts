/** What a tool gave, for people: its text as it is, and of what is no text what and how much it is. */
import type * as ToolResult from "../tools/ToolResult.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Screen from "./Screen.ts"

export interface Blob {
  readonly mimeType: string
  readonly data: string
}

type Part =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Blob"; readonly what: string; readonly blob: Blob }
  | { readonly _tag: "Remark"; readonly text: string }

const own = (value: JsonRpc.JsonObject, key: string): string | undefined => {
  const one = Object.hasOwn(value, key) ? value[key] : undefined
  return typeof one === "string" ? one : undefined
}

const partOf = (content: ToolResult.Content): Part => {
  switch (content._tag) {
    case "Text":
      return { _tag: "Text", text: content.text }
    case "Image":
    case "Audio":
      return { _tag: "Blob", what: content._tag.toLowerCase(), blob: content }
    case "Resource": {
      const text = own(content.resource, "text")
      const data = own(content.resource, "blob")
      const uri = own(content.resource, "uri") ?? "without a name"
      const mimeType = own(content.resource, "mimeType") ?? "application/octet-stream"
      return text !== undefined
        ? { _tag: "Text", text }
        : data !== undefined
        ? { _tag: "Blob", what: `resource ${uri}`, blob: { data, mimeType } }
        : { _tag: "Remark", text: `[resource ${uri}]` }
    }
    case "ResourceLink":
      return { _tag: "Remark", text: `[link ${content.uri}]` }
    case "Unknown":
      return { _tag: "Text", text: JSON.stringify(content.raw, null, 2) }
  }
}

const bytes = (data: string): number => Math.floor(data.replace(/=+$/, "").length * 3 / 4)

const size = (count: number): string =>
  count < 1_024
    ? `${count} bytes`
    : count < 1_048_576
    ? `${(count / 1_024).toFixed(1)} KiB`
    : `${(count / 1_048_576).toFixed(1)} MiB`

/** Where there is no text, the structured content is all there is. */
const partsOf = ({ content, structuredContent }: ToolResult.ToolResult): ReadonlyArray<Part> =>
  content.length > 0 || structuredContent === undefined
    ? content.map(partOf)
    : [{ _tag: "Text", text: JSON.stringify(structuredContent, null, 2) }]

export const lines = (result: ToolResult.ToolResult): ReadonlyArray<Screen.Line> =>
  partsOf(result).flatMap((part): ReadonlyArray<Screen.Line> => {
    switch (part._tag) {
      case "Text":
        return part.text.replace(/\r?\n$/, "").split(/\r?\n/)
      case "Blob":
        return [[{
          text: `[${part.what}, ${part.blob.mimeType}, ${size(bytes(part.blob.data))}; --out FILE writes it]`,
          style: "weak"
        }]]
      case "Remark":
        return [[{ text: part.text, style: "weak" }]]
    }
  })

export const blobs = (result: ToolResult.ToolResult): ReadonlyArray<Blob> =>
  partsOf(result).flatMap((part) => part._tag === "Blob" ? [part.blob] : [])

export const text = (result: ToolResult.ToolResult): string =>
  partsOf(result).flatMap((part) => part._tag === "Text" ? [part.text] : []).join("\n")
