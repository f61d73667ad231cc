/**
 * The words of a folded text, with what stands between them that matters: sentences, clauses, and the marks that give a
 * text a structure. Marks are words too, with names that no word can have.
 *
 * @internal
 */
import { isDense } from "./lexicon.ts"
import * as Marks from "./marks.ts"
import { placesOf } from "./places.ts"

/** What is known of a word at a glance. @internal */
export const flags = { leads: 1, figures: 2, foreign: 4, joined: 8, apostrophe: 16, dense: 32 } as const

/** @internal */
export class Words {
  readonly text: string
  count = 0
  starts: Int32Array<ArrayBuffer>
  ends: Int32Array<ArrayBuffer>
  /** How many words came before, with sentences and lines counted as some more. */
  positions: Int32Array<ArrayBuffer>
  sentences: Int32Array<ArrayBuffer>
  flags: Uint8Array<ArrayBuffer>
  /** Words that are not as they stand in the text. */
  readonly #others: Array<string | undefined> = []
  #next: string | undefined = undefined

  constructor(text: string) {
    this.text = text
    const room = Math.min(256, (text.length >> 2) + 2)
    this.starts = new Int32Array(room)
    this.ends = new Int32Array(room)
    this.positions = new Int32Array(room)
    this.sentences = new Int32Array(room)
    this.flags = new Uint8Array(room)
  }

  put(start: number, end: number, position: number, sentence: number, flags: number): void {
    if (this.count === this.starts.length) this.#grow()
    this.starts[this.count] = start
    this.ends[this.count] = end
    this.positions[this.count] = position
    this.sentences[this.count] = sentence
    this.flags[this.count] = flags
    this.#others.push(this.#next)
    this.#next = undefined
    this.count += 1
  }

  /** What the next word is, where it is not as it stands. */
  name(word: string): void {
    this.#next = word
  }

  other(token: number): string | undefined {
    return this.#others[token]
  }

  word(token: number): string {
    return this.other(token) ?? this.text.slice(this.starts[token], this.ends[token])
  }

  leads(token: number): boolean {
    return (this.flags[token]! & flags.leads) !== 0
  }

  #grow(): void {
    const double = (array: Int32Array): Int32Array<ArrayBuffer> => {
      const larger = new Int32Array(array.length * 2)
      larger.set(array)
      return larger
    }
    this.starts = double(this.starts)
    this.ends = double(this.ends)
    this.positions = double(this.positions)
    this.sentences = double(this.sentences)
    const larger = new Uint8Array(this.flags.length * 2)
    larger.set(this.flags)
    this.flags = larger
  }
}

/** @internal */
export const markPrefix = "="

const longestChunk = 512

/** After these a verb is as much an order as at the beginning. */
const openers: ReadonlySet<string> = new Set([
  ..."please now then and must to should just you also so or but simply kindly first instead lets ok okay always"
    .split(" "),
  ..."immediately next therefore shall finally quickly again hereby ai assistant agent model llm chatbot claude"
    .split(" "),
  ..."gpt chatgpt gemini copilot dont never not strictly completely entirely fully totally do yes sure hey".split(" ")
])

/** After these only where it is the model that will or can: of others it is said what they do. */
const modals: ReadonlySet<string> = new Set(["will", "can", "could", "would", "may"])

/** Settings without which what protects a connection does not. */
const unsafeSettings =
  /^(?:node_tls_reject_unauthorized|git_ssl_no_verify|pythonhttpsverify|npm_config_strict_ssl|strict_ssl|curl_insecure|ssl_verify|verify_ssl|tls_verify|verify_tls|insecure_skip_verify|insecureskipverify|aws_no_verify_ssl|git_ssl_verify|stricthostkeychecking|disable_ssl_verification|disable_sandbox|no_sandbox|sandbox_mode)$/

