/** Holds the structured results of tool calls to the output schemas of their tools. */
import * as Effect from "effect/Effect"
import * as JsonSchema from "../json/JsonSchema.ts"
import * as McpError from "../McpError.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as DecodeResult from "./decodeResult.ts"
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

const valid: JsonSchema.Verdict = { _tag: "Valid" }

const missing: JsonSchema.Verdict = {
  _tag: "Invalid",
  path: "",
  detail: "the tool declares an output schema, but the result has no structured content"
}

/** The error of a call that was executed, and whose result breaks the protocol or the schema of its tool. */
export const invalidResult = (
  server: string,
  tool: string,
  { detail, path }: DecodeResult.Fault
): McpError.ProtocolViolation =>
  new McpError.ProtocolViolation({ server, reason: "tool-result", outcome: "executed", tool, path, what: detail })

/**
 * Holds results to the output schemas of their tools. A structured result of a tool that was not listed yet makes the
 * client list, once, so that the check does not depend on the caller; a result of text alone never does.
 */
export const make = ({ report, server, tools }: Options): OutputCheck => {
  const schemas = new WeakMap<Checked, JsonSchema.JsonSchema>()
  const unchecked = new WeakSet<Checked>()

  const judge = (name: string, value: ToolResult.ToolResult["structuredContent"]) =>
    Effect.gen(function*() {
      const tool = tools.get(name)
      if (tool?.outputSchema === undefined) return valid
      if (value === undefined) return missing
      const schema = schemas.get(tool) ?? (yield* JsonSchema.make(tool.outputSchema))
      schemas.set(tool, schema)
      return schema.check(value)
    })

  return (name, result, mismatch) => {
    const { isError, structuredContent } = result
    if (isError) return Effect.succeed(result)
    const mustList = structuredContent !== undefined &&
      (!tools.isListed() || (tools.isStale() && tools.get(name) === undefined))
    if (!mustList && tools.get(name)?.outputSchema === undefined) return Effect.succeed(result)
    const settle = (verdict: JsonSchema.Verdict): ReturnType<OutputCheck> => {
      if (verdict._tag === "Invalid") {
        const path = `/structuredContent${verdict.path}`
        if (mismatch === "fail") return Effect.fail(invalidResult(server, name, { path, detail: verdict.detail }))
        const [shown, place] = [UntrustedText.quote(name, 64), UntrustedText.excerpt(path, 128)]
        report(`a result of ${shown} violates its output schema at ${place}: ${verdict.detail}`)
      }
      const tool = verdict._tag === "Unchecked" ? tools.get(name) : undefined
      if (verdict._tag === "Unchecked" && tool !== undefined && !unchecked.has(tool)) {
        unchecked.add(tool)
        report(`results of ${UntrustedText.quote(name, 64)} are not checked by its output schema: ${verdict.reason}`)
      }
      return Effect.succeed(result)
    }
    const judged = judge(name, structuredContent)
    const checked = Effect.flatMap(judged, (verdict) =>
      // the tool may have changed since it was listed
      verdict._tag === "Invalid" && tools.isStale()
        ? Effect.flatMap(Effect.zipRight(tools.ensure, judged), settle)
        : settle(verdict))
    return mustList ? Effect.zipRight(tools.ensure, checked) : checked
  }
}
