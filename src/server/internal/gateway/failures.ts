/** What a caller is told when something went wrong on the way to a server. */
import * as Effect from "effect/Effect"
import type * as McpError from "../../../McpError.ts"
import * as HiddenText from "../../../safety/HiddenText.ts"
import type * as Redaction from "../../../safety/Redaction.ts"
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import * as McpServer from "../../McpServer.ts"

/** @internal */
export interface Failures {
  /** As an answer that is an error. */
  readonly refusal: (error: McpError.McpError) => McpServer.Refusal
  /** As the result of a tool, which a model can act on; a server's own error stays one. */
  readonly result: (error: McpError.McpError) => Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal>
}

/** What is about us and the server, and nothing that the caller did. */
const between: ReadonlySet<number> = new Set([
  McpServer.codes.parse,
  McpServer.codes.invalidRequest,
  McpServer.codes.headerMismatch,
  McpServer.codes.unsupportedVersion
])

/** @internal */
export const make = ({ text }: Redaction.Redactor): Failures => {
  const said = (error: McpError.McpError): string => text(`${error._tag}: ${error.message}`)

  const remote = ({ code, data, detail }: McpError.RemoteError): McpServer.Refusal =>
    new McpServer.Refusal({
      code: between.has(code) ? McpServer.codes.internal : code,
      message: HiddenText.clean(text(detail), "result").text,
      // the cast: it came as JSON
      data: data as JsonRpc.Json | undefined
    })

  const refusal: Failures["refusal"] = (error) => {
    switch (error._tag) {
      case "RemoteError":
        return remote(error)
      case "NotFound":
        return new McpServer.Refusal({
          code: McpServer.codes.invalidParams,
          message: said(error),
          data: error.kind === "resource" ? { uri: error.name } : undefined
        })
      case "InvalidArguments":
        return new McpServer.Refusal({ code: McpServer.codes.invalidParams, message: said(error) })
      case "CapabilityMissing":
        return new McpServer.Refusal({ code: McpServer.codes.methodNotFound, message: said(error) })
      default:
        return new McpServer.Refusal({ code: McpServer.codes.internal, message: said(error) })
    }
  }

  return {
    refusal,
    result: (error) =>
      error._tag === "RemoteError" || error._tag === "NotFound"
        ? Effect.fail(refusal(error))
        : Effect.succeed({ content: [{ type: "text", text: `Error (${said(error)})` }], isError: true })
  }
}
