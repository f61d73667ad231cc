/**
 * What a model was not given of a long result, kept for a while to be read page by page. The text is the server's own
 * words: only what `OutputGuard` makes of a page is for a model.
 *
 * @since 0.1.0
 */
import type * as PlatformError from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Brand from "effect/Brand"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as RuntimeLog from "../runtimeLog.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import { beginAfter, endBefore } from "./internal/cut.ts"
import * as SpillFiles from "./internal/spillFiles.ts"
import * as SpillMemory from "./internal/spillMemory.ts"
import type * as SpillStore from "./internal/spillStore.ts"
import * as Nonce from "./Nonce.ts"
import type * as OutputGuard from "./OutputGuard.ts"

/**
 * What a text is read with: `spill-` and 128 random bits, so that it cannot be guessed and can stand in a path.
 *
 * @since 0.1.0
 * @category models
 */
export type Handle = string & Brand.Brand<"effect-mcp-runtime/safety/Spill/Handle">

const nominal = Brand.nominal<Handle>()
const pattern = /^spill-[0-9a-f]{32}$/

/**
 * A handle, if that is what somebody wrote.
 *
 * @since 0.1.0
 * @category constructors
 */
export const handle = (text: string): Option.Option<Handle> =>
  pattern.test(text) ? Option.some(nominal(text)) : Option.none()

/**
 * What of a text is to be read, in characters.
 *
 * @since 0.1.0
 * @category models
 */
export interface Range {
  readonly offset?: number | undefined
  readonly limit?: number | undefined
}

/**
 * A part of a text. No character is cut in two, so it may end a little before its limit.
 *
 * @since 0.1.0
 * @category models
 */
