/** The terminal or pipes of a command. All output passes through here, which escapes the control characters in it. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Node from "./nodeScreen.ts"
import * as Styled from "./styled.ts"
import { Usage } from "./Usage.ts"
import { wrapped } from "./wrapped.ts"

export type Style = "plain" | "strong" | "weak" | "good" | "warning" | "bad"

/** A piece of a line, in one style. */
export interface Span {
  readonly text: string
  readonly style: Style
}

/** One line. What is in it is escaped when it is written: a newline in it is no new line. */
export type Line = string | ReadonlyArray<Span | string>

/** The terminal or pipes of a process. */
export interface Device {
  readonly write: (where: "out" | "err", text: string | Uint8Array) => Effect.Effect<void>
  /** Writes to the standard error and waits for nothing, as loggers do. */
  readonly log: (text: string) => void
  /** The current size, because a window can be resized. */
  readonly columns: number
  readonly rows: number
  /** Calls the listener after each resize, and returns its removal. */
  readonly onResize: (listener: () => void) => () => void
  /**
   * Writes these texts before this process is suspended, as by Ctrl-Z, and after it is resumed; returns the removal.
   */
  readonly onPause: (before: () => string, after: () => string) => () => void
  readonly isTerminal: { readonly out: boolean; readonly err: boolean }
  /** Whether the cursor can be moved. */
  readonly moves: boolean
  /** Writes it to the standard output if the process ends, unless the returned function is called before. */
  readonly atEnd: (text: string) => () => void
  /** Whether a person can be asked. */
  readonly isInteractive: boolean
  readonly colour: { readonly out: boolean; readonly err: boolean }
  /** The line that is typed after a question, or nothing at the end of the input; a secret is not echoed. */
  readonly ask: (question: string, isSecret?: boolean) => Effect.Effect<string | undefined>
  /** All of the standard input; nothing if it is more than so many characters. */
  readonly input: (limit: number) => Effect.Effect<string | undefined>
  /** Ends when the reader of the output goes away. */
  readonly left: Effect.Effect<void>
}

export class Screen extends Context.Tag("effect-mcp-runtime/cli/Screen")<Screen, {
  /** The result, on the standard output. */
  readonly out: (...lines: ReadonlyArray<Line>) => Effect.Effect<void>
  /** Errors, on the standard error. */
  readonly err: (...lines: ReadonlyArray<Line>) => Effect.Effect<void>
  /** A remark on the standard error, which `--quiet` hides. */
  readonly note: (...lines: ReadonlyArray<Line>) => Effect.Effect<void>
  /** The one document of a command, on the standard output, never coloured. */
  readonly json: <A, I>(shape: Schema.Schema<A, I>, value: A) => Effect.Effect<void>
  /** One line of a stream of documents. */
  readonly jsonLine: <A, I>(shape: Schema.Schema<A, I>, value: A) => Effect.Effect<void>
  /** Bytes on the standard output as they are, which a terminal might take for orders. */
  readonly bytes: (content: Uint8Array) => Effect.Effect<void, Usage>
  /**
   * One line that takes the place of the one before, where there is a terminal; nothing takes it away. It is
   * synchronous, because callbacks call it.
   */
  readonly progress: (line: Line | undefined) => void
  /**
   * Lines that take the place of those before, on a terminal whose cursor can be moved; elsewhere they are written below
   * those before. What else is written stands above them. Until the scope closes there is no cursor to be seen.
   */
  readonly redraw: Effect.Effect<(...lines: ReadonlyArray<Line>) => Effect.Effect<void>, never, Scope.Scope>
  /** One line on the standard error, written synchronously, as loggers write. */
  readonly log: (line: string) => void
  /** Whether `redraw` draws in place. */
  readonly redraws: boolean
  readonly onResize: (listener: () => void) => () => void
  /** Characters of a line; without a terminal, as many as there are. */
  readonly columns: number
  readonly isTerminal: boolean
  readonly isInteractive: boolean
  /** The line that is typed after a question, or nothing at the end of the input; a secret is not echoed. */
  readonly ask: (question: string, isSecret?: boolean) => Effect.Effect<string | undefined>
  /** All of the standard input; nothing if it is more than so many characters. */
  readonly input: (limit: number) => Effect.Effect<string | undefined, Usage>
  readonly left: Effect.Effect<void>
}>() {}

