/**
 * Stores the rest of long results, which a model reads in pages. The stored text is unguarded: `OutputGuard` guards
 * each page for a model.
 */
import type * as PlatformError from "@effect/platform/Error"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as RuntimeLog from "../runtimeLog.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import { beginAfter, endBefore } from "./graphemes.ts"
import * as Nonce from "./Nonce.ts"
import type * as OutputGuard from "./OutputGuard.ts"

/** Whether a text is a handle: `spill-` and 128 random bits, so that it cannot be guessed and can stand in a path. */
export const isHandle = (text: string): boolean => /^spill-[0-9a-f]{32}$/.test(text)

/** In characters. */
export interface Range {
  readonly offset?: number | undefined
  readonly limit?: number | undefined
}

/** A part of a text. No character is cut in two, so it may end a little before its limit. */
export interface Page {
  readonly source: OutputGuard.Source
  readonly text: string
  readonly offset: number
  /** The start of the next page, if there is one. */
  readonly next: number | undefined
}

export interface Options {
  /** Of all texts: a new one replaces the oldest. */
  readonly maxBytes: number
  /** Of one text; a longer one is not saved. */
  readonly maxBytesEach: number
  readonly maxAge: Duration.DurationInput
}

export const defaults: Options = {
  maxBytes: 256 * 1024 * 1024,
  maxBytesEach: 32 * 1024 * 1024,
  maxAge: Duration.hours(24)
}

/**
 * `malformed`: not a handle. `missing`: no such text, or not any more. `refused`: another user could have made its file.
 * `unreadable`: its file cannot be read, or is damaged.
 */
export class SpillError extends Schema.TaggedError<SpillError>("effect-mcp-runtime/SpillError")("SpillError", {
  handle: Schema.String,
  reason: Schema.Literal("malformed", "missing", "refused", "unreadable")
}) {
  override get message(): string {
    const what = {
      malformed: "is not a handle of a stored result",
      missing: "names a result that is not stored any more",
      refused: "names a file that another user may have created",
      unreadable: "names a result that cannot be read"
    }
    return `"${UntrustedText.excerpt(this.handle, 128)}" ${what[this.reason]}`
  }
}

export class Spill extends Context.Tag("effect-mcp-runtime/safety/Spill")<Spill, {
  /** The handle of the stored text; none if it could not be stored, which is logged. */
  readonly write: (text: string, source: OutputGuard.Source) => Effect.Effect<Option.Option<string>>
  /** A page: by default `defaultLimit` characters from the beginning. */
  readonly read: (handle: string, range?: Range) => Effect.Effect<Page, SpillError>
  /** Removes texts that are too old or too many. Each write does so, and a fiber once an hour. */
  readonly sweep: Effect.Effect<void>
}>() {}

/** Characters of a page. */
export const defaultLimit = 25_000

/** Characters of a page at most. */
const maxLimit = 1_000_000

/** The wait for a disk that does not answer. */
const patience = Duration.seconds(10)

/** Characters after a page, which show whether it ends within a character. */
const beyond = 256

/** A page of no characters would have no next one. */
const whole = (value: number | undefined, otherwise: number, least: number): number =>
  value === undefined || Number.isNaN(value) ? otherwise : Math.max(least, Math.floor(value))

/** A page from the part of a text that begins at this offset and is a little longer than the limit. */
const pageOf = (source: OutputGuard.Source, part: string, from: number, limit: number): Page => {
  const begin = (part.charCodeAt(0) & 0xfc00) === 0xdc00 ? 1 : 0
  const offset = from + begin
  const text = part.slice(begin)
  if (text.length <= limit) return { source, text, offset, next: undefined }
  const end = endBefore(text, limit) || beginAfter(text, limit)
  return { source, text: text.slice(0, end), offset, next: offset + end }
}

/** The first line of a stored text names its server. */
const Header = Schema.parseJson(Schema.Struct({
  server: Schema.String,
  tool: Schema.String,
  kind: Schema.optionalWith(Schema.Literal("tool", "resource", "prompt", "error", "instructions"), { exact: true })
}))
const encodeHeader = Schema.encodeSync(Header)
const decodeHeader = Schema.decodeEither(Header)

/** The texts by handle. A text that is too old is none; a write removes the oldest texts if there is no room. */
export interface Store {
  readonly get: (handle: string) => Effect.Effect<Option.Option<string>, PlatformError.PlatformError>
  readonly set: (handle: string, text: string) => Effect.Effect<void, PlatformError.PlatformError>
  readonly sweep: Effect.Effect<void, PlatformError.PlatformError>
}

const sweepEvery = Duration.hours(1)

