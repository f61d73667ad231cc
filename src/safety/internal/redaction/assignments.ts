/**
 * Secrets that only their names give away: `API_KEY=…`, `"password": "…"`, `--token …`, `Authorization: Bearer …`,
 * `?access_token=…`. What is around the word of a credential is read as a name, a sign between, and a value.
 *
 * @internal
 */
import * as CredentialName from "./credentialName.ts"
import * as Pattern from "./pattern.ts"
import * as SecretValue from "./secretValue.ts"

/** Who a program logs in as, with the password behind a colon. */
const users: ReadonlySet<string> = new Set(["--user ", "--user=", "-u "])

/**
 * Each stands in every name that `CredentialName` takes for one; what they find is looked at more closely.
 *
 * @internal
 */
export const keywords = [
  ...users,
  "access key",
  "api key",
  "api_key",
  "api-key",
  "apikey",
  "assertion",
  "auth",
  "basic",
  "bearer",
  "code=",
  "code_verifier",
  "cookie",
  "credential",
  "jwt",
  "kennwort",
  "passcode",
  "passphrase",
  "passw",
  "pass=",
  "pwd",
  "secret",
  "secret key",
  "senha",
  "session",
  "signature",
  "sig=",
  "token",
  "_key",
  "-key",
  "_pass",
  "_pat",
  "key=",
  "accesskey",
  "accountkey",
  "privatekey",
  "sharedaccesskey",
  "masterkey",
  "signingkey",
  "encryptionkey"
]

const longestName = 96
const longestValue = 4096
/** What is looked at of a value to judge it. */
const judged = 128

const isNameCode = (code: number): boolean =>
  code >= 48 && code <= 57 || code >= 65 && code <= 90 || code >= 97 && code <= 122 || code === 95 || code === 45

const quotes = ["\\\"", "\\'", "&quot;", "&#34;", "&#39;", "&apos;", "&#x27;", "%22", "%27", "\"", "'", "`"]

const quoteAt = (text: string, at: number): string =>
  "\\&%\"'`".includes(text[at] ?? " ") ? quotes.find((quote) => text.startsWith(quote, at)) ?? "" : ""

const spaces = (text: string, at: number, most: number): number => {
  let next = at
  for (let count = 0; count < most; count++) {
    if (text[next] === " " || text[next] === "\t") next++
    else if (text.startsWith("%20", next)) next += 3
    else break
  }
  return next
}

const signs = [":=", "=>", "=", ":", "%3D", "%3A", "%3d", "%3a", "&#61;"]

const schemes = /(?:bearer|basic|token|apikey|api-key|negotiate|digest|ssws|dpop)(?:\s{1,3}|%20|\+)/iy

/** The name around a word. An escape before it is no part of it. */
const nameAround = (text: string, at: number): { readonly from: number; readonly to: number } => {
  let from = at
  while (from > 0 && at - from < longestName && isNameCode(text.charCodeAt(from - 1))) from--
  from = Math.min(at, from + Pattern.glued(text, from))
  let to = at
  while (to < text.length && to - at < longestName && isNameCode(text.charCodeAt(to))) to++
  return { from, to }
}

/** What stands between a secret and the word for it. */
const between = /(?:\s{1,3}(?:provided|given|used|sent|value|is|was))?:?\s{1,3}/y

/** What follows a name whose value is told beside it: `name: API_TOKEN, value: …`, `<add key="ApiSecret" value="…">`. */
const beside = /["']?[ \t]{0,3}[,;]?\s{0,40}["']?value["']?[ \t]{0,3}[:=][ \t]{0,3}/iy

/** Before the password of a `.netrc`. */
const login = /\blogin\s{1,4}\S{1,64}\s{1,4}$/

interface Value {
  readonly from: number
  readonly to: number
}

const lineEnds = /[\r\n]|\\[nr]/g

