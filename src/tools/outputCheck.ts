/** Holds the structured results of tool calls to the output schemas of their tools. */
import * as Effect from "effect/Effect"
import * as JsonSchema from "../json/JsonSchema.ts"
import * as McpError from "../McpError.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as Tool from "./Tool.ts"
import type * as ToolResult from "./ToolResult.ts"

type Checked = Pick<Tool.Tool, "outputSchema">

/** The tools that the client has listed. */
export interface Listed {
  readonly get: (name: string) => Checked | undefined
  readonly isListed: () => boolean
  /** True after the server has announced changes that were not listed yet. */
  readonly isStale: () => boolean
  /** Lists if that was not done yet, or is outdated. */
  readonly ensure: Effect.Effect<void>
}

export interface Options {
  readonly server: string
  readonly tools: Listed
  /** Reports a deviation of the server. */
  readonly report: (detail: string) => void
}

/** Fails, or reports and keeps, a result that violates the output schema of its tool. */
export type OutputCheck = (
  name: string,
  result: ToolResult.ToolResult,
  mismatch: "fail" | "keep"
) => Effect.Effect<ToolResult.ToolResult, McpError.ProtocolViolation>

/** How many compiled schemas are kept; the least recently used are dropped. */
const maxCompiled = 256

const valid: JsonSchema.Verdict = { _tag: "Valid" }

const missing: JsonSchema.Verdict = {
  _tag: "Invalid",
  path: "",
  detail: "the tool declares an output schema, but there is no structured content"
}

/** The error of a call that was executed, and whose result breaks the protocol or the schema of its tool. */
export const invalidResult = (
  server: string,
  tool: string,
  { detail, path }: ToolResult.Fault
): McpError.ProtocolViolation =>
  new McpError.ProtocolViolation({ server, reason: "tool-result", outcome: "executed", tool, path, what: detail })

/**
 * Holds results to the output schemas of their tools. A structured result of a tool that was not listed yet makes the
 * client list, once, so that the check does not depend on the caller; a result of text alone never does.
 */
export const make = ({ report, server, tools }: Options): OutputCheck => {
  const compiled = new Map<Checked, JsonSchema.JsonSchema>()
  const unchecked = new WeakSet<Checked>()

  const compile = (tool: Checked, schema: NonNullable<Checked["outputSchema"]>): Effect.Effect<JsonSchema.JsonSchema> =>
    Effect.map(
      Effect.suspend(() => {
        const kept = compiled.get(tool)
        return kept === undefined ? JsonSchema.make(schema) : Effect.succeed(kept)
      }),
      (made) => {
        compiled.delete(tool)
        compiled.set(tool, made)
        if (compiled.size > maxCompiled) compiled.delete(compiled.keys().next().value!)
        return made
      }
    )

  const judge = (name: string, result: ToolResult.ToolResult): Effect.Effect<JsonSchema.Verdict> =>
    Effect.suspend(() => {
      const tool = tools.get(name)
      if (tool?.outputSchema === undefined) return Effect.succeed(valid)
      const value = result.structuredContent
      return value === undefined
        ? Effect.succeed(missing)
        : Effect.map(compile(tool, tool.outputSchema), (schema) => schema.check(value))
    })

  const settle = (
    name: string,
    result: ToolResult.ToolResult,
    mismatch: "fail" | "keep",
    verdict: JsonSchema.Verdict
  ): ReturnType<OutputCheck> => {
    const shown = UntrustedText.excerpt(name, 64)
    if (verdict._tag === "Unchecked") {
      const tool = tools.get(name)
      if (tool !== undefined && !unchecked.has(tool)) {
        unchecked.add(tool)
        report(`results of "${shown}" are not checked by its output schema: ${verdict.reason}`)
      }
    }
    if (verdict._tag !== "Invalid") return Effect.succeed(result)
    const path = `/structuredContent${verdict.path}`
    if (mismatch === "fail") {
      return Effect.fail(invalidResult(server, name, { path, detail: verdict.detail }))
    }
    report(
      `a result of "${shown}" violates its output schema at ${UntrustedText.excerpt(path, 128)}: ${verdict.detail}`
    )
    return Effect.succeed(result)
  }

  return (name, result, mismatch) => {
    if (result.isError) return Effect.succeed(result)
    const mustList = result.structuredContent !== undefined &&
      (!tools.isListed() || (tools.isStale() && tools.get(name) === undefined))
    if (!mustList && tools.get(name)?.outputSchema === undefined) return Effect.succeed(result)
    return judge(name, result).pipe(
      (judged) => mustList ? Effect.zipRight(tools.ensure, judged) : judged,
      // the tool may have changed since it was listed
      Effect.flatMap((verdict) =>
        verdict._tag === "Invalid" && tools.isStale()
          ? Effect.zipRight(tools.ensure, judge(name, result))
          : Effect.succeed(verdict)
      ),
      Effect.flatMap((verdict) => settle(name, result, mismatch, verdict))
    )
  }
}
