/**
 * The rules on tools that stand in a file beside the servers.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as PermissionRule from "../../../safety/PermissionRule.ts"
import * as UntrustedText from "../../../text/UntrustedText.ts"
import type * as ConfigDocument from "../../ConfigDocument.ts"
import * as Scope from "../../Scope.ts"

type Value = ConfigDocument.Value | undefined
type Table = ConfigDocument.Table

/** @internal */
export interface Fault {
  readonly at: string
  readonly detail: string
}

/** @internal */
export interface Permissions {
  readonly rules: ReadonlyArray<PermissionRule.Input>
  readonly faults: ReadonlyArray<Fault>
}

const none: Permissions = { rules: [], faults: [] }

const isTable = (value: Value): value is Table => value instanceof Map
const isList = (value: Value): value is ReadonlyArray<ConfigDocument.Value> => Array.isArray(value)

const decisions: ReadonlyMap<Value, PermissionRule.Decision> = new Map([
  ["allow", "allow"],
  ["ask", "ask"],
  ["deny", "deny"]
])

const argsOf = (value: Value): Readonly<Record<string, string>> | undefined => {
  if (!isTable(value)) return undefined
  const all = Array.from(value)
  return all.every((pair): pair is [string, string] => typeof pair[1] === "string")
    ? Object.fromEntries(all)
    : undefined
}

interface Read {
  readonly rule: PermissionRule.Input
  readonly fault: string | undefined
}

const known = new Set(["tool", "action", "decision", "args"])

const lists = ["allow", "ask", "deny"] as const

/** What cannot be understood is not permitted, as far as it says what it is about. */
const ruleOf = (value: ConfigDocument.Value, source: PermissionRule.Source): Read => {
  const strict = (tool: string, fault: string): Read => ({
    rule: { decision: source === "workspace" ? "ask" : "deny", tool, source },
    fault
  })
  if (!isTable(value)) return strict("*", "a rule is a table with a tool and an action")
  const tool = value.get("tool")
  if (typeof tool !== "string") return strict("*", "a rule needs a tool, such as github/* or mcp__github__*")
  const [action, other] = [value.get("action"), value.get("decision")]
  if (action !== undefined && other !== undefined && action !== other) {
    return strict(tool, "a rule has one action, and this has two")
  }
  const decision = decisions.get(action ?? other)
  if (decision === undefined) return strict(tool, "the action of a rule is allow, ask or deny")
  const args = value.get("args")
  const patterns = argsOf(args)
  if (args !== undefined && patterns === undefined) {
    return strict(tool, "the arguments of a rule are a table of patterns, each a text")
  }
  const unknown = Array.from(value.keys()).find((key) => !known.has(key))
  if (unknown !== undefined) {
    return strict(tool, `a rule knows no ${UntrustedText.excerpt(unknown, 64)}, only tool, action and args`)
  }
  return { rule: { decision, tool, args: patterns, source }, fault: undefined }
}

const listed = (value: ConfigDocument.Value, decision: PermissionRule.Decision, source: PermissionRule.Source): Read =>
  typeof value === "string"
    ? { rule: { decision, tool: value, source }, fault: undefined }
    : {
      rule: { decision: decision === "deny" && source !== "workspace" ? "deny" : "ask", tool: "*", source },
      fault: "a text is expected here"
    }

/** What is wrong with a rule that looks like one; what takes its place then is for whoever applies it. */
const faultOf = (rule: PermissionRule.Input): string | undefined =>
  Either.match(PermissionRule.parse(rule), { onLeft: ({ detail }) => detail, onRight: () => undefined })

const part = (
  table: Table,
  key: string,
  read: (value: ConfigDocument.Value) => Read,
  source: PermissionRule.Source
): Permissions => {
  const value = table.get(key)
  if (value === undefined) return none
  if (!isList(value)) {
    const rule = { decision: source === "workspace" ? "ask" as const : "deny" as const, tool: "*", source }
    return {
      rules: key === "allow" ? [] : [rule],
      faults: [{ at: `permissions/${key}`, detail: "a list is expected here" }]
    }
  }
  const reads = value.map(read)
  return {
    rules: reads.map(({ rule }) => rule),
    faults: reads.flatMap(({ fault, rule }, index) => {
      const detail = fault ?? faultOf(rule)
      return detail === undefined ? [] : [{ at: `permissions/${key}/${index}`, detail }]
    })
  }
}

/**
 * Whose rules they are: what somebody may write who may not let a server start only narrows.
 *
 * @internal
 */
export const sourceOf = ({ origin, scope }: {
  readonly scope: Scope.Scope
  readonly origin: Scope.Origin
}): PermissionRule.Source => scope === "managed" ? "managed" : Scope.rights(origin).allow ? "user" : "workspace"

/** @internal */
export const fromDocument = (
  root: Table,
  from: { readonly scope: Scope.Scope; readonly origin: Scope.Origin }
): Permissions => {
  const value = root.get("permissions")
  if (value === undefined) return none
  const source = sourceOf(from)
  if (!isTable(value)) {
    return {
      rules: [{ decision: source === "workspace" ? "ask" : "deny", tool: "*", source }],
      faults: [{ at: "permissions", detail: "a table is expected here" }]
    }
  }
  const parts = [
    part(value, "rules", (one) => ruleOf(one, source), source),
    ...lists.map((decision) => part(value, decision, (one) => listed(one, decision, source), source))
  ]
  // somebody may have meant a list that denies
  const unknown = Array.from(value.keys()).filter((key) => key !== "rules" && !lists.some((list) => list === key))
    .map((key) => ({
      at: `permissions/${UntrustedText.excerpt(key, 64)}`,
      detail: "this is not known here, only rules, allow, ask and deny"
    }))
  return {
    rules: parts.flatMap(({ rules }) => rules),
    faults: [...parts.flatMap(({ faults }) => faults), ...unknown]
  }
}
