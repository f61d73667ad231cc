/**
 * Hides secrets in errors, logs, spans, events and terminal output. Messages between a server and the application are
 * unchanged.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Scoped from "../scoped.ts"
import { isCredential } from "../text/credentialName.ts"
import * as KnownSecrets from "./knownSecrets.ts"
import * as NamedSecrets from "./namedSecrets.ts"
import * as SecretFormats from "./secretFormats.ts"
import { merged, scanned, type Span } from "./textViews.ts"
import * as WordFinder from "./wordFinder.ts"

export interface Redactor {
  /** Hides known values and text in the format of a secret. Returns the same string if there is nothing to hide. */
  readonly text: (text: string) => string
  /** Hides known values only, for a text that a person decides by: a server cannot hide a part by its format. */
  readonly known: (text: string) => string
  /** Hides in all texts of a value, and everything under the name of a credential. The shape stays. */
  readonly json: (value: unknown) => unknown
  /** Hides a value, in every usual encoding, until the scope closes. */
  readonly know: (secret: Redacted.Redacted) => Effect.Effect<void, never, Scope.Scope>
  /** The same at once. Returns the function that lets go. */
  readonly unsafeKnow: (secret: Redacted.Redacted) => () => void
}

export interface Options {
  /** Hides text that looks like a secret, in addition to known values. */
  readonly formats: boolean
  /** More names of credentials, in any case. */
  readonly sensitive: ReadonlyArray<string>
}

const defaults: Options = { formats: true, sensitive: [] }

// What looks like a secret

const address = "://"
const longestAuthority = 1024

