/**
 * What besides text can be shown to a model. One attachment that an API does not take would cost the whole conversation,
 * so only what is certain to be taken is shown; the text names the others.
 *
 * @internal
 */
import type * as OutputGuard from "../../safety/OutputGuard.ts"

/** @internal */
export interface Options {
  readonly mediaTypes: ReadonlyArray<string>
  readonly maxMediaBytes: number
}

/** @internal */
export const defaults: Options = {
  mediaTypes: ["image/png", "image/jpeg", "image/gif", "image/webp"],
  maxMediaBytes: 5 * 1024 * 1024
}

const base64 = /^[A-Za-z0-9+/]+={0,2}$/

/** As APIs write it. */
const typeOf = (mimeType: string): string => {
  const type = mimeType.toLowerCase()
  return type === "image/jpg" ? "image/jpeg" : type
}

/** @internal */
export const shown = (
  attachments: ReadonlyArray<OutputGuard.Attachment>,
  { maxMediaBytes, mediaTypes }: Options
): ReadonlyArray<OutputGuard.Attachment> =>
  attachments.flatMap((attachment) => {
    const { data } = attachment
    const mimeType = typeOf(attachment.mimeType)
    const fits = mediaTypes.includes(mimeType) &&
      data.length <= maxMediaBytes * 4 / 3 &&
      data.length % 4 === 0 &&
      base64.test(data)
    return fits ? [{ ...attachment, mimeType }] : []
  })

/** @internal */
export const isImage = ({ mimeType }: OutputGuard.Attachment): boolean => mimeType.startsWith("image/")

/** @internal */
export const dataUrl = ({ data, mimeType }: OutputGuard.Attachment): string => `data:${mimeType};base64,${data}`
