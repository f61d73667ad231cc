/** Arguments that a caller repeats in headers (`x-mcp-header`): whoever stands in between goes by them. */
import * as Either from "effect/Either"
import * as ParamHeaders from "../../../tools/paramHeaders.ts"
import type * as Tool from "../../../tools/Tool.ts"
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import * as McpServer from "../../McpServer.ts"
import * as StandardHeaders from "../http/standardHeaders.ts"

const mismatch = (header: string, what: string): McpServer.Refusal =>
  new McpServer.Refusal({
    code: McpServer.codes.headerMismatch,
    message: `Header mismatch: Mcp-Param-${header} ${what}`
  })

/** What is wrong with the headers of a call, if anything is. */
export const check = (
  { caller, header }: McpServer.Exchange,
  { inputSchema }: Tool.Tool,
  args: JsonRpc.JsonObject
): McpServer.Refusal | undefined => {
  if (caller.era !== "stateless" || caller.link !== "http") return undefined
  const declared = ParamHeaders.declarations(inputSchema)
  if (Either.isLeft(declared)) return undefined
  for (const one of declared.right) {
    const expected = ParamHeaders.textOf(ParamHeaders.valueAt(args, one.path))
    const given = header(`mcp-param-${one.header}`)
    if (expected === undefined && given === undefined) continue
    if (given === undefined) return mismatch(one.header, "is missing")
    if (StandardHeaders.decode(given) !== expected) return mismatch(one.header, "is not what the argument says")
  }
  return undefined
}
