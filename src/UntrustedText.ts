/**
 * Text that a server chose, made safe to stand in an error, a log line or a terminal.
 *
 * @since 0.1.0
 */

const unsafe =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu

const visible = (char: string): string => {
  switch (char) {
    case "\n":
      return "\\n"
    case "\r":
      return "\\r"
    case "\t":
      return "\\t"
    default: {
      const code = char.codePointAt(0)!.toString(16)
      return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u{${code}}`
    }
  }
}

/**
 * Writes control, bidirectional and invisible characters as visible escapes.
 *
 * @since 0.1.0
 * @category combinators
 */
export const escape = (text: string): string => text.replace(unsafe, visible)

/**
 * The beginning of a text, escaped, with a note of how much was left out.
 *
 * @since 0.1.0
 * @category combinators
 */
export const excerpt = (text: string, limit = 1024): string =>
  text.length <= limit ? escape(text) : `${escape(text.slice(0, limit))}… (${text.length - limit} more characters)`
