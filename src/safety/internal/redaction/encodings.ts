/**
 * The ways in which a secret comes back: as it is, and as what wrote it down has encoded it.
 *
 * @internal
 */
import * as UntrustedText from "../../../text/UntrustedText.ts"

/** Shorter values are too many things to be looked for in every encoding. */
const shortestEncoded = 8

/** Shorter lines stand in many texts. */
const shortestLine = 20

const json = (text: string): string => JSON.stringify(text).slice(1, -1)

/** As JSON writes it where all but ASCII is escaped. */
const ascii = (text: string): string =>
  json(text).replace(/[^\u0020-\u007e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** With halves of characters replaced, which no encoding of bytes has. */
const whole = (text: string): string => Buffer.from(text, "utf8").toString("utf8")

const component = (text: string): string => encodeURIComponent(whole(text))

const html = (quote: string, apostrophe: string) => (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll("\"", quote)
    .replaceAll("'", apostrophe)

/**
 * The base64 digits that a text gives wherever it begins within other bytes: what its neighbours have a part in is left
 * out.
 */
const within = (bytes: Buffer, before: number): string => {
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64").replace(/=+$/, "")
  const from = before === 0 ? 0 : before + 1
  return text.slice(from, (before + bytes.length) % 3 === 0 ? text.length : text.length - 1)
}

const ofBytes = (text: string): ReadonlyArray<string> => {
  const bytes = Buffer.from(text, "utf8")
  const digits = [0, 1, 2].map((before) => within(bytes, before))
  const hex = bytes.toString("hex")
  return [
    bytes.toString("base64"),
    bytes.toString("base64url"),
    ...digits,
    ...digits.map((one) => one.replaceAll("+", "-").replaceAll("/", "_")),
    hex,
    hex.toUpperCase()
  ]
}

const written = (text: string): ReadonlyArray<string> => {
  const escaped = json(text)
  const url = component(text)
  return [
    text,
    escaped,
    json(escaped),
    ascii(text),
    text.replaceAll("/", "\\/"),
    UntrustedText.escape(text),
    url,
    url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    url.replaceAll("%20", "+"),
    component(url),
    encodeURI(whole(text)),
    html("&quot;", "&#39;")(text),
    html("&#34;", "&#x27;")(text),
    html("&quot;", "&apos;")(text),
    html("\"", "'")(text)
  ]
}

/**
 * Each text to be hidden, once. A value of several lines is also known by each of them.
 *
 * @internal
 */
export const of = (secret: string): ReadonlyArray<string> => {
  const texts = new Set(written(secret))
  if (secret.length >= shortestEncoded) { for (const text of ofBytes(secret)) texts.add(text) }
  if (/[\r\n]/.test(secret)) {
    for (const line of secret.split(/[\r\n]+/)) if (line.length >= shortestLine) texts.add(line)
  }
  return Array.from(texts).filter((text) => text.length >= Math.min(secret.length, shortestEncoded))
}
