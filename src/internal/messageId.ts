/** @internal */
import type * as JsonRpc from "../transport/JsonRpc.ts"

const scalar = String.raw`"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null`
const firstMember = new RegExp(String.raw`[\s,{]*("(?:[^"\\]|\\.)*")\s*:\s*(${scalar})(?=\s*[,}])`, "y")
const lastMember = new RegExp(String.raw`[,{]\s*("(?:[^"\\]|\\.)*")\s*:\s*(${scalar})\s*$`)

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The plain members before the first nested one and after the last, which is where programs write an id. */
const membersOf = (head: string, tail: string): ReadonlyMap<unknown, unknown> => {
  const members = new Map<unknown, unknown>()
  if (head.trimStart().startsWith("{")) {
    firstMember.lastIndex = 0
    for (let match = firstMember.exec(head); match !== null; match = firstMember.exec(head)) {
      members.set(parse(match[1]!), parse(match[2]!))
    }
  }
  let end = tail.trimEnd()
  if (end.endsWith("}")) {
    end = end.slice(0, -1)
    for (let match = lastMember.exec(end); match !== null; match = lastMember.exec(end)) {
      members.set(parse(match[1]!), parse(match[2]!))
      end = end.slice(0, match.index)
    }
  }
  return members
}

/** The id, if these are the members of a message with or without a method. */
const idIn = (members: ReadonlyMap<unknown, unknown>, method: boolean): JsonRpc.Id | undefined => {
  const id = members.get("id")
  if (members.get("jsonrpc") !== "2.0" || members.has("method") !== method) return undefined
  return typeof id === "string" || typeof id === "number" ? id : undefined
}

/**
 * The id of an answer of which only the beginning and the end are at hand. A request has an id too, but it has a method,
 * and answers nothing.
 *
 * @internal
 */
export const ofAnswer = (head: string, tail: string): JsonRpc.Id | undefined => idIn(membersOf(head, tail), false)

/**
 * The id of a request of which only the beginning and the end are at hand.
 *
 * @internal
 */
export const ofRequest = (head: string, tail: string): JsonRpc.Id | undefined => idIn(membersOf(head, tail), true)
