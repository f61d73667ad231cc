/**
 * Asks the person behind a caller whether a tool may be called, where no rule says so.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as Approval from "../../../safety/Approval.ts"
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import * as UntrustedText from "../../../UntrustedText.ts"
import type * as McpServer from "../../McpServer.ts"
import { objectOf } from "../exchange.ts"

/** Of arguments so much is shown; whoever agrees to more agrees to what they have not seen. */
const most = 2_000

const schema: JsonRpc.JsonObject = {
  type: "object",
  properties: {
    decision: {
      type: "string",
      title: "Decision",
      enum: ["once", "session", "no"],
      enumNames: ["Yes, this once", "Yes, as long as this connection lasts", "No"],
      default: "no"
    }
  },
  required: ["decision"]
}

const noDecision: Approval.Answer = { _tag: "Unanswered" }

const answerOf = (given: JsonRpc.JsonObject): Approval.Answer => {
  if (given["action"] !== "accept") return given["action"] === "decline" ? { _tag: "Deny" } : noDecision
  switch (objectOf(given["content"])["decision"]) {
    case "once":
      return { _tag: "Once" }
    case "session":
      return { _tag: "Session" }
    default:
      return { _tag: "Deny" }
  }
}

/** @internal */
export const ask = (
  { subject: { args, kind, name, server } }: Approval.Request,
  question: McpServer.Exchange["ask"]
): Effect.Effect<Approval.Answer> => {
  const shown = args === undefined ? "" : UntrustedText.excerpt(JSON.stringify(args), most)
  const verb = kind === "tool" ? "call the tool" : kind === "prompt" ? "get the prompt" : "read the resource"
  const message = `May ${UntrustedText.excerpt(server, 128)} be asked to ${verb} ${UntrustedText.excerpt(name, 256)}` +
    `${shown === "" || shown === "{}" ? "" : ` with ${shown}`}?`
  return Effect.match(question("elicitation/create", { mode: "form", message, requestedSchema: schema }), {
    onFailure: () => noDecision,
    onSuccess: answerOf
  })
}
