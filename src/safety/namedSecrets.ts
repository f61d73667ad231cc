/**
 * Secrets that only the name before them gives away: `API_KEY=…`, `"password": "…"`, `--token …`,
 * `Authorization: Bearer …`, `?access_token=…`, `name: API_TOKEN, value: …`.
 */
import { isCredential } from "../text/credentialName.ts"
import type { Span } from "./textViews.ts"

/** What replaces a secret. It is not hidden again. */
export const mark = "[redacted]"

/** Every name of a credential contains one of these; a name with one is then read as a whole. */
export const hints: ReadonlyArray<string> =
  ("key token secret pass pwd auth basic bearer cookie cred jwt kennwort senha otp pin psk pat pem salt sig dsn hmac mfa " +
    "hook sess code assertion kubeconfig connection crumb csrf xsrf mnemonic phrase tkn ticket invite reset _sk -sk sk= sk: " +
    "pw= pw: saml sid=").split(" ").concat("pw ")

const longestValue = 4096
/** The part of a value that is judged. */
const longestJudged = 128

// What a value looks like

const standIns: ReadonlySet<string> = new Set(
  ("changeme disabled enabled example hidden omitted optional pass passwd password placeholder redacted removed required " +
    "secret token undefined unlimited your-token").split(" ")
)

