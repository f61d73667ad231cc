// @effect-diagnostics strictEffectProvide:off -- few commands need files
/** Prints and saves the contents of tool results, resources and prompt messages. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import type * as McpClient from "../client/McpClient.ts"
import type * as ToolResult from "../tools/ToolResult.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Command from "./Command.ts"
import { Usage, usage } from "./Command.ts"
import * as Screen from "./Screen.ts"

/** A part of the content: text, base64, or a link. */
export type Part =
  | { readonly _tag: "Text"; readonly text: string; readonly mimeType?: string | undefined }
  | { readonly _tag: "Blob"; readonly label?: string | undefined; readonly mimeType: string; readonly data: string }
  | { readonly _tag: "Link"; readonly text: string; readonly uri: string }

const textField = (value: JsonRpc.JsonObject, key: string): string | undefined => {
  const one = Object.hasOwn(value, key) ? value[key] : undefined
  return typeof one === "string" ? one : undefined
}

const unknownType = "application/octet-stream"

const jsonPart = (value: unknown): Part => ({
  _tag: "Text",
  text: JSON.stringify(value, null, 2),
  mimeType: "application/json"
})

export const ofContent = (content: ToolResult.Content): Part => {
  switch (content._tag) {
    case "Text":
      return content
    case "Image":
    case "Audio":
      return { _tag: "Blob", label: content._tag.toLowerCase(), mimeType: content.mimeType, data: content.data }
    case "Resource": {
      const { resource } = content
      const uri = textField(resource, "uri") ?? "without a URI"
      const mimeType = textField(resource, "mimeType")
      const text = textField(resource, "text")
      const data = textField(resource, "blob")
      if (text !== undefined) return { _tag: "Text", text, mimeType }
      return data === undefined
        ? { _tag: "Link", text: `resource ${uri}`, uri }
        : { _tag: "Blob", label: `resource ${uri}`, mimeType: mimeType ?? unknownType, data }
    }
    case "ResourceLink":
      return { _tag: "Link", text: `link ${content.uri}`, uri: content.uri }
    case "Unknown":
      return jsonPart(content.raw)
  }
}

/** Structured content is shown if there is no other content. */
export const ofResult = ({ content, structuredContent }: ToolResult.ToolResult): ReadonlyArray<Part> =>
  content.length > 0 || structuredContent === undefined ? content.map(ofContent) : [jsonPart(structuredContent)]

export const ofResource = (one: McpClient.ResourceContents): Part =>
  one._tag === "Text" ? one : { _tag: "Blob", mimeType: one.mimeType ?? unknownType, data: one.blob }

export const output: Command.Option = {
  name: "output",
  value: "FORMAT",
  choices: ["text", "markdown", "raw"],
  about: "Output format: readable text (default), Markdown, or raw as sent by the server"
}

/** Refuses `--output` beside `--json`. */
export const checkFormat = ({ isSet, shared }: Command.Invocation): Effect.Effect<void, Usage> =>
  shared.json && isSet(output.name) ? usage("--json and --output cannot be used together") : Effect.void

const size = (data: string): string => {
  const bytes = Math.floor(data.replace(/=+$/, "").length * 3 / 4)
  return bytes < 1_024
    ? `${bytes} bytes`
    : bytes < 1_048_576
    ? `${(bytes / 1_024).toFixed(1)} KiB`
    : `${(bytes / 1_048_576).toFixed(1)} MiB`
}

const split = (text: string): ReadonlyArray<string> => text.replace(/\r?\n$/, "").split(/\r?\n/)

const weak = (text: string): Screen.Line => [{ text, style: "weak" }]

/** A code block whose fence is longer than any fence in the text. */
const fenced = (text: string, language: string): ReadonlyArray<string> => {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = "`".repeat(longest + 1)
  return [fence + language, ...split(text), fence]
}

/** Plain text and Markdown need no fence. */
const isProse = (mimeType: string | undefined): boolean =>
  mimeType === undefined || /^text\/(plain|markdown)\b/.test(mimeType)

const linesOf = (part: Part, isMarkdown: boolean): ReadonlyArray<Screen.Line> => {
  switch (part._tag) {
    case "Text":
      return isMarkdown && !isProse(part.mimeType)
        ? fenced(part.text, /^[\w.-]+\/(?:x-)?([\w-]+)/.exec(part.mimeType ?? "")?.[1] ?? "")
        : split(part.text)
    case "Blob": {
      const what = [part.label, part.mimeType, size(part.data)].filter(Boolean).join(", ")
      return [isMarkdown ? `*${what}*` : weak(`[${what}; use --out FILE to save it]`)]
    }
    case "Link":
      return [isMarkdown ? `[${part.text}](<${part.uri}>)` : weak(`[${part.text}]`)]
  }
}

/** Markdown has a blank line between parts. */
export const lines = (parts: ReadonlyArray<Part>, format?: string): ReadonlyArray<Screen.Line> => {
  const isMarkdown = format === "markdown"
  return parts.flatMap((part, at) => [...(isMarkdown && at > 0 ? [""] : []), ...linesOf(part, isMarkdown)])
}

/** The bytes of a part; none for a link. */
const bytesOf = (part: Part): Effect.Effect<ReadonlyArray<Uint8Array>, Usage> => {
  switch (part._tag) {
    case "Text":
      return Effect.succeed([new TextEncoder().encode(part.text)])
    case "Blob":
      return Effect.mapBoth(Encoding.decodeBase64(part.data), {
        onFailure: () => new Usage({ detail: "the server sent invalid base64" }),
        onSuccess: (bytes) => [bytes]
      })
    case "Link":
      return Effect.succeed([])
  }
}

export const bytes = (parts: ReadonlyArray<Part>): Effect.Effect<ReadonlyArray<Uint8Array>, Usage> =>
  Effect.map(Effect.forEach(parts, bytesOf), (all) => all.flat())

/** The files of a tool result: its blobs, or else its text. */
export const files = (parts: ReadonlyArray<Part>): Effect.Effect<ReadonlyArray<Uint8Array>, Usage> => {
  const blobs = parts.filter(({ _tag }) => _tag === "Blob")
  const joined = parts.flatMap((part) => part._tag === "Text" ? [part.text] : []).join("\n")
  return bytes(blobs.length > 0 ? blobs : [{ _tag: "Text", text: joined }])
}

/** `picture.png`, `picture-2.png`, … */
export const nameOf = (file: string, at: number): string => {
  if (at === 0) return file
  const name = Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1
  const dot = file.lastIndexOf(".")
  const end = dot > name ? dot : file.length
  return `${file.slice(0, end)}-${at + 1}${file.slice(end)}`
}

export const write = (
  file: string,
  contents: ReadonlyArray<Uint8Array>
): Effect.Effect<void, Usage, Screen.Screen> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const screen = yield* Screen.Screen
    for (const [at, content] of contents.entries()) {
      const name = nameOf(file, at)
      yield* Effect.mapError(
        fs.writeFile(name, content),
        ({ message }) => new Usage({ detail: `cannot write the file "${name}": ${message}` })
      )
      yield* screen.note(`Wrote ${name} (${content.length} bytes)`)
    }
  }).pipe(Effect.provide(NodeFileSystem.layer))
