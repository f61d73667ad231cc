/**
 * The terminal, or the pipe, that the program is run in. Whatever is shown passes through here, so that no text of a
 * server or a file reaches a terminal with its control characters.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Node from "./internal/nodeScreen.ts"
import * as Styled from "./internal/styled.ts"

/**
 * @since 0.1.0
 * @category models
 */
export type Style = "plain" | "strong" | "weak" | "good" | "warning" | "bad"

/**
 * A piece of a line, in one style.
 *
 * @since 0.1.0
 * @category models
 */
export interface Span {
  readonly text: string
  readonly style: Style
}

/**
 * One line. What is in it is escaped when it is written: a newline in it is no new line.
 *
 * @since 0.1.0
 * @category models
 */
export type Line = string | ReadonlyArray<Span | string>

/**
 * What is there, below all that is done with it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Device {
  readonly write: (where: "out" | "err", text: string) => Effect.Effect<void>
  /** Writes to the standard error and waits for nothing, as loggers do. */
  readonly log: (text: string) => void
  readonly columns: number
  readonly isTerminal: { readonly out: boolean; readonly err: boolean }
  /** Whether somebody is there who can be asked. */
  readonly isInteractive: boolean
  readonly colour: { readonly out: boolean; readonly err: boolean }
  /** What is typed after a question, or nothing if the input ends. */
  readonly ask: (question: string) => Effect.Effect<string | undefined>
  /** All of the standard input; nothing if it is more than so many characters. */
  readonly input: (limit: number) => Effect.Effect<string | undefined>
  /** Ends when whoever reads the output has gone. */
  readonly left: Effect.Effect<void>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class Screen extends Context.Tag("effect-mcp-runtime/cli/Screen")<Screen, {
  /** What was asked for, on the standard output. */
  readonly out: (...lines: ReadonlyArray<Line>) => Effect.Effect<void>
  /** What went wrong, on the standard error. */
  readonly err: (...lines: ReadonlyArray<Line>) => Effect.Effect<void>
  /** A remark, on the standard error, unless nobody wants to hear any. */
  readonly note: (...lines: ReadonlyArray<Line>) => Effect.Effect<void>
  /** The one document of a command, on the standard output, never coloured. */
  readonly json: <A, I>(shape: Schema.Schema<A, I>, value: A) => Effect.Effect<void>
  /** One line of a stream of documents. */
  readonly jsonLine: <A, I>(shape: Schema.Schema<A, I>, value: A) => Effect.Effect<void>
  /**
   * One line that takes the place of the one before, where there is a terminal; nothing takes it away. It waits for
   * nobody, so that whatever makes progress can call it.
   */
  readonly progress: (line: Line | undefined) => void
  /** Characters of a line; without a terminal, as many as there are. */
  readonly columns: number
  readonly isTerminal: boolean
  readonly isInteractive: boolean
  readonly ask: (question: string) => Effect.Effect<string | undefined>
  readonly input: (limit: number) => Effect.Effect<string | undefined>
  readonly left: Effect.Effect<void>
}>() {}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly colour: boolean
  readonly quiet: boolean
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { colour: true, quiet: false }

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (device: Device, options: Options = defaults): Screen["Type"] => {
  let isShowing = false
  const clear = "\r\u001b[K"
  const write = (where: "out" | "err", lines: ReadonlyArray<Line>) =>
    Effect.suspend(() => {
      const colour = options.colour && device.colour[where]
      const text = lines.map((line) => `${Styled.render(line, colour)}\n`).join("")
      if (!isShowing) return device.write(where, text)
      isShowing = false
      return Effect.zipRight(device.write("err", clear), device.write(where, text))
    })
  const document = (space: number) => <A, I>(shape: Schema.Schema<A, I>, value: A) =>
    Effect.flatMap(
      Effect.orDie(Schema.encode(shape)(value)),
      (encoded) => device.write("out", `${Styled.json(encoded, space)}\n`)
    )
  return {
    out: (...lines) => write("out", lines),
    err: (...lines) => write("err", lines),
    note: (...lines) => options.quiet ? Effect.void : write("err", lines),
    json: document(2),
    jsonLine: document(0),
    progress: (line) => {
      if (!device.isTerminal.err || options.quiet || (line === undefined && !isShowing)) return
      isShowing = line !== undefined
      const text = line === undefined ? "" : Styled.cut(line, device.columns - 1, options.colour && device.colour.err)
      device.log(clear + text)
    },
    columns: device.isTerminal.out ? device.columns : Number.POSITIVE_INFINITY,
    isTerminal: device.isTerminal.out,
    isInteractive: device.isInteractive,
    ask: device.ask,
    input: device.input,
    left: device.left
  }
}

/**
 * The terminal or the pipes of this process.
 *
 * @since 0.1.0
 * @category constructors
 */
export const device: Effect.Effect<Device> = Node.make

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (device: Device, options?: Partial<Options>): Layer.Layer<Screen> =>
  Layer.sync(Screen, () => make(device, { ...defaults, ...options }))