/** `NodeSpill` keeps texts in files. */
export const make = (
  store: Store,
  { maxBytes, maxBytesEach }: Pick<Options, "maxBytes" | "maxBytesEach">
): Effect.Effect<Spill["Type"], never, Scope.Scope> =>
  Effect.gen(function*() {
    const nonce = yield* Nonce.Nonce
    const turn = yield* Effect.makeSemaphore(1)

    const write = Effect.fnUntraced(
      function*(text: string, { kind, server, tool }: OutputGuard.Source) {
        const handle = `spill-${yield* nonce}`
        const stored = `${encodeHeader({ server, tool, ...(kind === undefined ? {} : { kind }) })}\n${text}`
        if (!isHandle(handle)) return yield* Effect.fail("No handle could be generated.")
        if (Buffer.byteLength(stored) > Math.min(maxBytesEach, maxBytes)) return yield* Effect.fail("It is too long.")
        // one after the other, so that each sees how much room there is
        yield* turn.withPermits(1)(store.set(handle, stored))
        return Option.some(handle)
      },
      Effect.timeoutFail({ duration: patience, onTimeout: () => "The disk did not respond." }),
      (writing, _text, { server }) =>
        Effect.catchAll(writing, (fault) =>
          RuntimeLog.warning("A long result could not be saved.", fault).pipe(
            Effect.annotateLogs({ server }),
            Effect.as(Option.none<string>())
          ))
    )

    const read = Effect.fnUntraced(function*(given: string, range?: Range) {
      const fail = (reason: SpillError["reason"]) => new SpillError({ handle: given, reason })
      if (!isHandle(given)) return yield* fail("malformed")
      const offset = whole(range?.offset, 0, 0)
      const limit = Math.min(maxLimit, whole(range?.limit, defaultLimit, 1))
      const stored = yield* store.get(given).pipe(
        Effect.mapError((error) =>
          fail(error._tag === "SystemError" && error.reason === "PermissionDenied" ? "refused" : "unreadable")
        ),
        Effect.timeoutFail({ duration: patience, onTimeout: () => fail("unreadable") })
      )
      if (Option.isNone(stored)) return yield* fail("missing")
      const start = stored.value.indexOf("\n") + 1
      const source = decodeHeader(stored.value.slice(0, Math.max(0, start - 1)))
      if (Either.isLeft(source)) return yield* fail("unreadable")
      const part = stored.value.slice(start + offset, start + offset + limit + beyond)
      return pageOf(source.right, part, offset, limit)
    })

    const sweep = turn.withPermits(1)(store.sweep).pipe(
      Effect.timeoutOption(patience),
      Effect.catchAll((error) => RuntimeLog.debug("The saved long results could not be listed.", error)),
      Effect.asVoid
    )
    yield* Effect.forkScoped(Effect.forever(Effect.zipRight(Effect.sleep(sweepEvery), sweep)))

    return { write, read, sweep }
  })

/** Bytes, because a text can be a slice of a larger one, which stays in memory with it. */
const makeMemoryStore = ({ maxAge, maxBytes }: Options): Store => {
  /** The oldest first. */
  const texts = new Map<string, { readonly bytes: Buffer; readonly at: number }>()
  let total = 0

  const sweep = (room: number): Effect.Effect<number> =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      for (const [handle, { at, bytes }] of texts) {
        if (now - at <= Duration.toMillis(maxAge) && total + room <= maxBytes) break
        texts.delete(handle)
        total -= bytes.length
      }
      return now
    })

  return {
    get: (handle) => Effect.map(sweep(0), () => Option.fromNullable(texts.get(handle)?.bytes.toString())),
    set: (handle, text) => {
      const bytes = Buffer.from(text)
      return Effect.map(sweep(bytes.length), (at) => {
        texts.set(handle, { bytes, at })
        total += bytes.length
      })
    },
    sweep: Effect.asVoid(sweep(0))
  }
}

/** A whole text in pages, for a program: `Stream.run(Spill.stream(handle), sink)` copies it to a file. */
export const stream = (handle: string): Stream.Stream<string, SpillError, Spill> =>
  Stream.paginateEffect(0, (offset) =>
    Effect.map(
      Effect.flatMap(Spill, ({ read }) => read(handle, { offset, limit: maxLimit })),
      ({ next, text }) => [text, Option.fromNullable(next)]
    ))

/** In the memory of the process. */
export const layerMemory = (options?: Partial<Options>): Layer.Layer<Spill> => {
  const all = { ...defaults, ...options }
  return Layer.scoped(Spill, Effect.suspend(() => make(makeMemoryStore(all), all)))
}
