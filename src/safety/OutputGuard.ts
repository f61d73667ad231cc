/**
 * The text of a server as a model gets it: of bounded length, without hidden characters, and marked as untrusted. Text that
 * reads like orders to the model is labelled, and never held back.
 */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as McpEvent from "../McpEvent.ts"
import type * as ToolResult from "../tools/ToolResult.ts"
import { beginAfter, endBefore } from "./graphemes.ts"
import type * as HiddenText from "./HiddenText.ts"
import * as InjectionScan from "./InjectionScan.ts"
import * as Nonce from "./Nonce.ts"
import * as ResultText from "./resultText.ts"
import * as Spill from "./Spill.ts"
import * as Tokens from "./Tokens.ts"
import { gapNotice, pageNotice, shown, wrapped } from "./wrapper.ts"

export type { Attachment } from "./resultText.ts"

export interface Options {
  /** Characters of a text without its wrapper. Of a longer one the beginning and the end are kept. */
  readonly maxResultChars: number
  /** Tokens of a text without its wrapper. */
  readonly maxTokens: number
  /** Keeps the whole of a text that is too long, to be read page by page. */
  readonly spill: boolean
  /** Labels text that reads like orders to the model. */
  readonly scan: boolean
  /** Puts the text between tags that name its source and that nothing in it can close. */
  readonly wrap: boolean
  /** The tool with which a model can read kept texts, for the note in a text that is too long. */
  readonly readTool: string | undefined
}

export const defaults: Options = {
  maxResultChars: 50_000,
  maxTokens: 25_000,
  spill: true,
  scan: true,
  wrap: true,
  readTool: undefined
}

/** The origin of a text. A text that is not of a tool has the URI of its resource, or the name of its prompt. */
export interface Source {
  readonly server: string
  readonly tool: string
  readonly kind?: "tool" | "resource" | "prompt" | "error" | "instructions"
  /** The limit of its server, where that is lower than the limit of the guard. */
  readonly maxResultChars?: number | undefined
}

export interface Rendered {
  /** For a model. */
  readonly text: string
  /** The same without the wrapper. */
  readonly body: string
  readonly attachments: ReadonlyArray<ResultText.Attachment>
  readonly isError: boolean
  /** The characters, and about how many tokens, that were left out. */
  readonly truncated:
    | { readonly chars: number; readonly tokens: number; readonly spilled: string | undefined }
    | undefined
  /** Text that reads like orders to a model; places are those in the text as it came. */
  readonly signals: ReadonlyArray<InjectionScan.Signal>
  /** Hidden text, which is now visible or removed. */
  readonly hidden: ReadonlyArray<HiddenText.Finding>
}

/** A page of a text that was too long. */
export interface RenderedPage extends Rendered {
  readonly offset: number
  /** The offset of the next page; `undefined` after the last one. */
  readonly next: number | undefined
}

export class OutputGuard extends Context.Tag("effect-mcp-runtime/safety/OutputGuard")<OutputGuard, {
  /** The result of a call. */
  readonly render: (
    result: Pick<ToolResult.ToolResult, "content" | "structuredContent" | "isError">,
    source: Source
  ) => Effect.Effect<Rendered>
  /** Any other text of a server: a resource, a prompt, an error, instructions. */
  readonly renderText: (text: string, source: Source) => Effect.Effect<Rendered>
  /** A page of a text that was too long, as much of it as there is room for. */
  readonly renderPage: (handle: string, range?: Spill.Range) => Effect.Effect<RenderedPage, Spill.SpillError>
}>() {}

type Requirements = McpEvent.McpEvents | Spill.Spill | Tokens.Tokens

type Signals = Rendered["signals"]

/** A text as it is shown, and the findings in the part that is shown. */
interface Seen extends Pick<Rendered, "body" | "hidden" | "signals" | "truncated"> {}

interface Room {
  readonly chars: number
  readonly tokens: number
}

type Count = Tokens.Tokens["Type"]["count"]

/** No UTF-16 unit has more tokens, because vocabularies have one for each byte. */
const maxTokensOfUnit = 3

/** The share of the room that a text takes; a text that is short enough is not counted. */
const shareOf = (text: string, room: Room, count: Count): Effect.Effect<number> => {
  const chars = text.length / room.chars
  return chars > 1 || text.length * maxTokensOfUnit <= room.tokens
    ? Effect.succeed(chars)
    : Effect.map(count(text), (tokens) => Math.max(chars, tokens / room.tokens))
}

/** An end of a text, and as it is shown. */
interface End {
  readonly raw: string
  readonly text: string
  readonly findings: ReadonlyArray<HiddenText.Finding>
}

