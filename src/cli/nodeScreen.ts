/** The standard streams of this process. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import * as NodeAsk from "./nodeAsk.ts"
import type * as Screen from "./Screen.ts"

const narrow = 80
const low = 24

const nothing: Effect.Effect<string | undefined> = Effect.as(Effect.void, undefined)

export const make: Effect.Effect<Screen.Device> = Effect.gen(function*() {
  const { variables } = yield* HostEnvironment.HostEnvironment
  const { NO_COLOR, TERM } = variables()
  const { stderr, stdin, stdout } = process
  const left = yield* Deferred.make<void>()
  const streams = { out: stdout, err: stderr }
  const mayColour = (NO_COLOR ?? "") === "" && TERM !== "dumb"

  // a reader may close the pipe early, as `head` does
  stdout.on("error", () => Deferred.unsafeDone(left, Effect.void))
  // there is no place left for an error of stderr
  stderr.on("error", () => undefined)

  const write: Screen.Device["write"] = (where, text) =>
    Effect.async((resume) => {
      streams[where].write(text, () => resume(Effect.void))
    })

  return {
    write,
    log: (text) => void stderr.write(text),
    // a terminal of unknown size reports none
    get columns() {
      return stdout.columns || stderr.columns || narrow
    },
    get rows() {
      return stdout.rows || stderr.rows || low
    },
    onResize: (listener) => {
      stdout.on("resize", listener)
      return () => void stdout.off("resize", listener)
    },
    onResume: (listener) => {
      process.on("SIGCONT", listener)
      return () => void process.off("SIGCONT", listener)
    },
    moves: TERM !== "dumb",
    isTerminal: { out: stdout.isTTY === true, err: stderr.isTTY === true },
    isInteractive: stdin.isTTY === true && stderr.isTTY === true,
    colour: { out: mayColour && stdout.isTTY === true, err: mayColour && stderr.isTTY === true },
    ask: NodeAsk.over(stdin, stderr, () => void process.kill(process.pid, "SIGINT")),
    input: (limit) =>
      Effect.async<string | undefined>((resume) => {
        let text = ""
        const take = (chunk: string) => {
          text += chunk
          if (text.length > limit) resume(nothing)
        }
        const end = () => resume(Effect.succeed(text))
        stdin.setEncoding("utf8").on("data", take).once("end", end).once("error", end)
        return Effect.sync(() => stdin.off("data", take).off("end", end).off("error", end))
      }).pipe(Effect.ensuring(Effect.sync(() => stdin.pause()))),
    left: Deferred.await(left)
  }
})