export interface Page {
  readonly source: OutputGuard.Source
  readonly text: string
  readonly offset: number
  /** Where the next page begins, if there is one. */
  readonly next: number | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Of all texts together: the oldest make room for a new one. */
  readonly maxBytes: number
  /** Of one text: a longer one is not kept. */
  readonly maxBytesEach: number
  readonly maxAge: Duration.DurationInput
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = {
  maxBytes: 256 * 1024 * 1024,
  maxBytesEach: 32 * 1024 * 1024,
  maxAge: Duration.hours(24)
}

/**
 * @since 0.1.0
 * @category models
 */
export interface FilesOptions extends Options {
  /** Made when the first text is written. */
  readonly directory: string
}

/**
 * A text cannot be read: what was given is no handle, there is no such text (any more), or its file is not to be trusted or
 * not to be read.
 *
 * @since 0.1.0
 * @category errors
 */
export class SpillError extends Schema.TaggedError<SpillError>("effect-mcp-runtime/SpillError")("SpillError", {
  handle: Schema.String,
  reason: Schema.Literal("malformed", "missing", "refused", "unreadable")
}) {
  override get message(): string {
    const what = {
      malformed: "is no handle of a kept result",
      missing: "names no result that is still kept",
      refused: "names a file that somebody else may have made",
      unreadable: "names a result that cannot be read"
    }
    return `"${UntrustedText.excerpt(this.handle, 128)}" ${what[this.reason]}`
  }
}

/**
 * @since 0.1.0
 * @category tags
 */
export class Spill extends Context.Tag("effect-mcp-runtime/safety/Spill")<Spill, {
  /** Nothing, if it could not be kept; the log then says why. */
  readonly write: (text: string, source: OutputGuard.Source) => Effect.Effect<Option.Option<Handle>>
  /** A page of `defaultLimit` characters from the beginning, unless the range says otherwise. */
  readonly read: (handle: string, range?: Range) => Effect.Effect<Page, SpillError>
  /** Removes what is too old or too much; done by itself too, before a text is written and now and then. */
  readonly sweep: Effect.Effect<void>
}>() {}

/**
 * Characters of a page.
 *
 * @since 0.1.0
 * @category defaults
 */
export const defaultLimit = 25_000

/**
 * And no more of one page, whoever asks.
 *
 * @since 0.1.0
 * @category defaults
 */
export const maxLimit = 1_000_000

/** A disk that does not answer holds up nobody for longer. */
const patience = Duration.seconds(10)

/** What is looked at beyond a page, to see whether it ends within a character. */
const beyond = 256

/** So much at least: a page that holds nothing would have no next. */
const whole = (value: number | undefined, otherwise: number, least: number): number =>
  value === undefined || Number.isNaN(value) ? otherwise : Math.max(least, Math.floor(value))

/** A page from a part that begins at its offset and is a little longer. */
const pageOf = ({ source, text: part }: SpillStore.Part, from: number, limit: number): Page => {
  const begin = (part.charCodeAt(0) & 0xfc00) === 0xdc00 ? 1 : 0
  const offset = from + begin
  const text = part.slice(begin)
  if (text.length <= limit) return { source, text, offset, next: undefined }
  const end = endBefore(text, limit) || beginAfter(text, limit)
  return { source, text: text.slice(0, end), offset, next: offset + end }
}

const make = (store: SpillStore.Store<PlatformError.PlatformError>): Effect.Effect<Spill["Type"]> =>
  Effect.gen(function*() {
    const nonce = yield* Nonce.Nonce
    const turn = yield* Effect.makeSemaphore(1)

    const keep = (text: string, source: OutputGuard.Source) =>
      Effect.gen(function*() {
        const name = handle(`spill-${yield* nonce}`)
        if (Option.isNone(name)) return false
        // One after the other, so that each sees how much room there is.
        return (yield* turn.withPermits(1)(store.write(name.value, text, source))) ? name.value : false
      })

    const notKept = (server: string, ...why: ReadonlyArray<unknown>) =>
      RuntimeLog.warning("A long result could not be saved.", ...why).pipe(
        Effect.annotateLogs({ server }),
        Effect.as(Option.none())
      )

    const read = (given: Handle, offset: number, limit: number): Effect.Effect<Page, SpillError> => {
      const fail = (reason: SpillError["reason"]) => new SpillError({ handle: given, reason })
      return store.read(given, offset, limit + beyond).pipe(
        Effect.mapError((error) =>
          fail(error._tag === "SystemError" && error.reason === "PermissionDenied" ? "refused" : "unreadable")
        ),
        Effect.timeoutFail({ duration: patience, onTimeout: () => fail("unreadable") }),
        Effect.flatMap((kept) =>
          kept._tag === "Found"
            ? Effect.succeed(pageOf(kept.part, offset, limit))
            : fail(kept._tag === "Missing" ? "missing" : "unreadable")
        )
      )
    }

    const sweep = turn.withPermits(1)(store.sweep).pipe(
      Effect.timeoutOption(patience),
      Effect.catchAll((error) => RuntimeLog.debug("The saved long results could not be listed.", error)),
      Effect.asVoid
    )

    return {
      write: (text, source) =>
        keep(text, source).pipe(
          Effect.timeoutOption(patience),
          Effect.flatMap(Option.match({
            onNone: () => notKept(source.server, "The disk does not answer."),
            onSome: (kept) => kept === false ? notKept(source.server, "It is too long.") : Effect.succeedSome(kept)
          })),
          Effect.catchAll((error) => notKept(source.server, error))
        ),
      read: (given, range) =>
        Option.match(handle(given), {
          onNone: () => Effect.fail(new SpillError({ handle: given, reason: "malformed" })),
          onSome: (given) =>
            read(given, whole(range?.offset, 0, 0), Math.min(maxLimit, whole(range?.limit, defaultLimit, 1)))
        }),
      sweep
    }
  })

const sweepEvery = Duration.hours(1)

const swept = <R>(spill: Effect.Effect<Spill["Type"], never, R>): Layer.Layer<Spill, never, R> =>
  Layer.scoped(
    Spill,
    Effect.tap(
      spill,
      ({ sweep }) => Effect.forkScoped(Effect.forever(Effect.zipRight(Effect.sleep(sweepEvery), sweep)))
    )
  )

/**
 * In files that only their owner can read, in a folder of the user's own. On Windows modes and owners say nothing, and the
 * folders of the user are what protects them.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFiles = (
  options: Partial<Options> & Pick<FilesOptions, "directory">
): Layer.Layer<Spill, never, FileSystem.FileSystem | Path.Path> =>
  swept(Effect.flatMap(SpillFiles.make(options.directory, { ...defaults, ...options }), make))

/**
 * In the memory of the process, at most this much.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory = (options?: Partial<Options>): Layer.Layer<Spill> =>
  swept(Effect.suspend(() => make(SpillMemory.make({ ...defaults, ...options }))))

/**
 * Keeps nothing: what a model was not given is lost.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<Spill> = Layer.succeed(Spill, {
  write: () => Effect.succeedNone,
  read: (given) =>
    Effect.fail(new SpillError({ handle: given, reason: Option.isSome(handle(given)) ? "missing" : "malformed" })),
  sweep: Effect.void
})
