/**
 * Lists of tools, and connections that give them when they are told to.
 */
import { Deferred, Effect, FiberId } from "effect"
import type * as McpError from "../../src/McpError.ts"
import type * as CachedList from "../../src/tools/CachedList.ts"
import * as Tool from "../../src/tools/Tool.ts"

const options: Tool.DecodeOptions = { maxSchemaBytes: 1024 * 1024, paramHeaders: false }

/** The list that a server's items make. */
export const listOf = (
  items: ReadonlyArray<unknown>,
  hints: Partial<Pick<Tool.ToolList, "ttlMs" | "cacheScope">> = {}
): Tool.ToolList => ({ ttlMs: undefined, cacheScope: undefined, ...Tool.decodeAll(items, options), ...hints })

/** The list of tools of these names. */
export const named = (...names: ReadonlyArray<string>): Tool.ToolList => listOf(names.map((name) => ({ name })))

/** A connection that answers at once. */
export const source = (list: Tool.ToolList, generation = 1): CachedList.Source<Tool.ToolList> => ({
  generation,
  era: "session",
  list: Effect.succeed(list)
})

/** One time that a list was asked for. */
export interface Asked {
  readonly answer: (list: Tool.ToolList) => void
  readonly fail: (error: McpError.CallError) => void
  readonly interrupted: () => boolean
}

/** A connection that answers when it is told to. */
export interface Patient extends CachedList.Source<Tool.ToolList> {
  readonly asked: ReadonlyArray<Asked>
  /** Waits until the list was asked for so often. */
  readonly untilAsked: (times: number) => Effect.Effect<void>
}

export const patient = (generation = 1): Patient => {
  const asked: Array<Asked> = []
  const waiting: Array<{ readonly times: number; readonly wake: () => void }> = []
  const list = Effect.suspend(() => {
    const answer = Deferred.unsafeMake<Tool.ToolList, McpError.CallError>(FiberId.none)
    let interrupted = false
    asked.push({
      answer: (list) => Deferred.unsafeDone(answer, Effect.succeed(list)),
      fail: (error) => Deferred.unsafeDone(answer, Effect.fail(error)),
      interrupted: () => interrupted
    })
    for (const { times, wake } of waiting) if (asked.length >= times) wake()
    return Effect.onInterrupt(Deferred.await(answer), () =>
      Effect.sync(() => {
        interrupted = true
      }))
  })
  return {
    generation,
    era: "session",
    list,
    asked,
    untilAsked: (times) =>
      Effect.async<void>((resume) => {
        if (asked.length >= times) resume(Effect.void)
        else waiting.push({ times, wake: () => resume(Effect.void) })
      })
  }
}
