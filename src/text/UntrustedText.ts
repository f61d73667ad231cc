/**
 * Text that a server chose, made safe to stand in an error, a log line or a terminal.
 *
 * @since 0.1.0
 */

/** What a terminal obeys or nobody sees: orders, joiners, blanks that count as letters, and halves of characters. */
const unsafe =
  // oxlint-disable-next-line no-misleading-character-class -- each of these is meant by itself
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e00ff}\u{e01f0}-\u{e0fff}]|(?<!\p{Unified_Ideograph})[\u{e0100}-\u{e01ef}]/gu

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
