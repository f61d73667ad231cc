// @effect-diagnostics nodeBuiltinImport:off -- the package's own place on disk is known from this module's URL only
// @effect-diagnostics strictEffectProvide:off -- this is an entry point
/**
 * `npm run demo [file]`: the demo on its own server, or on the servers of a file.
 *
 * @since 0.1.0
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { fileURLToPath } from "node:url"
import * as McpError from "../McpError.ts"
import * as Demo from "./Demo.ts"

const own = fileURLToPath(new URL("../../src/demo/.mcp.json", import.meta.url))
const [file] = process.argv.slice(2)

const sum = (a: number, b: number): Demo.Invocation => ({ tool: "add", arguments: { a, b } })

// Whoever reads may leave early, as `head` does: the servers are closed all the same.
process.stdout.on("error", () => undefined)

const program = Effect.gen(function*() {
  const noColour = Option.isSome(yield* Config.option(Config.nonEmptyString("NO_COLOR")))
  const colour = (stream: NodeJS.WriteStream) => stream.isTTY && !noColour
  yield* Demo.run({
    file: file ?? own,
    // Only the demo's own tools are known to be harmless.
    ...(file === undefined
      ? { call: sum(2, 40), recovery: { crash: { tool: "crash", arguments: {} }, next: sum(4, 3) } }
      : {}),
    colour: colour(process.stdout)
  }).pipe(
    Effect.tapErrorCause((cause) => {
      if (Cause.isInterruptedOnly(cause)) return Effect.void
      const failure = Option.match(Cause.failureOption(cause), {
        onNone: () => Cause.pretty(cause),
        onSome: (errors) => [errors].flat().map((error) => `${McpError.label(error)}: ${error.message}`).join("\n")
      })
      return Console.error(colour(process.stderr) ? `\u001b[31m${failure}\u001b[0m` : failure)
    })
  )
})

program.pipe(
  Effect.provide(NodeContext.layer),
  NodeRuntime.runMain({ disableErrorReporting: true, disablePrettyLogger: true })
)
