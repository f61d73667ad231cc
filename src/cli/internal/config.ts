/**
 * What `mcp-runtime config` does.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as NativeConfig from "../../config/NativeConfig.ts"
import { nearest, suggestion } from "../../text/nearest.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Screen from "../Screen.ts"
import { Usage } from "../Usage.ts"
import * as Found from "./configFound.ts"
import * as Validate from "./configValidate.ts"

const overview = ({ shared }: Command.Invocation) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const discovery = yield* Application.look(shared)
    if (shared.json) yield* screen.json(Found.Found, Found.of(discovery))
    else if (discovery.files.length + discovery.issues.length + discovery.servers.length === 0) {
      yield* screen.note(
        "There are no configurations here.",
        "Name a file with --config, or other hosts with --import all."
      )
    } else yield* screen.out(...Found.lines(discovery))
    return ExitCode.ok
  })

const schema = Effect.flatMap(
  Screen.Screen,
  (screen) => Effect.as(screen.json(Schema.Unknown, NativeConfig.jsonSchema()), ExitCode.ok)
)

const actions = ["validate", "schema"]

const wrong = (detail: string, next = "See mcp-runtime config --help.") => Effect.fail(new Usage({ detail, next }))

/** @internal */
export const run: Command.Program["run"] = (invocation) => {
  const [action, file] = invocation.args
  switch (action) {
    case undefined:
      return overview(invocation)
    case "validate":
      return file === undefined
        ? wrong(
          "The file to validate is not named.",
          "Write mcp-runtime config validate FILE, or - for what is piped in."
        )
        : Validate.run(file, invocation)
    case "schema":
      return file === undefined ? schema : wrong("The schema is of no file.")
    default:
      return wrong(`There is nothing called "${action}" to do.`, suggestion(nearest(action, actions)))
  }
}