const nothing: End = { raw: "", text: "", findings: [] }

/** A slice keeps the whole string in memory; a copy does not. */
const copied = (text: string): string => Buffer.from(text, "utf16le").toString("utf16le")

/** Each try costs a count; the first one is mostly right. */
const maxTries = 10

/** A result that fills this share of the room is not improved. */
const enough = 0.9

/** As much of the beginning or the end of a text as there is room for once it is shown. */
const fit = Effect.fnUntraced(function*(whole: string, from: "head" | "tail", room: Room, count: Count) {
  if (room.chars < 1 || room.tokens < 1) return nothing
  const most = Math.min(whole.length, room.chars)
  let best = nothing
  let fits = 0
  let tooMuch = most + 1
  let size = most
  for (let left = maxTries; left > 0 && size > fits; left--) {
    const raw = copied(
      from === "head" ? whole.slice(0, endBefore(whole, size)) : whole.slice(beginAfter(whole, whole.length - size))
    )
    const { findings, text } = shown(raw)
    const share = yield* shareOf(text, room, count)
    if (share <= 1) {
      best = { raw, text, findings }
      if (share >= enough || size === most) return best
      fits = size
    } else {
      tooMuch = size
    }
    const guess = Math.floor(size / share * 0.98)
    size = guess > fits && guess < tooMuch ? guess : Math.floor((fits + tooMuch) / 2)
  }
  return best
})

/** The share of the room for the beginning of a long text, because it says what the rest is. */
const headShare = 2 / 3

/** Line breaks between the parts. */
const joints = 2

/** Characters of the left out part that are counted for its notice. */
const sampled = 8 * 1024

const shifted = <A extends { readonly at: number }>(found: ReadonlyArray<A>, by: number): ReadonlyArray<A> =>
  found.map((finding) => ({ ...finding, at: finding.at + by }))

const textOnly = (text: string): ResultText.ResultText => ({ text, attachments: [], json: [] })

