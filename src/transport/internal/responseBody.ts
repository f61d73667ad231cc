/** @internal */
// @effect-diagnostics nodeBuiltinImport:off - decodes the bodies of node:http responses, which come as node streams
import type { IncomingMessage } from "node:http"
import type { Duplex, Readable } from "node:stream"

/**
 * How a body ended: whole; over the limit; cut off by the network; not decodable; in an unknown encoding.
 *
 * @internal
 */
export type End = "ended" | "oversize" | "cut" | "corrupt" | "encoding"

// loaded with the first body that needs it
const zlib = () => process.getBuiltinModule("node:zlib")

const decoder = (encoding: string): Duplex | undefined => {
  switch (encoding.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return zlib().createGunzip()
    case "deflate":
      return zlib().createInflate()
    case "br":
      return zlib().createBrotliDecompress()
    default:
      return undefined
  }
}

/**
 * Reads the decoded body until it ends or `onChunk` says `false`; `onEnd` is called once, whatever happens.
 *
 * @internal
 */
export const read = (
  response: IncomingMessage,
  onChunk: (chunk: Buffer) => boolean,
  onEnd: (end: End) => void
): void => {
  const encoding = response.headers["content-encoding"]
  const decoding = encoding === undefined || encoding === "" || encoding === "identity" ? undefined : decoder(encoding)
  const source: Readable = decoding ?? response
  let done = false
  const finish = (end: End) => {
    if (done) return
    done = true
    decoding?.destroy()
    onEnd(end)
  }
  response.on("error", () => finish("cut"))
  if (encoding !== undefined && decoding === undefined && encoding !== "" && encoding !== "identity") {
    response.resume()
    return finish("encoding")
  }
  source.on("data", (chunk: Buffer) => {
    if (!done && !onChunk(chunk)) finish("oversize")
  })
  source.on("end", () => finish("ended"))
  if (decoding === undefined) return
  decoding.on("error", () => finish("corrupt"))
  response.pipe(decoding)
}

/**
 * Reads a body as text; what is over the limit is left unread.
 *
 * @internal
 */
export const text = (
  response: IncomingMessage,
  limit: number,
  onEnd: (end: End, text: string) => void
): void => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  read(
    response,
    (chunk) => {
      bytes += chunk.length
      if (bytes > limit) chunk = chunk.subarray(0, Math.max(0, chunk.length - (bytes - limit)))
      chunks.push(chunk)
      return bytes <= limit
    },
    (end) => {
      const whole = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
      const text = whole.toString("utf8")
      onEnd(end, text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
    }
  )
}

/**
 * The media type of a response, without parameters and in lower case.
 *
 * @internal
 */
export const mediaType = (response: IncomingMessage): string => {
  const type = response.headers["content-type"]
  if (type === undefined) return ""
  const end = type.indexOf(";")
  return (end === -1 ? type : type.slice(0, end)).trim().toLowerCase()
}
