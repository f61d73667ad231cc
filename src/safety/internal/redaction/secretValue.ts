/**
 * What a value says of itself: whether it stands for another, is a word of prose or of code, or could be anybody's
 * secret.
 *
 * @internal
 */

/**
 * What hides a secret; it is not hidden again.
 *
 * @internal
 */
export const mark = "[redacted]"

const standIns: ReadonlySet<string> = new Set([
  "changeme",
  "disabled",
  "enabled",
  "example",
  "hidden",
  "omitted",
  "optional",
  "pass",
  "passwd",
  "password",
  "placeholder",
  "redacted",
  "removed",
  "required",
  "secret",
  "token",
  "undefined",
  "unlimited",
  "your-token"
])

/**
 * Whether it only says where a value would be: `${TOKEN}`, `<token>`, `your-key-here`, `****`.
 *
 * @internal
 */
export const isPlaceholder = (value: string): boolean => {
  const plain = value.toLowerCase()
  return heads.test(plain) || standIns.has(plain) || isOneCharacter(plain)
}

const heads =
  /^(?:\[|\$|<|\{\{|%\(|\.\.\.|\/|\.\/|~\/|https?:\/\/|file:|env[.:]|secrets\.|process\.|os\.|import\.meta|your|my-|0x[0-9a-f]{1,16}$)/

const isOneCharacter = (value: string): boolean => {
  for (let at = 1; at < value.length; at++) if (value[at] !== value[0]) return false
  return true
}

const longestShown = 96

/**
 * Whether a token of a vendor's format only shows the format: `xxxxxxxx`, `your-token-here`.
 *
 * @internal
 */
export const isShown = (body: string): boolean =>
  body.length <= longestShown && (/^[xX*.0-]+$/.test(body) || /^(?:[a-z]+[-_])+[a-z]+$/.test(body))

/** `request.headers.token2` */
const isMember = (value: string): boolean =>
  value.includes(".") &&
  value.split(".").every((part) => /^[A-Za-z_$][\w$]{0,127}$/.test(part) && !/\d[A-Za-z]+\d/.test(part))

/** An expression of a program: `getToken(user1)`, `a.token`. */
const isCode = (value: string): boolean => /[()[\]{}?]/.test(value) || isMember(value)

/**
 * A single word, in any case but mixed, or a number: `authentication`, `Required`, `4096`, `1.5`.
 *
 * @internal
 */
export const isWord = (value: string): boolean =>
  /^(?:[A-Za-z]?[a-z]+|[A-Z]+)[.!?:]{0,3}$/.test(value) || /^[\d.,:]+$/.test(value)

/** Words and numbers with separators between: `x-api-key`, `read_only`, `access-token-2`, `text/plain`. */
const isPhrase = (value: string): boolean =>
  value.split(/[-_./:]/).every((part) => part === "" || isWord(part)) && !/\d{3}/.test(value)

/** `getUserToken`, `CallToolResult2`: a name that a programmer has made of words. */
const isIdentifier = (value: string): boolean =>
  /^[A-Za-z_$][A-Za-z_$]*\d?$/.test(value) && value.length < 40 &&
  (value.match(/[A-Z]/g)?.length ?? 0) <= value.length / 4

/** What no token is made of: spaces, and letters of other scripts. */
const isProse = (value: string): boolean => /[^\u0021-\u007e]/.test(value)

/**
 * Whether a value that is named as a secret is taken for one where the name stands in prose or in a program.
 *
 * @internal
 */
export const isOpaque = (value: string): boolean =>
  value.length >= 8 && !isProse(value) && (/\d/.test(value) || value.length >= 20) && !isPlaceholder(value) &&
  !isCode(value) && !isPhrase(value) && !isIdentifier(value)

/** `RESULT_VALUE_FAILURE`, `reset_password`: a constant, or what one is made of. */
const isConstant = (value: string): boolean => /^(?:[A-Z]+\d?[A-Z]*(?:_[A-Z]+)+|[a-z]+(?:_[a-z]+)+)$/.test(value)

/**
 * Whether a value that is named as a secret is taken for one where only values stand: in an environment, a header, a
 * query.
 *
 * @internal
 */
export const isGiven = (value: string): boolean =>
  value.length >= 8 && !isConstant(value) && !isPlaceholder(value) && !isWord(value) && !isIdentifier(value) &&
  !isCode(value)

/**
 * Whether a value that only follows the word for a secret, as in `invalid token …`, is taken for one.
 *
 * @internal
 */
export const isRandom = (value: string): boolean =>
  value.length >= 16 && /^[\w.~+=-]+$/.test(value) && isOpaque(value) && (value.match(/\d/g)?.length ?? 0) >= 2 &&
  /[A-Za-z]/.test(value)

/**
 * Whether a password that somebody made up is one.
 *
 * @internal
 */
export const isMadeUp = (value: string): boolean =>
  value.length >= 4 && !isPlaceholder(value) && !isConstant(value) &&
  !/^(?:true|false|null|none|string|text)$/i.test(value)

/**
 * Whether it is what a header of cookies holds.
 *
 * @internal
 */
export const isCookie = (value: string): boolean => value.length >= 8 && /^[\w!#%&'*+.^|~-]{1,128}=[^\s;=>]/.test(value)
