/**
 * The attachments that can be shown to a model. One that an API refuses costs the whole conversation, so only those that
 * every API takes are shown; the text names the others.
 */
import type * as OutputGuard from "../safety/OutputGuard.ts"

/** The attachments that are shown to a model: their types, and the size of the largest. */
export interface Options {
  readonly mediaTypes: ReadonlyArray<string>
  readonly maxMediaBytes: number
}

export const defaults: Options = {
  mediaTypes: ["image/png", "image/jpeg", "image/gif", "image/webp"],
  maxMediaBytes: 5 * 1024 * 1024
}

export const shown = (
  attachments: ReadonlyArray<OutputGuard.Attachment>,
  { maxMediaBytes, mediaTypes }: Options
): ReadonlyArray<OutputGuard.Attachment> =>
  attachments.flatMap((attachment) => {
    const { data } = attachment
    const mimeType = attachment.mimeType.toLowerCase().replace(/^image\/jpg$/, "image/jpeg")
    const fits = mediaTypes.includes(mimeType) && data.length <= maxMediaBytes * 4 / 3 && data.length % 4 === 0 &&
      /^[A-Za-z0-9+/]+={0,2}$/.test(data)
    return fits ? [{ ...attachment, mimeType }] : []
  })

export const isImage = ({ mimeType }: OutputGuard.Attachment): boolean => mimeType.startsWith("image/")

export const dataUrl = ({ data, mimeType }: OutputGuard.Attachment): string => `data:${mimeType};base64,${data}`