export interface Options {
  readonly colour: boolean
  readonly quiet: boolean
}

export const defaults: Options = { colour: true, quiet: false }

export const make = (device: Device, options: Options = defaults): Screen["Type"] => {
  let isShowing = false
  let questions = 0
  let block: Styled.Block | undefined
  const clear = "\r\u001b[K"
  const coloured = { out: options.colour && device.colour.out, err: options.colour && device.colour.err }
  const redraws = device.isTerminal.out && device.moves
  const size = () => ({ columns: device.columns, rows: device.rows })
  /** A text above the block, if both are on the same terminal. */
  const above = (where: "out" | "err", text: string): string =>
    block === undefined || !device.isTerminal[where] ? text : `${Styled.taken(block, size())}${text}${block.text}`
  const write = (where: "out" | "err", lines: ReadonlyArray<Line>) =>
    Effect.suspend(() => {
      const text = above(where, lines.map((line) => `${Styled.render(line, coloured[where])}\n`).join(""))
      if (!isShowing) return device.write(where, text)
      isShowing = false
      return Effect.zipRight(device.write("err", clear), device.write(where, text))
    })
  /** Breaks a remark in one style at spaces, because a terminal breaks it anywhere. */
  const broken = (line: Line): ReadonlyArray<Line> =>
    typeof line === "string" && device.isTerminal.err && !line.startsWith(" ") ? wrapped(line, device.columns) : [line]
  const document = (space: number) => <A, I>(shape: Schema.Schema<A, I>, value: A) =>
    Effect.flatMap(
      Effect.orDie(Schema.encode(shape)(value)),
      (encoded) => device.write("out", `${Styled.json(encoded, space)}\n`)
    )
  const progress = (line: Line | undefined) => {
    // the line of a question is the person's
    const isTaken = block !== undefined || questions > 0
    if (!device.isTerminal.err || options.quiet || isTaken || (line === undefined && !isShowing)) return
    isShowing = line !== undefined
    device.log(clear + (line === undefined ? "" : Styled.cut(line, device.columns - 1, coloured.err)))
  }
  const draw = (...lines: ReadonlyArray<Line>) =>
    Effect.suspend(() => {
      const next = Styled.block(lines, size(), coloured.out)
      const text = Styled.drawn(block, next, size())
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
        ? Effect.fail(
          new Usage({ detail: "Raw bytes are not written to a terminal.", next: "Use --out FILE, or a pipe." })
        )
        : device.write("out", content),
    progress,
    redraw: redraws
      ? Effect.acquireRelease(
        Effect.suspend(() => {
          progress(undefined)
          const callOff = device.atEnd(Styled.show)
          const end = device.onPause(() => {
            // the block continues below the output of other programs
            block = undefined
            return Styled.show
          }, () => Styled.hide)
          return Effect.as(device.write("out", Styled.hide), [callOff, end])
        }),
        (ends) =>
          Effect.suspend(() => {
            block = undefined
            for (const end of ends) end()
            return device.write("out", Styled.show)
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
        return device.ask(Styled.render(question, false), isSecret)
      }).pipe(Effect.ensuring(Effect.sync(() => questions--))),
    input: device.input,
    left: device.left
  }
}

/** A text in lines, after its title in a style. */
export const titled = (title: string, style: Style, text: string, columns: number): ReadonlyArray<Line> => {
  const [first = "", ...rest] = wrapped(`${title}${text}`, columns)
  return [[{ text: title, style }, first.slice(title.length)], ...rest]
}

/** Whether an answer agrees; anything but a yes does not. */
export const isYes = (answer: string | undefined): boolean => /^y(es)?$/i.test((answer ?? "").trim())

/** Asks for agreement. */
export const confirm = (screen: Screen["Type"], question: string): Effect.Effect<boolean> =>
  Effect.map(screen.ask(`${question} [y/N] `), isYes)

/** The terminal or the pipes of this process. */
export const device: Effect.Effect<Device> = Node.make

export const layer = (device: Device, options?: Partial<Options>): Layer.Layer<Screen> =>
  Layer.sync(Screen, () => make(device, { ...defaults, ...options }))
