/** The terminal or pipes of a command. All output passes through here, which escapes the control characters in it. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { fitted, replaceUnsafe, width } from "../text/unicode.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import { type Usage, usage } from "./Command.ts"
import { wrapped } from "./layout.ts"

export type Style = "plain" | "strong" | "weak" | "good" | "warning" | "bad"

/** A part of a line in one style. */
export interface Span {
  readonly text: string
  readonly style: Style
}

/** One line. It is escaped when it is written, so a newline in it does not start a new line. */
export type Line = string | ReadonlyArray<Span | string>

/** The terminal or pipes of a process. */
export interface Device {
  readonly write: (where: "out" | "err", text: string | Uint8Array) => Effect.Effect<void>
  /** Writes to stderr without waiting, for loggers. */
  readonly log: (text: string) => void
  /** The current size, because a window can be resized. */
  readonly columns: number
  readonly rows: number
  /** Calls the listener after each resize, and returns its removal. */
  readonly onResize: (listener: () => void) => () => void
  /** Calls the listener when this process is resumed after Ctrl-Z, and returns its removal. */
  readonly onResume: (listener: () => void) => () => void
  readonly isTerminal: { readonly out: boolean; readonly err: boolean }
  /** The cursor can be moved. */
  readonly moves: boolean
  /** A person can be asked. */
  readonly isInteractive: boolean
  readonly colour: { readonly out: boolean; readonly err: boolean }
  /** Asks a question and reads one line; `undefined` at the end of the input. A secret is not echoed. */
  readonly ask: (question: string, isSecret?: boolean) => Effect.Effect<string | undefined>
  /** Reads stdin to its end; `undefined` above this limit of characters. */
  readonly input: (limit: number) => Effect.Effect<string | undefined>
  /** Completes when the reader of the output has closed the pipe. */
  readonly outputClosed: Effect.Effect<void>
}

export interface Service extends Pick<Device, "ask" | "isInteractive" | "log" | "onResize" | "outputClosed"> {
  /** Writes the result to stdout. */
  readonly out: (...lines: ReadonlyArray<Line>) => Effect.Effect<void>
  /** Writes errors to stderr. */
  readonly err: (...lines: ReadonlyArray<Line>) => Effect.Effect<void>
  /** Writes a note to stderr, unless `--quiet` is set. */
  readonly note: (...lines: ReadonlyArray<Line>) => Effect.Effect<void>
  /** Writes the JSON document of a command to stdout, never colored. */
  readonly json: <A, I>(shape: Schema.Schema<A, I>, value: A) => Effect.Effect<void>
  /** Writes one line of a stream of JSON documents. */
  readonly jsonLine: <A, I>(shape: Schema.Schema<A, I>, value: A) => Effect.Effect<void>
  /** Writes raw bytes to stdout, but not to a terminal, because they may contain control sequences. */
  readonly bytes: (content: Uint8Array) => Effect.Effect<void, Usage>
  /** Replaces the progress line of a terminal. Synchronous, because callbacks call it. */
  readonly progress: (line: Line | undefined) => void
  /**
   * Replaces the lines of the previous call, on a terminal whose cursor can be moved; elsewhere appends them. Other output
   * is written above them until the scope closes.
   */
  readonly redraw: Effect.Effect<(...lines: ReadonlyArray<Line>) => Effect.Effect<void>, never, Scope.Scope>
  /** `redraw` replaces lines. */
  readonly redraws: boolean
  /** Reads stdin to its end; `undefined` above this limit of characters. */
  readonly input: (limit: number) => Effect.Effect<string | undefined, Usage>
  /** The width of the terminal; infinite without one. */
  readonly columns: number
  readonly isTerminal: boolean
}

export class Screen extends Context.Tag("effect-mcp-runtime/cli/Screen")<Screen, Service>() {}

const codes: Record<Style, string> = {
  plain: "",
  strong: "1",
  weak: "2",
  good: "32",
  warning: "33",
  bad: "31"
}

const spansOf = (line: Line): ReadonlyArray<Span> =>
  typeof line === "string"
    ? [{ text: line, style: "plain" }]
    : line.map((span) => typeof span === "string" ? { text: span, style: "plain" } : span)

const painted = ({ style, text }: Span, colour: boolean): string =>
  colour && codes[style] !== "" && text !== "" ? `\u001b[${codes[style]}m${text}\u001b[0m` : text

/** Tabs are kept, because they do not control the terminal. */
const escaped = ({ style, text }: Span): Span => ({
  text: text.split("\t").map(UntrustedText.escape).join("\t"),
  style
})

const render = (line: Line, colour: boolean): string =>
  spansOf(line).map((span) => painted(escaped(span), colour)).join("")

/** Cuts a line to this width. */
const cut = (line: Line, columns: number, colour: boolean): string => {
  let left = Math.max(1, columns)
  return spansOf(line).map(({ style, text }) => {
    const part = fitted(UntrustedText.escape(text), left)
    left -= width(part)
    return painted({ text: part, style }, colour)
  }).join("")
}

const units = (char: string): string =>
  Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")

/** JSON with invisible and control characters escaped. */
export const jsonText = (value: unknown, space: number): string =>
  replaceUnsafe(JSON.stringify(value, null, space), (char) => char === "\n" ? char : units(char))

/** Lines that `redraw` has drawn, with the cursor below them. */
interface Block {
  readonly text: string
  readonly widths: ReadonlyArray<number>
}

