import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as McpEvent from "../../McpEvent.ts"
import type * as HiddenText from "../HiddenText.ts"
import * as InjectionScan from "../InjectionScan.ts"
import * as Nonce from "../Nonce.ts"
import type { Options, OutputGuard, Rendered, Source } from "../OutputGuard.ts"
import * as Spill from "../Spill.ts"
import * as Tokens from "../Tokens.ts"
import { beginAfter } from "./cut.ts"
import { fit, type Room, tokensWithin } from "./fitting.ts"
import { type Flat, flatten } from "./flatten.ts"
import * as Notice from "./notice.ts"
import { shown } from "./shown.ts"
import { wrapped } from "./wrapper.ts"

/** What is shown of a text, and what was found in what is shown. */
interface Seen {
  readonly body: string
  readonly signals: ReadonlyArray<InjectionScan.Signal>
  readonly hidden: ReadonlyArray<HiddenText.Finding>
  readonly truncated: Rendered["truncated"]
}

/** Of what is kept of a long text the beginning gets this share: it says what the rest is. */
const headShare = 2 / 3

/** Lines between the parts. */
const joints = 2

/** Counting all that is left out would take long, and is only told. */
const sampled = 8 * 1024

const shifted = <A extends { readonly at: number }>(found: ReadonlyArray<A>, by: number): ReadonlyArray<A> =>
  found.map((one) => ({ ...one, at: one.at + by }))

const alone = (text: string): Flat => ({ text, attachments: [], json: [] })

/** @internal */
export const make = (options: Options) =>
  Effect.gen(function*() {
    const { publish } = yield* McpEvent.McpEvents
    const nonce = yield* Nonce.Nonce
    const spill = yield* Spill.Spill
    const { count } = yield* Tokens.Tokens
    const room: Room = { chars: Math.max(0, options.maxResultChars), tokens: Math.max(0, options.maxTokens) }

    const scan = (text: string, { kind = "tool" }: Source): ReadonlyArray<InjectionScan.Signal> =>
      options.scan ? InjectionScan.scan(text, { channel: kind === "tool" ? "result" : kind }) : []

    const roomBeside = (notice: string) =>
      Effect.map(count(notice), (tokens): Room => ({
        chars: room.chars - notice.length - joints,
        tokens: room.tokens - tokens - joints
      }))

    const aboutTokens = (text: string, from: number, to: number) => {
      const length = to - from
      const part = text.slice(from, Math.min(to, from + sampled))
      return Effect.map(count(part), (tokens) => length <= 0 ? 0 : Math.ceil(tokens * (length / part.length)))
    }

    /** What only shows once escapes are read, at the place of the JSON it stands in. */
    const scanJson = (
      { json }: Flat,
      signals: ReadonlyArray<InjectionScan.Signal>,
      source: Source
    ): ReadonlyArray<InjectionScan.Signal> => {
      const more: Array<InjectionScan.Signal> = []
      for (const { at, end, words } of json) {
        if (more.length >= InjectionScan.defaults.maxSignals) break
        const known = new Set(signals.filter((one) => one.at >= at && one.at < end).map(({ category }) => category))
        for (const signal of scan(words, source)) if (!known.has(signal.category)) more.push({ ...signal, at })
      }
      return more
    }

    const whole = (text: string, source: Source): Effect.Effect<Option.Option<Seen>> => {
      // what is invisible goes, so a text may get shorter, but no text is worth so much work
      if (text.length > 2 * room.chars) return Effect.succeedNone
      const { findings, text: body } = shown(text)
      if (body.length > room.chars) return Effect.succeedNone
      return Effect.map(tokensWithin(body, room.tokens, count), (tokens) =>
        tokens > room.tokens
          ? Option.none()
          : Option.some({ body, signals: scan(text, source), hidden: findings, truncated: undefined }))
    }

    const ends = (text: string, source: Source): Effect.Effect<Seen> =>
      Effect.gen(function*() {
        const spilled = options.spill ? yield* spill.write(text, source) : Option.none()
        const handle = Option.getOrUndefined(spilled)
        const { length } = text
        const longest = { chars: length, tokens: 3 * length, offset: length, spilled: handle }
        const left = yield* roomBeside(Notice.middle(longest, options.readTool))
        const headRoom = { chars: Math.floor(left.chars * headShare), tokens: Math.floor(left.tokens * headShare) }
        const head = yield* fit(text, "head", headRoom, count)
        const tailRoom = {
          chars: Math.min(left.chars - headRoom.chars, length - head.length),
          tokens: left.tokens - headRoom.tokens
        }
        const tail = yield* fit(text, "tail", tailRoom, count)
        const begin = length - tail.length
        const chars = begin - head.length
        const tokens = yield* aboutTokens(text, head.length, begin)
        const notice = Notice.middle({ chars, tokens, offset: head.length, spilled: handle }, options.readTool)
        publish(McpEvent.McpEvent.OutputTruncated({
          server: source.server,
          tool: source.tool,
          chars,
          tokens,
          spilled: handle
        }))
        return {
          body: [head.text, notice, tail.text].filter((part) => part !== "").join("\n"),
          signals: [...scan(head.raw, source), ...shifted(scan(tail.raw, source), begin)],
          hidden: [...head.findings, ...shifted(tail.findings, begin)],
          truncated: { chars, tokens, spilled: handle }
        }
      })

    const finish = (
      { body, hidden, signals: inText, truncated }: Seen,
      flat: Flat,
      isError: boolean,
      source: Source
    ): Effect.Effect<Rendered> => {
      const { attachments } = flat
      const signals = [...inText, ...scanJson(flat, inText, source)]
      if (signals.length > 0 || hidden.some(({ level }) => level !== "low")) {
        publish(McpEvent.McpEvent.OutputFlagged({ server: source.server, tool: source.tool, signals, hidden }))
      }
      return Effect.map(options.wrap ? nonce : Effect.succeed(""), (id) => ({
        text: options.wrap ? wrapped(body, source, id) : body,
        body,
        attachments,
        isError,
        truncated,
        signals,
        hidden
      }))
    }

    const guard = (flat: Flat, isError: boolean, source: Source) =>
      whole(flat.text, source).pipe(
        Effect.flatMap(Option.match({ onNone: () => ends(flat.text, source), onSome: Effect.succeed })),
        Effect.flatMap((seen) => finish(seen, flat, isError, source))
      )

    const renderPage = (handle: string, range?: Spill.Range) =>
      Effect.gen(function*() {
        const limit = Math.max(1, Math.min(range?.limit ?? Spill.defaultLimit, room.chars))
        const page = yield* spill.read(handle, { offset: range?.offset, limit })
        const longest = Notice.end(handle, page.offset + page.text.length, options.readTool)
        const part = yield* fit(page.text, "head", yield* roomBeside(longest), count)
        // However little room there is, a reader gets on.
        const length = part.length > 0 ? part.length : beginAfter(page.text, 1)
        const next = length < page.text.length ? page.offset + length : page.next
        const notice = next === undefined ? [] : [Notice.end(handle, next, options.readTool)]
        const seen: Seen = {
          body: [part.text, ...notice].join("\n"),
          signals: shifted(scan(part.raw, page.source), page.offset),
          hidden: shifted(part.findings, page.offset),
          truncated: undefined
        }
        return { ...(yield* finish(seen, alone(page.text), false, page.source)), offset: page.offset, next }
      })

    return {
      render: (result, source) => Effect.suspend(() => guard(flatten(result), result.isError, source)),
      renderText: (text, source) => Effect.suspend(() => guard(alone(text), source.kind === "error", source)),
      renderPage
    } satisfies OutputGuard["Type"]
  })
