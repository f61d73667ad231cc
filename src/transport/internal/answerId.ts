/** @internal */
import type * as JsonRpc from "../JsonRpc.ts"

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

/**
 * The id of an answer of which only the beginning and the end are at hand: it is looked for among the plain members
 * before the first nested one and after the last, which is where servers write it. A request of the server has an id
 * too, but it has a method, and answers nothing.
 *
 * @internal
 */
export const find = (head: string, tail: string): JsonRpc.Id | undefined => {
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
  const id = members.get("id")
  if (members.get("jsonrpc") !== "2.0" || members.has("method")) return undefined
  return typeof id === "string" || typeof id === "number" ? id : undefined
}
