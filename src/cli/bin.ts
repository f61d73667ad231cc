#!/usr/bin/env node
// @effect-diagnostics nodeBuiltinImport:off -- the package's own place on disk is known from this module's URL only
// @effect-diagnostics strictEffectProvide:off -- this is an entry point
/** The installed program `mcp-runtime`. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Cli from "./Cli.ts"
import * as ExitCode from "./ExitCode.ts"
import * as NodeTerminal from "./nodeTerminal.ts"

declare const PACKAGE_VERSION: string

const program = Effect.flatMap(
  NodeTerminal.device,
  (device) => Cli.run({ argv: process.argv.slice(2), version: PACKAGE_VERSION, device })
)

/** Exits once the output is flushed, because freeing all resources takes as long as a small command. */
const leave = (code: number): void => {
  process.exitCode = code
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)))
}

NodeRuntime.runMain(program, {
  disableErrorReporting: true,
  disablePrettyLogger: true,
  // without an exit code it was interrupted
  teardown: (exit) => leave(Exit.isSuccess(exit) ? Number(exit.value) : ExitCode.interrupted)
})
