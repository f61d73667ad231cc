/**
 * Input in the stateless era: a request is answered with questions and comes again with the answers.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as MemoryServer from "../MemoryServer.ts"
import * as memoryJson from "./memoryJson.ts"

/** A defect, so that no handler can take it for a failure of its own. */
class InputRequired extends Data.TaggedError("InputRequired")<{ readonly result: JsonRpc.JsonObject }> {}

const answersOf = (params: JsonRpc.JsonObject): ReadonlyMap<string, JsonRpc.JsonObject> => {
  const given = [
    ...Object.entries(memoryJson.parseObject(params["requestState"])),
    ...Object.entries(memoryJson.objectOf(params["inputResponses"]))
  ]
  return new Map(given.map(([key, answer]) => [key, memoryJson.objectOf(answer)]))
}

/**
 * Gives the answers that came with a request, and ends the round at the first question that has none.
 *
 * @internal
 */
export const make = (params: JsonRpc.JsonObject): MemoryServer.Context["ask"] => {
  let asked = 0
  return (method, question = {}) =>
    Effect.suspend(() => {
      const answers = answersOf(params)
      const key = `input-${++asked}`
      const answer = answers.get(key)
      if (answer !== undefined) return Effect.succeed(answer)
      return Effect.die(
        new InputRequired({
          result: {
            resultType: "input_required",
            inputRequests: { [key]: { method, params: question } },
            requestState: memoryJson.print(Object.fromEntries(answers))
          }
        })
      )
    })
}

/** @internal */
export const isFirst = (params: JsonRpc.JsonObject): boolean =>
  params["inputResponses"] === undefined && params["requestState"] === undefined

/** @internal */
export const inputRequired = (cause: Cause.Cause<unknown>): JsonRpc.JsonObject | undefined => {
  const defect = Chunk.findFirst(Cause.defects(cause), (defect) => defect instanceof InputRequired)
  return defect._tag === "Some" && defect.value instanceof InputRequired ? defect.value.result : undefined
}
