/**
 * What can be told only from a whole run of characters: tokens without a word that announces them, and texts that were
 * written as base64 or hexadecimal digits.
 *
 * @internal
 */
import * as Pattern from "./pattern.ts"
import type { Span } from "./spans.ts"

const shortest = 16
const shortestEncoded = 24
const longestEncoded = 16 * 1024

/** The value of a base64 digit of either alphabet plus one; zero: none. */
const digits = new Uint8Array(128)
for (const alphabet of ["ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", "-_"]) {
  for (let at = 0; at < alphabet.length; at++) {
    digits[alphabet.charCodeAt(at)] = (alphabet === "-_" ? 62 : 0) + at + 1
  }
}

const isPrintable = (byte: number): boolean => byte >= 32 && byte < 127 || byte === 10 || byte === 13 || byte === 9

/** Whether the first nine bytes that the digits mean are text; where they are not, nothing is decoded. */
const isText = (text: string, at: number): boolean => {
  for (let group = at; group < at + 12; group += 4) {
    let bits = 0
    for (let offset = 0; offset < 4; offset++) bits = bits << 6 | digits[text.charCodeAt(group + offset)]! - 1
    if (!isPrintable(bits >> 16) || !isPrintable(bits >> 8 & 255) || !isPrintable(bits & 255)) return false
  }
  return true
}

const isHexText = (text: string, at: number): boolean => {
  for (let pair = at; pair < at + 16; pair += 2) {
    const byte = Number.parseInt(text.slice(pair, pair + 2), 16)
    if (!isPrintable(byte)) return false
  }
  return true
}

const hex = /^(?:[0-9a-f]{2})+$/i

const printable = (bytes: Buffer): string | undefined => bytes.every(isPrintable) ? bytes.toString("latin1") : undefined

const decoded = (text: string, at: number, end: number): string | undefined => {
  if (end - at < shortestEncoded || end - at > longestEncoded) return undefined
  if (isText(text, at)) return printable(Buffer.from(text.slice(at, end), "base64"))
  if (!isHexText(text, at)) return undefined
  const run = text.slice(at, end)
  return hex.test(run) ? printable(Buffer.from(run, "hex")) : undefined
}

const twilio = /^SK[0-9a-f]{32}$/

/** A bot token of Discord: the bot's id, a time, a signature. Ids are digits, so their base64 begins as these do. */
const discord = /[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,45}/y

const isDiscord = (token: string): boolean => {
  const [id, , signature] = token.split(".")
  return /\d/.test(id!) && /\d/.test(signature!) && /[a-z]/.test(id!) && /[A-Z]/.test(signature!)
}

/**
 * `inner` looks into what was decoded.
 *
 * @internal
 */
export const scan = (
  text: string,
  found: (span: Span) => void,
  inner: (text: string) => string | undefined
): void => {
  let began = 0
  const ended = (end: number): void => {
    const from = began + Pattern.glued(text, began)
    const size = end - from
    if (size < shortest) return
    if (size === 34 && twilio.test(text.slice(from, end))) return found({ id: "twilio", at: from, end })
    if (size <= 28 && text[end] === "." && "MNO".includes(text[from]!)) {
      discord.lastIndex = from
      const token = discord.exec(text)?.[0]
      if (token !== undefined && isDiscord(token)) return found({ id: "discord", at: from, end: from + token.length })
    }
    const plain = decoded(text, from, end)
    const id = plain === undefined ? undefined : inner(plain)
    if (id !== undefined) found({ id, at: from, end })
  }
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 128 && digits[code] !== 0) continue
    if (at - began >= shortest) ended(at)
    began = at + 1
  }
  ended(text.length)
}