/** The password of an address, or a user that is a token. */
const inAddress = (text: string, from: number): Span | undefined => {
  const authority = /^[^\s/?"'`<>\\|]*/.exec(text.slice(from, from + longestAuthority))![0]
  const host = authority.lastIndexOf("@")
  const user = authority.slice(0, Math.max(0, host))
  const at = user.indexOf(":") + 1
  // the part after a port is a fragment
  const isSecret = at > 0
    ? NamedSecrets.isMadeUp(user.slice(at)) && !/^\d{1,5}#/.test(user.slice(at))
    : !user.includes("#") && user.length >= 16 && NamedSecrets.isGiven(user)
  return isSecret ? { at: from + at, end: from + host } : undefined
}

/** The private parts of a key in JSON. */
const keyPart = /"(?:d|p|q|dp|dq|qi|k)"\s{0,4}:\s{0,4}"([\w-]{16,})/dg

const digits = /[\w+/-]{20,}={0,2}/g
const longestEncoded = 16 * 1024

/** The text that base64 or hexadecimal digits encode. */
const decoded = (run: string): string | undefined => {
  const isHex = /^(?:[0-9a-f]{2})+$/i.test(run)
  const bytes = (length: number) => Buffer.from(run.slice(0, length), isHex ? "hex" : "base64").toString("latin1")
  return [24, longestEncoded].every((length) => /^[\t\n\r -~]+$/.test(bytes(length)))
    ? bytes(longestEncoded)
    : undefined
}

/** The token of a Discord bot: its numeric id, a time and a signature. */
const discord = /(?<![\w-])[MNO](?=[\w-]*\d)[\w-]{22,27}\.[\w-]{6}\.[\w-]{27,45}/dg

/** Made when a text is first looked at. */
const makeScan = () => {
  const formats = SecretFormats.make()
  const words = [...formats.keywords, ...NamedSecrets.hints, address]
  const finder = WordFinder.make(words, true)
  const names = formats.keywords.length

  const scan = (text: string): ReadonlyArray<Span> => {
    const spans: Array<Span> = []
    const read = NamedSecrets.reader(text)
    let nextName = 0
    finder(text, (at, word) => {
      if (word < names) {
        const token = formats.match(text, at, word)
        if (token?.span !== undefined) spans.push(token.span)
        return token?.end
      }
      if (words[word] === address) {
        const span = inAddress(text, at + address.length)
        if (span !== undefined) spans.push(span)
        return span?.end
      }
      if (at < nextName) return undefined
      const { next, value } = read(at)
      nextName = next
      if (value !== undefined) spans.push(value)
      return value?.end
    })
    for (const pattern of text.includes("\"kty\"") ? [discord, keyPart] : [discord]) {
      for (const { indices } of text.matchAll(pattern)) {
        const [at, end] = indices!.at(-1)!
        spans.push({ at, end })
      }
    }
    return spans
  }

  return (text: string): ReadonlyArray<Span> => {
    const spans = [...scan(text)]
    for (const { 0: run, index } of text.matchAll(digits)) {
      const plain = run.length <= longestEncoded ? decoded(run) : undefined
      if (plain !== undefined && scan(plain).length > 0) spans.push({ at: index, end: index + run.length })
    }
    return spans
  }
}

let formats: ReturnType<typeof makeScan> | undefined

const scanFormats = (text: string): ReadonlyArray<Span> => (formats ??= makeScan())(text)

/** The text with a mark in place of what a scan finds in it, and in what it was before each escaping. */
const replaced = (text: string, scan: (text: string) => ReadonlyArray<Span>): string => {
  let result = ""
  let last = 0
  for (const { at, end } of merged(scanned(text, scan))) {
    result += text.slice(last, at) + NamedSecrets.mark
    last = end
  }
  return last === 0 ? text : result + text.slice(last)
}

// Values

const deepest = 64

interface Copy {
  readonly copy: object
  readonly entries: Iterable<readonly [key: unknown, value: unknown]>
  readonly add: (key: unknown, value: unknown) => void
}

/** An empty copy of an object, and what is to go into it. */
const copyOf = (object: object): Copy => {
  if (Array.isArray(object)) {
    const copy: Array<unknown> = []
    return { copy, entries: Array.from(object, (item) => [undefined, item]), add: (_, item) => copy.push(item) }
  }
  if (object instanceof Map) {
    const copy = new Map<unknown, unknown>()
    return { copy, entries: object, add: (key, value) => copy.set(key, value) }
  }
  if (object instanceof Set) {
    const copy = new Set<unknown>()
    return { copy, entries: Array.from(object, (item) => [undefined, item]), add: (_, item) => copy.add(item) }
  }
  // the texts of an error cannot be enumerated, and a key can be `__proto__`
  const keys = object instanceof Error
    ? new Set([...Object.getOwnPropertyNames(object), ...("stack" in object ? ["stack"] : [])])
    : Object.keys(object)
  const copy: object = Object.create(Object.getPrototypeOf(object))
  return {
    copy,
    entries: Array.from(keys, (key) => [key, Reflect.get(object, key)]),
    add: (key, value) => {
      const enumerable = Object.keys(object).includes(String(key))
      Object.defineProperty(copy, String(key), { value, enumerable, configurable: true, writable: true })
    }
  }
}

/** Keeps each part in which nothing is hidden. */
const hiddenIn = (
  value: unknown,
  text: (text: string) => string,
  isSensitive: (name: string) => boolean
): unknown => {
  /** The copies, by whether all of the object is secret. */
  const copies = [new Map<object, unknown>(), new Map<object, unknown>()] as const

  const hidden = (value: unknown, isSecret: boolean, depth: number): unknown => {
    if (typeof value === "string") return isSecret && value !== "" ? NamedSecrets.mark : text(value)
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value
    if (value instanceof URL) {
      const shown = hidden(value.href, isSecret, depth)
      return shown === value.href ? value : shown
    }
    const known = copies[isSecret ? 1 : 0]
    if (known.has(value)) return known.get(value)
    if (depth > deepest) return NamedSecrets.mark
    const { add, copy, entries } = copyOf(value)
    // a reference back to the value finds the copy
    known.set(value, copy)
    let isSame = true
    for (const [key, item] of entries) {
      const isSecretItem = isSecret && !(value instanceof Error) || typeof key === "string" && isSensitive(key)
      const [name, shown] = [hidden(key, false, depth + 1), hidden(item, isSecretItem, depth + 1)]
      isSame &&= name === key && shown === item
      add(name, shown)
    }
    if (isSame) known.set(value, value)
    return isSame ? value : copy
  }

  return hidden(value, false, 0)
}

// The redactor

/** Knows no values at first. */
export const make = (options?: Partial<Options>): Redactor => {
  const { formats, sensitive } = { ...defaults, ...options }
  const known = KnownSecrets.make()
  const more = new Set(sensitive.map((name) => name.toLowerCase()))
  const isSensitive = (name: string): boolean => more.has(name.toLowerCase()) || isCredential(name)

  const spansOf = (text: string): ReadonlyArray<Span> =>
    formats ? [...known.scan(text), ...scanFormats(text)] : known.scan(text)

  const text = (text: string): string => replaced(text, spansOf)

  const unsafeKnow = (secret: Redacted.Redacted): () => void => known.add(Redacted.value(secret))

  return {
    text,
    known: (text) => replaced(text, known.scan),
    json: (value) => hiddenIn(value, text, isSensitive),
    know: (secret) => Scoped.listen(() => unsafeKnow(secret)),
    unsafeKnow
  }
}

/**
 * The redaction of an application. It is on by default and shared by the process, because a secret in a log cannot be
 * taken back. Replace it with `NodeMcpRuntime.using`.
 */
export class Redaction extends Context.Reference<Redaction>()("effect-mcp-runtime/safety/Redaction", {
  defaultValue: (): Redactor => make()
}) {}

export const layer = (options?: Partial<Options>): Layer.Layer<Redaction> =>
  Layer.effect(Redaction, Effect.sync(() => make(options)))

/** Hides nothing. */
export const layerNone: Layer.Layer<Redaction> = Layer.succeed(Redaction, {
  text: (text) => text,
  known: (text) => text,
  json: (value) => value,
  know: () => Effect.void,
  unsafeKnow: () => () => undefined
})
