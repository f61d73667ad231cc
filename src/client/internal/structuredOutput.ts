/**
 * Holds results against the output schemas that tools declare.
 *
 * A tool's schema is known once the tools were listed. A result with structured content of a session that has not
 * listed yet makes it list, once, so that the check does not depend on the caller; a result without structured content
 * never does, so that tools of plain text cost no list.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as OutputSchema from "../../tools/OutputSchema.ts"
import type * as Tool from "../../tools/Tool.ts"
import type * as ToolResult from "../../tools/ToolResult.ts"
import type * as KnownTools from "./knownTools.ts"

/** @internal */
export interface Options {
  readonly server: string
  readonly known: KnownTools.KnownTools
  readonly list: Effect.Effect<Tool.ToolList, McpError.CallError>
  readonly report: (detail: string) => void
}

/** @internal */
export type Mismatch = "fail" | "keep"

/** @internal */
export interface Check {
  (
    name: string,
    result: ToolResult.ToolResult,
    mismatch: Mismatch
  ): Effect.Effect<ToolResult.ToolResult, McpError.ProtocolViolation>
}

/** How many schemas are kept ready; the least recently used give way. */
const maxReady = 256

const free: OutputSchema.Verdict = { _tag: "Valid" }

const lacking: OutputSchema.Verdict = {
  _tag: "Invalid",
  path: "",
  detail: "the tool declares an output schema, but there is no structured content"
}

/** @internal */
export const make = (options: Options): Check => {
  const { known, list, report, server } = options
  const ready = new Map<KnownTools.KnownTool, OutputSchema.OutputSchema>()
  const unchecked = new WeakSet<KnownTools.KnownTool>()

  const remember = (tool: KnownTools.KnownTool, schema: OutputSchema.OutputSchema): void => {
    ready.delete(tool)
    ready.set(tool, schema)
    if (ready.size > maxReady) ready.delete(ready.keys().next().value!)
  }

  const judge = (name: string, result: ToolResult.ToolResult): Effect.Effect<OutputSchema.Verdict> => {
    const tool = known.get(name)
    if (tool?.outputSchema === undefined) return Effect.succeed(free)
    const value = result.structuredContent
    if (value === undefined) return Effect.succeed(lacking)
    const kept = ready.get(tool)
    if (kept !== undefined) {
      remember(tool, kept)
      return Effect.succeed(kept.check(value))
    }
    return Effect.map(OutputSchema.make(tool.outputSchema), (schema) => {
      remember(tool, schema)
      return schema.check(value)
    })
  }

  const settle = (
    name: string,
    result: ToolResult.ToolResult,
    mismatch: Mismatch,
    verdict: OutputSchema.Verdict
  ): Effect.Effect<ToolResult.ToolResult, McpError.ProtocolViolation> => {
    if (verdict._tag === "Valid") return Effect.succeed(result)
    if (verdict._tag === "Unchecked") {
      const tool = known.get(name)
      if (tool !== undefined && !unchecked.has(tool)) {
        unchecked.add(tool)
        report(
          `results of "${UntrustedText.excerpt(name, 64)}" are not checked by its output schema: ${verdict.reason}`
        )
      }
      return Effect.succeed(result)
    }
    const path = `/structuredContent${verdict.path}`
    if (mismatch === "fail") {
      return Effect.fail(
        new McpError.ProtocolViolation({
          server,
          reason: "tool-result",
          outcome: "executed",
          tool: name,
          path,
          what: verdict.detail
        })
      )
    }
    report(
      `a result of "${UntrustedText.excerpt(name, 64)}" violates its output schema at ${
        UntrustedText.excerpt(path, 128)
      }: ${verdict.detail}`
    )
    return Effect.succeed(result)
  }

  return (name, result, mismatch) => {
    if (result.isError) return Effect.succeed(result)
    const structured = result.structuredContent !== undefined
    const mustList = structured && (!known.listed() || (known.stale() && known.get(name) === undefined))
    if (!mustList && known.get(name)?.outputSchema === undefined) return Effect.succeed(result)
    const listed = mustList ? known.ensure(list) : Effect.void
    const judged = Effect.zipRight(listed, Effect.suspend(() => judge(name, result)))
    return Effect.flatMap(judged, (verdict) =>
      // The tool may have changed since it was listed.
      verdict._tag === "Invalid" && known.stale()
        ? Effect.flatMap(
          Effect.zipRight(known.ensure(list), Effect.suspend(() => judge(name, result))),
          (verdict) => settle(name, result, mismatch, verdict)
        )
        : settle(name, result, mismatch, verdict))
  }
}
