/**
 * Selects the attachments for a model: only types that every API accepts, because a rejected attachment fails the whole
 * request. The text of the output names the others.
 */
import type * as OutputGuard from "../safety/OutputGuard.ts"

/** The types and the maximum size of attachments for a model. */
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
