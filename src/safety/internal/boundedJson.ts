// What is shown of JSON that nobody knows the meaning of: never more than so much, however it is made.

const longestString = 2_000
const longestKey = 128
const mostItems = 200
const deepest = 32

/** Shorter ones may be names or checksums. */
const shortestEncoded = 256

const encoded = /^[A-Za-z0-9+/_-]+={0,2}$/

/**
 * Whether a text is bytes in base64 rather than something to read.
 *
 * @internal
 */
export const isEncoded = (text: string): boolean =>
  text.length >= shortestEncoded
  && (text.startsWith("data:") ? text.slice(0, 256).includes(";base64,") : encoded.test(text))

const shortened = (text: string, longest: number): string =>
  isEncoded(text)
    ? `(${text.length} characters of base64)`
    : text.length <= longest
    ? text
    : `${text.slice(0, longest)}… (${text.length - longest} more characters)`

/** Writes parts until there is no room. */
interface Writer {
  room: number
  readonly parts: Array<string>
}

const put = (writer: Writer, part: string): void => {
  writer.parts.push(part)
  writer.room -= part.length
}

const ownValue = (value: object, key: string): unknown => Object.getOwnPropertyDescriptor(value, key)?.value

const writeList = (writer: Writer, list: ReadonlyArray<unknown>, depth: number): void => {
  put(writer, "[")
  for (let at = 0; at < list.length; at++) {
    if (at > 0) put(writer, ",")
    if (at === mostItems || writer.room <= 0) {
      put(writer, `"(${list.length - at} more)"`)
      break
    }
    write(writer, list[at], depth + 1)
  }
  put(writer, "]")
}

const writeObject = (writer: Writer, object: object, depth: number): void => {
  put(writer, "{")
  const keys = Object.keys(object)
  let written = 0
  for (const [at, key] of keys.entries()) {
    const value = ownValue(object, key)
    if (value === undefined) continue
    if (written > 0) put(writer, ",")
    if (written === mostItems || writer.room <= 0) {
      put(writer, `"…":"(${keys.length - at} more)"`)
      break
    }
    put(writer, `${JSON.stringify(shortened(key, longestKey))}:`)
    write(writer, value, depth + 1)
    written++
  }
  put(writer, "}")
}

const write = (writer: Writer, value: unknown, depth: number): void => {
  if (typeof value === "string") put(writer, JSON.stringify(shortened(value, longestString)))
  else if (typeof value !== "object" || value === null) put(writer, JSON.stringify(value) ?? "null")
  else if (depth >= deepest) put(writer, "\"(nested deeper)\"")
  else if (Array.isArray(value)) writeList(writer, value, depth)
  else writeObject(writer, value, depth)
}

/**
 * JSON in one line, of about so many characters at most. What was left out is said in its place, and bytes in base64 are
 * named and not written.
 *
 * @internal
 */
export const boundedJson = (value: unknown, room = 8_000): string => {
  const writer: Writer = { room, parts: [] }
  write(writer, value, 0)
  return writer.parts.join("")
}

/**
 * JSON in one line, whole; bounded only where it is nested deeper than can be written.
 *
 * @internal
 */
export const wholeJson = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? "null"
  } catch {
    return boundedJson(value, 1_000_000)
  }
}
