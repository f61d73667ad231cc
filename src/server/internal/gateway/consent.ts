/** Asks the person behind a caller whether a tool may be called, where no rule says so. */
import * as Effect from "effect/Effect"
import * as Approval from "../../../safety/Approval.ts"
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import type * as McpServer from "../../McpServer.ts"
import { objectOf } from "../exchange.ts"

/**
 * Above this length the question states the number of characters first, so that a person notices a client that cuts it.
 */
const manyCharacters = 500

const schema: JsonRpc.JsonObject = {
  type: "object",
  properties: {
    decision: {
      type: "string",
      title: "Decision",
      enum: ["once", "session", "no"],
      enumNames: ["Yes, this once", "Yes, and the same call again as long as this connection lasts", "No"],
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
      // bound to these arguments, because the person has seen no others
      return { _tag: "Session", exactly: true }
    default:
      return { _tag: "Deny" }
  }
}

/** Asks with the whole call, or does not ask. */
export const ask = (
  request: Approval.Request,
  question: McpServer.Exchange["ask"]
): Effect.Effect<Approval.Answer> =>
  Approval.whole(({ args, name, server }, { subject: { kind } }) => {
    const verb = kind === "tool" ? "call the tool" : kind === "prompt" ? "get the prompt" : "read the resource"
    const size = args.length > manyCharacters ? `${args.length} characters of arguments, ` : ""
    const message = `May ${server} be asked to ${verb} ${name}${
      args === "" || args === "{}" ? "" : ` with ${size}${args}`
    }?`
    return Effect.match(question("elicitation/create", { mode: "form", message, requestedSchema: schema }), {
      onFailure: () => noDecision,
      onSuccess: answerOf
    })
  })(request)