const ends = /[\s"'`,;&<>|)}\]\\\u001b]|%0[aAdD]|%2[026]|$/g

/** Where unquoted texts end; what was found for one holds for all that begin within it. */
const endings = (text: string, pattern: RegExp) => {
  let known: Value = { from: -1, to: -1 }
  return (from: number): number => {
    if (from < known.from || from >= known.to) {
      pattern.lastIndex = 0
      const found = pattern.exec(text.slice(from, from + longestValue))
      known = { from, to: found === null ? Math.min(text.length, from + longestValue) : from + found.index }
    }
    return known.to
  }
}

const isCookie = (name: string): boolean => /^(?:set-)?cookie$/i.test(name)

/** What names a header of credentials alone, whatever follows it. */
const isHeader = (name: string): boolean =>
  /^(?:proxy-)?authorization$|^(?:set-)?cookie$|^mcp-session-id$|^x-[a-z-]{0,40}$|^api-?key$/i.test(name)

/** Who it is and the word that proves it, in base64. */
const isBasic = (value: string): boolean =>
  value.length >= 8 && /^[\w+/-]+={0,2}$/.test(value) &&
  /^[\u0020-\u007e]+:[\u0020-\u007e]*$/.test(Buffer.from(value, "base64").toString("latin1"))

/** @internal */
export interface Found {
  readonly span: Value | undefined
  /** The name that was read ends here. */
  readonly next: number
}

/**
 * Reads the name around a place in this text: where the secret is that it names, if it names one.
 *
 * @internal
 */
export const reader = (text: string): (at: number, word: string) => Found => {
  const { isCredential } = CredentialName
  const { isGiven, isOpaque } = SecretValue
  const lineEnd = endings(text, lineEnds)
  const end = endings(text, ends)

  const valueAt = (at: number, isLine: boolean): Value => {
    const quote = quoteAt(text, at)
    const from = at + quote.length
    if (quote !== "") {
      const close = text.slice(from, from + longestValue).indexOf(quote)
      if (close >= 0) return { from, to: from + close }
    }
    return { from, to: isLine ? lineEnd(from) : end(from) }
  }

  const shown = ({ from, to }: Value): string => text.slice(from, Math.min(to, from + judged))

  /** `at` is where the value begins, with its quote. */
  const withoutScheme = (at: number, value: Value): { readonly value: Value; readonly scheme: boolean } => {
    schemes.lastIndex = value.from
    const found = schemes.exec(text)
    if (found === null) return { value, scheme: false }
    const from = value.from + found[0].length
    const isQuoted = value.from > at
    return { value: { from, to: isQuoted ? Math.min(end(from), Math.max(from, value.to)) : end(from) }, scheme: true }
  }

  /** `curl -u user:password` */
  const ofUser = (at: number): Value | undefined => {
    const value = valueAt(at, false)
    const colon = shown(value).indexOf(":")
    const password = { from: value.from + colon + 1, to: value.to }
    return colon > 0 && isGiven(shown(password)) ? password : undefined
  }

  /** After the word for a secret in a sentence: `token … is invalid`, `Incorrect API key provided: …`. */
  const spoken = (to: number): Value | undefined => {
    between.lastIndex = to
    const found = between.exec(text)
    if (found === null) return undefined
    const value = valueAt(to + found[0].length, false)
    const dots = /\.{1,3}$/.exec(shown(value))?.[0].length ?? 0
    const secret = { from: value.from, to: value.to - dots }
    return SecretValue.isRandom(shown(secret)) ? secret : undefined
  }

  /** `<Password>…</Password>` */
  const enclosed = (name: string, to: number): Value | undefined => {
    const from = to + 1
    const length = text.slice(from, from + longestValue).indexOf("<")
    if (length <= 0 || !text.startsWith("</", from + length)) return undefined
    const value = { from, to: from + length }
    const secret = shown(value)
    const isOne = CredentialName.isPassword(name) ? SecretValue.isMadeUp(secret) : isGiven(secret)
    return isOne ? value : undefined
  }

  /** After a name that nothing is assigned to: `Bearer …`, `Basic …`, `--token …`, `"--token", "…"`. */
  const following = (name: string, to: number, next: number): Value | undefined => {
    if (name.startsWith("-")) {
      const value = valueAt(text[next] === "," ? spaces(text, next + 1, 3) : next, false)
      const secret = shown(value)
      return !secret.startsWith("-") && isGiven(secret) ? value : undefined
    }
    beside.lastIndex = to
    const told = beside.exec(text)
    if (told !== null) {
      const value = valueAt(to + told[0].length, false)
      const secret = shown(value)
      const isOne = CredentialName.isPassword(name) ? SecretValue.isMadeUp(secret) : isGiven(secret)
      return isOne ? value : undefined
    }
    if (next === to) return undefined
    if (/^passw(?:or)?d$/.test(name) && login.test(text.slice(Math.max(0, to - 90), to - name.length))) {
      const value = valueAt(next, false)
      return SecretValue.isMadeUp(shown(value)) ? value : undefined
    }
    if (!/^(?:bearer|basic)$/i.test(name)) return spoken(to)
    const value = valueAt(next, false)
    const secret = shown(value)
    if (/^bearer$/i.test(name)) return secret.length >= 16 && isOpaque(secret) ? value : undefined
    return isBasic(secret) ? value : undefined
  }

  const isSecret = (name: string, before: string, sign: string, isFlag: boolean, value: Value, scheme: boolean) => {
    const secret = shown(value)
    const isValue = sign.startsWith("=") || sign.startsWith("%")
    const isPart = isValue && (before === "" || before === "?" || before === "&" || before === ";")
    if (isCookie(name)) return SecretValue.isCookie(secret)
    if (scheme) return secret.length >= 8 && !SecretValue.isPlaceholder(secret) && !SecretValue.isWord(secret)
    if (/^key$/i.test(name)) return isPart && before !== "" && before !== ";" && SecretValue.isRandom(secret)
    if (/^code$/i.test(name)) return isPart && secret.length >= 16 && isGiven(secret)
    if (CredentialName.isPassword(name)) {
      if (isPart) return SecretValue.isMadeUp(secret)
      if (CredentialName.isShouted(name)) return secret.length >= 6 && SecretValue.isMadeUp(secret)
    }
    // only values stand in an environment, a header, a query, a flag
    return CredentialName.isShouted(name) || isFlag || isPart || (isValue && before === ":") ||
        (sign === ":" && isHeader(name))
      ? isGiven(secret)
      : isOpaque(secret)
  }

  return (at, word) => {
    const wordEnd = at + word.length
    if (users.has(word)) return { span: ofUser(wordEnd), next: wordEnd }
    if (word.includes(" ")) return { span: spoken(wordEnd), next: wordEnd }
    const { from, to } = nameAround(text, at)
    const written = text.slice(from, to)
    const name = written.replace(/^[-_]+/, "")
    if (!isCredential(name) && !/^(?:basic|key)$/i.test(name)) return { span: undefined, next: to }
    const before = text[from - 1] ?? ""
    if (text[to] === ">" && (before === "<" || before === ":")) return { span: enclosed(name, to), next: to }
    const quote = quoteAt(text, to)
    // `environment["API_KEY"] = …`
    const closed = to + quote.length + (quote !== "" && text[to + quote.length] === "]" ? 1 : 0)
    const past = spaces(text, closed, 3)
    const sign = signs.find((sign) => text.startsWith(sign, past))
    if (sign === undefined) {
      const span = past === closed && !/[,\n\r]/.test(text[past] ?? "") ? undefined : following(written, to, past)
      return { span, next: to }
    }
    const next = spaces(text, past + sign.length, 3)
    if (text[next] === "=" || text[next] === "~") return { span: undefined, next: to }
    const { scheme, value } = withoutScheme(next, valueAt(next, sign === ":" && isCookie(name)))
    return {
      span: isSecret(name, before, sign, written.startsWith("-"), value, scheme) ? value : undefined,
      next: to
    }
  }
}