/** `${TOKEN}`, `<token>`, `your-key-here`, `****`, a path, an address. */
const isPlaceholder = (value: string): boolean =>
  /^(?:[[$<]|\{\{|%\(|\.\.\.|\.?\/|~\/|https?:\/\/|file:|env[.:]|secrets\.|process\.|os\.|import\.meta|your|my-|0x[0-9a-f]{1,16}$)/
    .test(value.toLowerCase()) || standIns.has(value.toLowerCase()) || /^(.)\1*$/s.test(value)

/** `getToken(user1)`, `request.headers.token2`. */
const isCode = (value: string): boolean =>
  /(?:^|\w)[([]|[{}]|\?[.:]/.test(value) ||
  /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/.test(value) && !/\d[A-Za-z]+\d/.test(value)

/** `authentication`, `Required`, `4096`, `1.5`. */
const isWord = (value: string): boolean =>
  /^(?:[A-Za-z]?[a-z]+|[A-Z]+)[.!?:]{0,3}$/.test(value) || /^[\d.,:]+$/.test(value)

/** `getUserToken`, `CallToolResult2`. */
const isIdentifier = (value: string): boolean =>
  value.length < 40 && /^[A-Za-z_]+\d?$/.test(value) && (value.match(/[A-Z]/g)?.length ?? 0) <= value.length / 4

/** `x-api-key`, `read_only`, `text/plain`, `effect/ConfigProvider`. */
const isPhrase = (value: string): boolean =>
  !/\d{3}/.test(value) && value.split(/[-_./:]/).every((part) => part === "" || isWord(part) || isIdentifier(part))

/** `RESULT_VALUE_FAILURE`, `reset_password`. */
const isConstant = (value: string): boolean => /^_*(?:[A-Z]+\d?[A-Z]*(?:_[A-Z]+)+|[a-z]+(?:_[a-z]+)+)$/.test(value)

/** A secret in a place that holds only values: an environment, a header, a query. */
export const isGiven = (value: string): boolean =>
  value.length >= 8 && !isConstant(value) && !isPlaceholder(value) && !isWord(value) && !isIdentifier(value) &&
  !isCode(value)

/** No word, and not the name of a variable. */
const isMixed = (value: string): boolean => /[a-z][A-Z].*[a-z][A-Z]|(?=.*\d)(?=.*[a-z]).*[A-Z]/.test(value)

/** A secret in a place that also holds prose and code. */
const isOpaque = (value: string): boolean =>
  isGiven(value) && (/\d/.test(value) || value.length >= 20 || isMixed(value) && /\w[!#$%^&*?@]\w/.test(value)) &&
  !/[^\u0021-\u007e]/.test(value) && !isPhrase(value)

/** A secret that only follows the word for one: `invalid token …`. */
const isRandom = (value: string): boolean =>
  value.length >= 16 && /^[\w.~+=!:/-]+$/.test(value) && isOpaque(value) && /[A-Za-z]/.test(value) &&
  (/\d.*\d/.test(value) || value.length >= 20 && /\d/.test(value) && isMixed(value))

/** An address with a part that only those who know it can write: `T024/B11/x7Kq…`. */
const isUnguessable = (path: string): boolean =>
  path.split("/").some((part) => part.length >= 16 && (part.match(/[a-z]\d|\d[a-z]/gi)?.length ?? 0) >= 3)

/** A password, which can be a word. */
export const isMadeUp = (value: string): boolean =>
  value.length >= 4 && !isPlaceholder(value) && !isConstant(value) &&
  !/^(?:true|false|null|none|string|text)$/i.test(value)

const isCookies = (value: string): boolean => value.length >= 8 && /^[\w!#%&'*+.^|~-]{1,128}=[^\s;=>]/.test(value)

/** A user and a password, in base64. */
const isBasic = (value: string): boolean =>
  value.length >= 8 && /^[\w+/-]+={0,2}$/.test(value) &&
  /^[\u0020-\u007e]+:[\u0020-\u007e]*$/.test(Buffer.from(value, "base64").toString("latin1"))

// What a name says

const isPassword = (name: string): boolean =>
  /(?:pass|pw|pwd|passwd|password|passwort|kennwort|senha|passphrase|passcode)\d*$/i.test(name)

/** Before the word `key` in a sentence. */
const keyed = /\b(?:access|api|auth|encryption|license|master|private|secret|signing) $/i

/** Written as variables of an environment are. */
const isShouted = (name: string): boolean => /^[A-Z][A-Z0-9_]{2,}$/.test(name)

/** A header that holds nothing else. */
const isHeader = (name: string): boolean =>
  /^(?:proxy-authorization|authorization|(?:set-)?cookie|mcp-session-id|x-[a-z-]{0,40}|[a-z-]*api-?key|[a-z]+(?:-[a-z]+)+-key)$/i
    .test(name)

// What stands around them

const longestName = 96
const nameChars = /[\w-]{0,96}/y

/**
 * Between a name and its value. A name in quotes or brackets ends there, `==` and `=~` assign nothing, `|` begins a block of
 * YAML, and dumps of programs write the type before a text.
 */
const assigns =
  /["'`]?\]?[ \t\u001b]{0,4}(?::=|[=-]>|[=:](?![=~]))[ \t\u001b]{0,4}(?:[|>][-+]?[ \t]{0,4}\r?\n[ \t]{1,64}|Just |(?:Ok|Some)\(|(?:[bru]|\[|string\(\d{1,9}\) )(?=["']))?/y

const schemes = /(?:bearer|basic|token|apikey|api-key|negotiate|digest|ssws|dpop)[\s+]{1,3}/iy

/** A scheme of a vendor, in a header that holds nothing else. */
const anyScheme = /[a-z][\w-]{1,24}[ ]{1,3}(?=[\w~.+/=-]{8})/iy

/** `token … is invalid`, `Incorrect API key provided: …`, `enable secret 0 …`. */
const tells = /(?:\s{1,3}(?:provided|given|used|sent|value|is|was|to)){0,2}:?\s{1,3}(?:\d\s{1,3})?/y

/** `name: API_TOKEN, value: …`, `<add key="ApiSecret" value="…">`. */
const besideName = /["']?[ \t]{0,3}[,;]?\s{0,40}["']?\w{0,16}value["']?[ \t]{0,3}[:=][ \t]{0,3}|"(?:\r?\n){2}/iy

/** `define('AUTH_KEY', '…')`, `"AUTH" "…"`, `Auth.api_key("…")` */
const argumentAfter = /(?:["'][ \t]{0,3},?|\()[ \t]{0,3}(?=["'])/y

/** `https://chat.example/hooks/…`, `/with/key/…`, `/password/reset/…` */
const beforePath = /(?:hooks?|invite|key|reset|secret|token)$/i

const afterFlag = /["']?[ \t]{0,3},?[ \t]{0,3}/y

const ends = /[\s"'`,;&<>|)}\]\\\u001b]/g
const lineEnds = /[\r\n"\\\u001b]/g

/** Matches at a place, and returns the end. */
const endOf = (pattern: RegExp, text: string, at: number): number | undefined => {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

const firstOf = (pattern: RegExp, text: string, at: number, length: number): number => {
  const found = text.slice(at, at + length).search(pattern)
  return found < 0 ? Math.min(text.length, at + length) : at + found
}

/** The value at a place, without its quotes. A quote that is not closed is no quote. */
const valueAt = (text: string, from: number, pattern: RegExp, length: number): Span => {
  const quote = text[from] ?? ""
  if (!/["'`]/.test(quote)) return { at: from, end: firstOf(pattern, text, from, length) }
  const close = text.slice(from + 1, from + 1 + length).indexOf(quote)
  return { at: from + 1, end: close < 0 ? firstOf(pattern, text, from + 1, length) : from + 1 + close }
}

/** Reads the names of one text: the value of a name, and the end of the name, because one with several hints is read once. */
export const reader = (text: string) => {
  const credentials = new Map<string, boolean>()
  const isNamed = (name: string): boolean => {
    const known = credentials.get(name) ?? isCredential(name)
    credentials.set(name, known)
    return known
  }

  /** The value at a place, if the beginning of it is a secret. */
  const secretAt = (at: number, isSecret: (value: string) => boolean, pattern = ends): Span | undefined => {
    const { end, ...begin } = valueAt(text, at, pattern, longestJudged)
    if (!isSecret(text.slice(begin.at, end))) return undefined
    return valueAt(text, at, pattern, longestValue)
  }

  /** After a sign of assignment. */
  const assigned = (name: string, before: string, sign: string, isFlag: boolean, at: number): Span | undefined => {
    if (/^(?:set-)?cookie$/i.test(name)) return secretAt(at, isCookies, sign.includes(":") ? lineEnds : ends)
    const quote = /["'`]/.test(text[at] ?? "") ? 1 : 0
    const afterScheme = endOf(schemes, text, at + quote) ??
      (/authorization$/i.test(name) ? endOf(anyScheme, text, at + quote) : undefined)
    if (afterScheme !== undefined) {
      return secretAt(afterScheme, (value) => /^\S{8,}$/.test(value) && !isPlaceholder(value) && !isWord(value))
    }
    const isParameter = sign.includes("=") && /^[?&;]?$/.test(before)
    if (/^(?:session|sid)$/i.test(name)) return secretAt(at, (value) => value.length >= 24 && isRandom(value))
    if (/^(?:code|key|ticket)$/i.test(name) && !isNamed(name)) {
      const isShort = (value: string) => value.length >= 10 && isMixed(value) && isGiven(value)
      return before === "?" || before === "&" || name === "code" && isParameter
        ? secretAt(at, (value) => isRandom(value) || isShort(value))
        : undefined
    }
    if (isPassword(name) && isParameter) return secretAt(at, isMadeUp)
    const isChosen = (value: string) =>
      isGiven(value) && !isPhrase(value) && /^[!-~]+$/.test(value) &&
      (text[at - 1] === "=" || isMixed(value) || /[^\w./:-]/.test(value))
    const password = isPassword(name) ? secretAt(at, isChosen) : undefined
    if (password !== undefined) return password
    if (isPassword(name) && isShouted(name)) return secretAt(at, (value) => value.length >= 6 && isMadeUp(value))
    const hasOnlyValues = isShouted(name) || isFlag || isParameter || sign.includes("=") && before === ":" ||
      sign.startsWith(":") && isHeader(name)
    return secretAt(at, hasOnlyValues ? isGiven : isOpaque)
  }

  const following = (name: string, isFlag: boolean, end: number): Span | undefined => {
    const isSecret = isPassword(name) ? isMadeUp : isGiven
    const beside = endOf(besideName, text, end)
    if (beside !== undefined) return isNamed(name) ? secretAt(beside, isSecret) : undefined
    if (text[end] === "/" && beforePath.test(name)) return secretAt(end + 1, isUnguessable, /[\s"'`?#<>]/g)
    const argument = endOf(argumentAfter, text, end)
    if (argument !== undefined) {
      return isNamed(name) ? secretAt(argument, isShouted(name) ? isOpaque : isUnguessable) : undefined
    }
    if (isFlag) {
      const at = endOf(afterFlag, text, end) ?? end
      return at > end && isNamed(name) ? secretAt(at, (value) => !value.startsWith("-") && isGiven(value)) : undefined
    }
    const at = endOf(tells, text, end)
    if (at === undefined) return undefined
    if (/^bearer$/i.test(name)) return secretAt(at, (value) => value.length >= 16 && isOpaque(value))
    if (/^basic$/i.test(name)) return secretAt(at, isBasic)
    if (!isNamed(name)) return undefined
    const isTold = (value: string) => isRandom(value) || isPassword(name) && isMixed(value) && isGiven(value)
    const value = secretAt(at, (value) => isTold(value.replace(/\.{1,3}$/, "")))
    return value && { at, end: value.end - /\.{0,3}$/.exec(text.slice(at, value.end))![0].length }
  }

  /** `<Password>…</Password>` */
  const enclosed = (name: string, end: number): Span | undefined => {
    const value = secretAt(end + 1, isPassword(name) ? isMadeUp : isGiven, /</g)
    return value !== undefined && text.startsWith("</", value.end) && isNamed(name) ? value : undefined
  }

  return (at: number): { readonly value: Span | undefined; readonly next: number } => {
    let from = at
    while (from > 0 && at - from < longestName && /[\w-]/.test(text[from - 1]!)) from--
    const end = endOf(nameChars, text, at)!
    const written = text.slice(from, end)
    const bare = written.replace(/^[-_]+/, "")
    const name = /^key$/i.test(bare)
      ? `${keyed.exec(text.slice(Math.max(0, from - 12), from))?.[0] ?? ""}${bare}`
      : bare
    const isFlag = written.startsWith("-")
    const before = text[from - 1] ?? ""
    if (text[end] === ">" && /[<:]/.test(before)) return { value: enclosed(name, end), next: end }
    const value = endOf(assigns, text, end)
    if (value === undefined) return { value: following(name, isFlag, end), next: end }
    const sign = text.slice(end, value).replace(/["'`\]\s\u001b]/g, "")
    const isRead = isNamed(name) || /^(?:basic|code|key|session|sid|ticket)$/i.test(name)
    return { value: isRead ? assigned(name, before, sign, isFlag, value) : undefined, next: end }
  }
}
