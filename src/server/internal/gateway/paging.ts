/** The tool with which a caller reads the rest of what was too long. */
import * as Effect from "effect/Effect"
import type * as OutputGuard from "../../../safety/OutputGuard.ts"
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import type * as McpServe from "../../McpServe.ts"

/** What the notes in shortened texts call it. */
export const name = "mcp_read_output"

/** @internal */
export const definition: JsonRpc.JsonObject = {
  name,
  description: "Reads on in an output that was too long, by the handle that stands in it.",
  inputSchema: {
    type: "object",
    properties: {
      handle: { type: "string", description: "As it stands in the output." },
      offset: { type: "integer", minimum: 0, description: "The character to begin with (default: 0)." },
      limit: { type: "integer", minimum: 1, description: "How many characters at most." }
    },
    required: ["handle"],
    additionalProperties: false
  },
  annotations: { readOnlyHint: true, openWorldHint: false }
}

const said = (text: string, isError: boolean): JsonRpc.JsonObject => ({ content: [{ type: "text", text }], isError })

const natural = (value: JsonRpc.Json | undefined): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined

/** @internal */
export const read = (
  guard: OutputGuard.OutputGuard["Type"],
  output: McpServe.Options["output"],
  { handle, limit, offset }: JsonRpc.JsonObject
): Effect.Effect<JsonRpc.JsonObject> =>
  typeof handle !== "string"
    ? Effect.succeed(said("A handle is needed, as it stands in the output that was cut.", true))
    : Effect.match(guard.renderPage(handle, { offset: natural(offset), limit: natural(limit) }), {
      onFailure: ({ reason }) => said(`Error (SpillError): what was kept under this handle is ${reason}.`, true),
      onSuccess: ({ body, text }) => said(output === "wrap" ? text : body, false)
    })
