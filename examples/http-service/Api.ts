import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"

export const Sum = Schema.Struct({ sum: Schema.Number })

/** The tool has no result. `outcome` is `unknown` if the tool may have run. */
export class ToolUnavailable extends Schema.TaggedError<ToolUnavailable>()("ToolUnavailable", {
  reason: Schema.String,
  outcome: Schema.String,
  isRetryable: Schema.Boolean
}, HttpApiSchema.annotations({ status: 503 })) {}

const tools = HttpApiGroup.make("tools")
  .add(
    HttpApiEndpoint.post("add", "/sums")
      .setPayload(Schema.Struct({ a: Schema.Number, b: Schema.Number }))
      .addSuccess(Sum)
      .addError(ToolUnavailable)
  )
  .add(
    HttpApiEndpoint.post("countdown", "/countdowns")
      .setPayload(Schema.Struct({ from: Schema.Int.pipe(Schema.between(1, 100)) }))
      .addSuccess(Schema.Struct({ text: Schema.String }))
      .addError(ToolUnavailable)
  )

const status = HttpApiGroup.make("status").add(
  HttpApiEndpoint.get("health", "/health").addSuccess(
    Schema.Array(Schema.Struct({ name: Schema.String, status: Schema.String, callsInFlight: Schema.Int }))
  )
)

export const Api = HttpApi.make("api").add(tools).add(status)