const make = (options?: Partial<Options>): Effect.Effect<OutputGuard["Type"], never, Requirements> =>
  Effect.gen(function*() {
    const { maxResultChars, maxTokens, readTool, scan: scans, spill: spills, wrap } = { ...defaults, ...options }
    const { publish } = yield* McpEvent.McpEvents
    const nonce = yield* Nonce.Nonce
    const spill = yield* Spill.Spill
    const { count } = yield* Tokens.Tokens
    const scanner = yield* InjectionScan.InjectionScan

    const roomOf = (source: Source): Room => ({
      chars: Math.max(0, Math.min(maxResultChars, source.maxResultChars ?? maxResultChars)),
      tokens: Math.max(0, maxTokens)
    })

    const roomBeside = (notice: string, room: Room): Effect.Effect<Room> =>
      Effect.map(count(notice), (tokens) => ({
        chars: room.chars - notice.length - joints,
        tokens: room.tokens - tokens - joints
      }))

    const scan = (text: string, { kind = "tool" }: Source): Effect.Effect<Signals> =>
      scans ? scanner.scan(text, kind === "tool" ? "result" : kind) : Effect.succeed([])

    /** Adds the signals that only show once escapes are read, at the place of their JSON. */
    const withJson = Effect.fnUntraced(function*({ json }: ResultText.ResultText, signals: Signals, source: Source) {
      const more: Array<InjectionScan.Signal> = []
      for (const { at, end, words } of json) {
        if (more.length >= InjectionScan.defaults.maxSignals) break
        const inJson = signals.filter((each) => each.at >= at && each.at < end)
        const known = new Set(inJson.map(({ category }) => category))
        const found = yield* scan(words, source)
        for (const signal of found) if (!known.has(signal.category)) more.push({ ...signal, at })
      }
      return [...signals, ...more]
    })

    /** The whole text, if there is room for it. */
    const whole = Effect.fnUntraced(function*(text: string, room: Room, source: Source) {
      // hidden characters are removed, so a text may get shorter, but a longer one is not worth the work
      if (text.length > 2 * room.chars) return undefined
      const { findings, text: body } = shown(text)
      if (body !== "" && (yield* shareOf(body, room, count)) > 1) return undefined
      return { body, signals: yield* scan(text, source), hidden: findings, truncated: undefined }
    })

    const tokensBetween = (text: string, from: number, to: number): Effect.Effect<number> => {
      const part = text.slice(from, Math.min(to, from + sampled))
      return part === ""
        ? Effect.succeed(0)
        : Effect.map(count(part), (tokens) => Math.ceil(tokens * ((to - from) / part.length)))
    }

    /** The beginning and the end of a text, with a notice between them. */
    const ends = Effect.fnUntraced(function*(text: string, room: Room, source: Source) {
      const spilled = Option.getOrUndefined(spills ? yield* spill.write(text, source) : Option.none())
      const { length } = text
      const longest = { chars: length, tokens: maxTokensOfUnit * length, offset: length, spilled }
      const left = yield* roomBeside(gapNotice(longest, readTool), room)
      const headRoom = { chars: Math.floor(left.chars * headShare), tokens: Math.floor(left.tokens * headShare) }
      const head = yield* fit(text, "head", headRoom, count)
      const offset = head.raw.length
      const tailRoom = {
        chars: Math.min(left.chars - headRoom.chars, length - offset),
        tokens: left.tokens - headRoom.tokens
      }
      const tail = yield* fit(text, "tail", tailRoom, count)
      const begin = length - tail.raw.length
      const tokens = yield* tokensBetween(text, offset, begin)
      const truncated = { chars: begin - offset, tokens, spilled }
      const { server, tool } = source
      publish(McpEvent.McpEvent.OutputTruncated({ server, tool, ...truncated }))
      return {
        body: [head.text, gapNotice({ ...truncated, offset }, readTool), tail.text].filter((part) => part !== "")
          .join("\n"),
        signals: [...(yield* scan(head.raw, source)), ...shifted(yield* scan(tail.raw, source), begin)],
        hidden: [...head.findings, ...shifted(tail.findings, begin)],
        truncated
      }
    })

    const finish = Effect.fnUntraced(function*(
      seen: Seen,
      result: ResultText.ResultText,
      isError: boolean,
      source: Source
    ) {
      const { body, hidden } = seen
      const signals = yield* withJson(result, seen.signals, source)
      if (signals.length > 0 || hidden.some(({ level }) => level !== "low")) {
        const { server, tool } = source
        publish(McpEvent.McpEvent.OutputFlagged({ server, tool, signals, hidden }))
      }
      const text = wrap ? wrapped(body, source, yield* nonce) : body
      return { ...seen, text, attachments: result.attachments, isError, signals }
    })

    const guard = Effect.fnUntraced(function*(result: ResultText.ResultText, isError: boolean, source: Source) {
      const room = roomOf(source)
      const seen = (yield* whole(result.text, room, source)) ?? (yield* ends(result.text, room, source))
      return yield* finish(seen, result, isError, source)
    })

    const renderPage = Effect.fnUntraced(function*(handle: string, range?: Spill.Range) {
      const limit = Math.max(1, Math.min(range?.limit ?? Spill.defaultLimit, maxResultChars))
      const { offset, source, text, next: afterPage } = yield* spill.read(handle, { offset: range?.offset, limit })
      const room = roomOf(source)
      const part = yield* fit(
        text,
        "head",
        yield* roomBeside(pageNotice(handle, offset + text.length, readTool), room),
        count
      )
      // a page has at least one character, so that a reader gets on
      const length = part.raw.length > 0 ? part.raw.length : beginAfter(text, 1)
      const next = length < text.length ? offset + length : afterPage
      const notice = next === undefined ? [] : [pageNotice(handle, next, readTool)]
      const seen: Seen = {
        body: [part.text, ...notice].join("\n"),
        signals: shifted(yield* scan(part.raw, source), offset),
        hidden: shifted(part.findings, offset),
        truncated: undefined
      }
      return { ...(yield* finish(seen, textOnly(text), false, source)), offset, next }
    })

    return {
      render: (result, source) => Effect.suspend(() => guard(ResultText.make(result), result.isError, source)),
      renderText: (text, source) => Effect.suspend(() => guard(textOnly(text), source.kind === "error", source)),
      renderPage
    }
  })

export const layer = (options?: Partial<Options>): Layer.Layer<OutputGuard, never, Requirements> =>
  Layer.effect(OutputGuard, make(options))

const positive = (name: string, otherwise: number) =>
  Config.integer(name).pipe(
    Config.validate({ message: "expected a positive number", validation: (number) => number > 0 }),
    Config.withDefault(otherwise)
  )

/** `MAX_MCP_OUTPUT_TOKENS` and `MCP_MAX_RESULT_CHARS` of an operator override the options of the application. */
export const makeConfig = (
  options?: Partial<Options>
): Effect.Effect<OutputGuard["Type"], ConfigError.ConfigError, Requirements> =>
  Effect.gen(function*() {
    const all = { ...defaults, ...options }
    const maxTokens = yield* positive("MAX_MCP_OUTPUT_TOKENS", all.maxTokens)
    const maxResultChars = yield* positive("MCP_MAX_RESULT_CHARS", all.maxResultChars)
    return yield* make({ ...all, maxTokens, maxResultChars })
  })