const isWord = (code: number): boolean => {
  if (code < 0x80) {
    return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a)
  }
  if (code <= 0xbf || code === 0xd7 || code === 0xf7) return code === 0xaa || code === 0xb5 || code === 0xba
  if (code >= 0x2000 && code <= 0x2bff) return false
  if (code >= 0x3000 && code <= 0x303f) return false
  if (code === 0x060c || code === 0x061b || code === 0x061f || code === 0x06d4 || code === 0x0964 || code === 0x0965) {
    return false
  }
  return code < 0xd800 || (code >= 0xf900 && code <= 0xfdff) || (code >= 0xfe70 && code <= 0xfeff)
}

/** A table of the characters of ASCII in a text. */
function set(chars: string): Uint8Array {
  const table = new Uint8Array(0x80)
  for (const char of chars) table[char.charCodeAt(0)] = 1
  return table
}

const glance = (code: number): number => code > 0x7f ? flags.foreign : code < 0x3a ? flags.figures : 0

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

const endsSentence = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  if (code === 0x3002 || code === 0x0964 || code === 0x061f || code === 0x06d4) return true
  if (code !== 0x2e && code !== 0x21 && code !== 0x3f) return false
  const next = text.charCodeAt(at + 1)
  return Number.isNaN(next) || !isWord(next) || isDense(next)
}

/** Characters that end what stands together: all but letters and figures in the first line, outside of URLs the second. */
const stops = set("\"`<> \n\r\t")
const inner = set("|,;()[]{}'*")

/** `<key>` in an address, where something is to be filled in. */
const gap = /<[a-z][a-z0-9_-]{1,30}>/y

const isGap = (text: string, at: number): boolean => {
  const before = text.charCodeAt(at - 1)
  gap.lastIndex = at
  return (before === 0x3d || before === 0x2f || before === 0x2e) && gap.test(text)
}

/** The end of what stands together without spaces, and whether it may be a place. */
const chunkAt = (text: string, from: number): { readonly end: number; readonly place: boolean } => {
  let place = false
  let url = false
  let at = from
  const limit = Math.min(text.length, from + longestChunk)
  for (; at < limit; at++) {
    const code = text.charCodeAt(at)
    if (code > 0x7f || (code >= 0x61 && code <= 0x7a)) continue
    if (code === 0x3c && url && isGap(text, at)) {
      at = text.indexOf(">", at)
      continue
    }
    if (stops[code] === 1 || (!url && inner[code] === 1 && at > from)) break
    if (code === 0x5c && (text.charCodeAt(at + 1) === 0x6e || text.charCodeAt(at + 1) === 0x72)) break
    if (code === 0x2f || code === 0x2e || code === 0x40 || code === 0x5c || code === 0x7e) {
      place = true
      url ||= code === 0x2f && text.charCodeAt(at - 1) === 0x2f && text.charCodeAt(at - 2) === 0x3a
    }
  }
  return { end: at, place }
}

const longestLabel = 200
const longestAcronym = 4

/** Whether the label of a link, which ends here, is that of an image. */
const isImage = (text: string, end: number): boolean => {
  for (let at = end - 1; at >= 0 && at > end - longestLabel; at--) {
    if (text.charCodeAt(at) === 0x5b) return text.charCodeAt(at - 1) === 0x21
  }
  return false
}