/** Cuts the lines to the size of the terminal, because the cursor cannot reach rows that have scrolled off the top. */
const blockOf = (lines: ReadonlyArray<Line>, { columns, rows }: Device, colour: boolean): Block => {
  const most = Math.max(1, rows - 1)
  const shown = lines.length <= most
    ? lines
    : [...lines.slice(0, most - 1), `… ${lines.length - most + 1} more lines`]
  return {
    text: shown.map((line) => `${cut(line, columns - 1, colour)}\u001b[K\n`).join(""),
    widths: shown.map((line) => width(cut(line, columns - 1, false)))
  }
}

/** Moves the cursor to the first row. If the terminal has become narrower, it has wrapped the rows. */
const back = (block: Block | undefined, { columns }: Device): string => {
  if (block === undefined) return ""
  const rows = block.widths.reduce((sum, one) => sum + Math.max(1, Math.ceil(one / Math.max(1, columns))), 0)
  return rows === 0 ? "\r" : `\r\u001b[${rows}A`
}

/** Erases the rows below the cursor. */
const erase = "\u001b[J"

export interface Options {
  readonly colour: boolean
  readonly quiet: boolean
}

export const defaults: Options = { colour: true, quiet: false }

export const make = (device: Device, options: Options = defaults): Screen["Type"] => {
  let isShowing = false
  let questions = 0
  let block: Block | undefined
  const clear = "\r\u001b[K"
  const coloured = { out: options.colour && device.colour.out, err: options.colour && device.colour.err }
  const redraws = device.isTerminal.out && device.moves
  /** Inserts a text above the block, if both are on the same terminal. */
  const above = (where: "out" | "err", text: string): string =>
    block === undefined || !device.isTerminal[where] ? text : `${back(block, device)}${erase}${text}${block.text}`
  const write = (where: "out" | "err", lines: ReadonlyArray<Line>) =>
    Effect.suspend(() => {
      const text = above(where, lines.map((line) => `${render(line, coloured[where])}\n`).join(""))
      if (!isShowing) return device.write(where, text)
      isShowing = false
      return Effect.zipRight(device.write("err", clear), device.write(where, text))
    })
  /** Wraps an unstyled note at spaces, because a terminal would wrap it anywhere. */
  const broken = (line: Line): ReadonlyArray<Line> =>
    typeof line === "string" && device.isTerminal.err && !line.startsWith(" ") ? wrapped(line, device.columns) : [line]
  const document = (space: number) => <A, I>(shape: Schema.Schema<A, I>, value: A) =>
    Effect.flatMap(
      Effect.orDie(Schema.encode(shape)(value)),
      (encoded) => device.write("out", `${jsonText(encoded, space)}\n`)
    )
  const progress = (line: Line | undefined) => {
    // the answer to a question is typed on this line
    const isTaken = block !== undefined || questions > 0
    if (!device.isTerminal.err || options.quiet || isTaken || (line === undefined && !isShowing)) return
    isShowing = line !== undefined
    device.log(clear + (line === undefined ? "" : cut(line, device.columns - 1, coloured.err)))
  }
  /** Leaves the block on the screen as it is. */
  const release = () => {
    block = undefined
  }
  const draw = (...lines: ReadonlyArray<Line>) =>
    Effect.suspend(() => {
      const next = blockOf(lines, device, coloured.out)
      const text = `${back(block, device)}${next.text}${erase}`
      block = next
      return device.write("out", text)
    })
  return {
    out: (...lines) => write("out", lines),
    err: (...lines) => write("err", lines),
    note: (...lines) => options.quiet ? Effect.void : write("err", lines.flatMap(broken)),
    json: document(2),
    jsonLine: document(0),
    bytes: (content) =>
      device.isTerminal.out
        ? usage("raw output is not written to a terminal", "Use --out FILE or a pipe.")
        : device.write("out", content),
    progress,
    redraw: redraws
      ? Effect.acquireRelease(
        Effect.sync(() => {
          progress(undefined)
          // after a pause the block continues below the output of other programs
          return device.onResume(release)
        }),
        (stop) =>
          Effect.sync(() => {
            release()
            stop()
          })
      ).pipe(Effect.as(draw))
      : Effect.succeed((...lines) => write("out", lines)),
    log: (line) => {
      progress(undefined)
      device.log(above("err", `${line}\n`))
    },
    redraws,
    onResize: device.onResize,
    get columns() {
      return device.isTerminal.out ? device.columns : Number.POSITIVE_INFINITY
    },
    isTerminal: device.isTerminal.out,
    isInteractive: device.isInteractive,
    ask: (question, isSecret) =>
      Effect.suspend(() => {
        progress(undefined)
        questions++
        return device.ask(render(question, false), isSecret)
      }).pipe(Effect.ensuring(Effect.sync(() => questions--))),
    input: device.input,
    outputClosed: device.outputClosed
  }
}

/** A wrapped text after a styled title. */
export const titled = (title: string, style: Style, text: string, columns: number): ReadonlyArray<Line> => {
  const [first = "", ...rest] = wrapped(`${title}${text}`, columns)
  return [[{ text: title, style }, first.slice(title.length)], ...rest]
}

/** The limit of stdin in characters, and of a file in bytes: the content is sent in one message. */
export const maxInput = 16 * 1024 * 1024

/** Reads stdin to its end. */
export const piped: Effect.Effect<string, Usage, Screen> = Effect.gen(function*() {
  const input = yield* (yield* Screen).input(maxInput)
  return input ?? (yield* usage("stdin is too large (limit 16 MiB)"))
})
