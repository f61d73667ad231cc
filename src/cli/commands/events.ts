/** `mcp-runtime events`: what happens to the servers. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Mailbox from "effect/Mailbox"
import * as Stream from "effect/Stream"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as Shape from "../eventShape.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Following from "../following.ts"
import * as Screen from "../Screen.ts"

const run: Command.Command["run"] = ({ shared, value }) =>
  Effect.gen(function*() {
    const time = yield* Following.read(value("for"))
    return yield* Application.use(shared, () =>
      Effect.succeed({ follow: true }), ({ runtime }) =>
      Effect.scoped(Effect.gen(function*() {
        const screen = yield* Screen.Screen
        const events = yield* runtime.subscribe
        yield* Mailbox.toStream(events).pipe(
          // within the repl there are more servers than those that are named
          Stream.filter((event) =>
            shared.servers.length === 0 || !("server" in event) || shared.servers.includes(event.server ?? "")
          ),
          Following.until(time),
          Stream.runForEach((event) =>
            Effect.flatMap(Clock.currentTimeMillis, (at) =>
              shared.json
                ? screen.jsonLine(Shape.Event, Shape.of(event, at))
                : screen.out(Shape.line(event, at)))
          )
        )
        return ExitCode.ok
      })))
  })

export const command: Command.Command = {
  description: ["Until Ctrl-C, one line for each event; with --json, each line is a document."],
  args: [],
  options: [{ name: "for", value: "DURATION", about: "How long to follow (default: until Ctrl-C)." }],
  examples: [["events --server github --for 1m", "What happens to one server within a minute."]],
  run
}
