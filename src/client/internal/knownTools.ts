/**
 * What a session remembers of its server's tools: only what calls need, and only once they were listed.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { type Declaration, declarations } from "../../internal/paramHeaders.ts"
import type * as McpError from "../../McpError.ts"
import type * as Tool from "../../tools/Tool.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"

/** @internal */
export interface KnownTool {
  readonly outputSchema: JsonRpc.JsonObject | undefined
  readonly taskSupport: Tool.Tool["taskSupport"]
  /** The arguments that are repeated in headers. */
  readonly headers: ReadonlyArray<Declaration>
}

/** @internal */
export interface KnownTools {
  /** A tool that needs something at a call, or `undefined`. */
  readonly get: (name: string) => KnownTool | undefined
  readonly listed: () => boolean
  /** Whether the list has changed since. */
  readonly stale: () => boolean
  readonly outdate: () => void
  /** Lists, and remembers what the newest of several lists says. */
  readonly learning: (list: Effect.Effect<Tool.ToolList, McpError.CallError>) => Effect.Effect<
    Tool.ToolList,
    McpError.CallError
  >
  /** Lists if that was not done yet, or is outdated; at most one at a time, and not again soon. A failure is told. */
  readonly ensure: (list: Effect.Effect<Tool.ToolList, McpError.CallError>) => Effect.Effect<void>
}

const afterSuccess = 1_000
const afterFailure = 60_000

const none: ReadonlyArray<Declaration> = []

/** @internal */
export const make = (
  mirrorsHeaders: boolean,
  report: (detail: string) => void
): KnownTools => {
  const lock = Effect.unsafeMakeSemaphore(1)
  let tools: ReadonlyMap<string, KnownTool> = new Map()
  let turns = 0
  let learned = 0
  let outdatedAt = 0
  let notBefore = -Infinity

  const stale = () => outdatedAt > learned

  const learning: KnownTools["learning"] = (list) =>
    Effect.suspend(() => {
      const turn = ++turns
      return Effect.tap(list, (found) => {
        if (turn < learned) return
        learned = turn
        tools = new Map(found.tools.flatMap((tool) => remembered(tool, mirrorsHeaders)))
      })
    })

  const ensure: KnownTools["ensure"] = (list) =>
    lock.withPermits(1)(Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if ((learned > 0 && !stale()) || now < notBefore) return Effect.void
      return Effect.matchEffect(learning(list), {
        onSuccess: () =>
          Effect.sync(() => {
            notBefore = now + afterSuccess
          }),
        onFailure: (error) =>
          Effect.sync(() => {
            notBefore = now + afterFailure
            report(`the tools could not be listed (${error._tag}), so results are not checked for now`)
          })
      })
    }))

  return {
    get: (name) => tools.get(name),
    listed: () => learned > 0,
    stale,
    outdate: () => {
      // A list that is under way may have been read before the change.
      outdatedAt = turns + 1
    },
    learning,
    ensure
  }
}

const remembered = (
  tool: Tool.Tool,
  mirrorsHeaders: boolean
): ReadonlyArray<readonly [string, KnownTool]> => {
  const headers = mirrorsHeaders ? Either.getOrElse(declarations(tool.inputSchema), () => none) : none
  return tool.outputSchema === undefined && tool.taskSupport === "forbidden" && headers.length === 0
    ? []
    : [[tool.name, { outputSchema: tool.outputSchema, taskSupport: tool.taskSupport, headers }]]
}