const trailing = /[.,;:!?'")\]>*]+$/
const leading = /^[[{('"*_]+/

const never = (): boolean => false

/** `isCapital` says whether a letter was one before the text was folded. @internal */
export const split = (text: string, isCapital: (at: number) => boolean = never): Words => {
  const found = new Words(text)
  const marks = new Marks.Marks(text)
  let position = 0
  let sentence = 0
  let leads = true
  const put = (name: string, start: number, end: number): void => {
    found.name(markPrefix + name.toLowerCase())
    found.put(start, end, position, sentence, leads ? flags.leads : 0)
  }
  const mark = (name: string, start: number, end: number): void => {
    put(name, start, end)
    position += 1
  }
  let chunkEnd = 0
  let capital = false
  let lineStart = true
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at)
    if (lineStart) {
      lineStart = false
      let after = at
      for (const { end, name } of marks.ofLine(at)) {
        mark(name, at, end)
        if (name === "SYSROLE" || name === "TURN") after = end
      }
      leads = true
      if (after > at) {
        at = after
        continue
      }
    }
    if (code === 0x20) {
      at += 1
      continue
    }
    if (code === 0x0a || code === 0x0d) {
      const next = text.charCodeAt(at + 1)
      const item = (next === 0x2d || next === 0x2a || next === 0x7c) && isSpace(text.charCodeAt(at + 2))
      const empty = next === 0x0a || item
      position += empty ? 4 : 1
      if (empty) sentence += 1
      leads = true
      lineStart = true
      at += 1
      continue
    }
    if (
      at >= chunkEnd && !isSpace(code) && code !== 0x22 && code !== 0x60 && code !== 0x27 && code !== 0x28 &&
      code !== 0x3c
    ) {
      const chunk = chunkAt(text, at)
      chunkEnd = Math.max(chunk.end, at + 1)
      if (chunk.place) {
        const inner = text.slice(at, chunk.end).replace(trailing, "")
        const places = placesOf(inner.replace(leading, ""))
        if (places.length > 0) {
          for (const place of places) put(place, at, at + inner.length)
          position += 1
          leads = false
          at += inner.length
          continue
        }
      }
    }
    if (code === 0x5d && text.charCodeAt(at + 1) === 0x28) {
      const link = chunkAt(text, at + 2)
      const inner = text.slice(at + 2, link.end).replace(trailing, "")
      const places = link.place ? placesOf(inner) : []
      if (places.length > 0) {
        mark(isImage(text, at) ? "IMAGE" : "LINK", at, at + 2)
        for (const place of places) mark(place, at + 2, at + 2 + inner.length)
        at += 2 + inner.length
        continue
      }
    }
    if (isWord(code)) {
      const start = at
      const dense = isDense(code)
      let seen = (dense ? flags.dense : 0) | glance(code)
      for (at += 1; at < text.length; at++) {
        const next = text.charCodeAt(at)
        if (isWord(next) && isDense(next) === dense) seen |= glance(next)
        else if (next === 0x5f && !dense && isWord(text.charCodeAt(at + 1))) seen |= flags.joined
        else if (next === 0x27 && isWord(text.charCodeAt(at + 1))) seen |= flags.apostrophe
        else break
      }
      // a capital after a small letter begins a sentence, also where nothing ends the one before; not that of a name
      const before = capital
      capital = isCapital(start)
      leads ||= capital && !before && (at - start > longestAcronym || !isCapital(start + 1))
      if ((seen & flags.joined) !== 0 || text.charCodeAt(at) === 0x28) put("SNAKE", start, at)
      if (at - start > 9 && unsafeSettings.test(text.slice(start, at))) put("UNSAFESETTING", start, at)
      if ((seen & flags.apostrophe) !== 0) found.name(text.slice(start, at).replaceAll("'", ""))
      found.put(start, at, position, sentence, seen | (leads ? flags.leads : 0))
      position += dense ? Math.ceil((at - start) / 3) : 1
      const led: boolean = leads
      leads = false
      if ((seen & ~(flags.leads | flags.apostrophe)) === 0 && at - start < 12) {
        const word = text.slice(start, at)
        leads = openers.has(word) || (led && modals.has(word))
      }
      continue
    }
    if (code === 0x5c && (text.charCodeAt(at + 1) === 0x6e || text.charCodeAt(at + 1) === 0x72)) {
      position += 1
      leads = true
      lineStart = true
      at += 2
      continue
    }
    const end = marks.at(at, (name, end) => mark(name, at, end))
    if (end > at) {
      at = end
      leads = true
      continue
    }
    if (endsSentence(text, at)) {
      sentence += 1
      position += 2
      leads = true
    } else if (code !== 0x2d || isSpace(text.charCodeAt(at + 1)) || isSpace(text.charCodeAt(at - 1))) leads = true
    at += 1
  }
  return found
}
