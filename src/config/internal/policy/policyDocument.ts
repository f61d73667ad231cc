/**
 * @internal
 */
import * as UntrustedText from "../../../text/UntrustedText.ts"
import type * as ConfigDocument from "../../ConfigDocument.ts"
import * as Scope from "../../Scope.ts"
import type * as ServerPolicy from "../../ServerPolicy.ts"
import { isAddressPattern } from "./address.ts"

type Value = ConfigDocument.Value | undefined
type Table = ConfigDocument.Table

const isTable = (value: Value): value is Table => value instanceof Map
const isText = (value: Value): value is string => typeof value === "string" && value !== ""
const isList = (value: Value): value is ReadonlyArray<ConfigDocument.Value> => Array.isArray(value)
const isLine = (value: Value): value is ReadonlyArray<string> =>
  isList(value) && value.length > 0 && value.every((word) => typeof word === "string")

/** A rule, or the sentence that says why it is none. */
type Ruled = ServerPolicy.Matcher | string

const rule = (value: ConfigDocument.Value): Ruled => {
  if (!isTable(value) || value.size !== 1) {
    return "a rule is a table with exactly one of name, command, commandLine, program, url and fingerprint"
  }
  const [key, of] = [...value][0]!
  switch (key) {
    case "name":
      return isText(of) ? { _tag: "Name", pattern: of } : "a name is a text, with * for any characters"
    case "command":
      return isLine(of) && of[0] !== ""
        ? { _tag: "Command", argv: of }
        : "a command is a list of words, the program first"
    case "url":
      // a variable is put in later, and may be all of it
      return isText(of) && (of.includes("${") || isAddressPattern(of))
        ? { _tag: "Url", pattern: of }
        : "an address has a scheme and a host, with * for any characters: https://*.example.com/*"
    case "commandLine":
      return isText(of) ? { _tag: "CommandLine", pattern: of } : "a command line is a text, with * for any characters"
    case "program":
      return isText(of) ? { _tag: "Program", command: of } : "a program is a text"
    case "fingerprint":
      return isText(of) ? { _tag: "Fingerprint", fingerprint: of } : "a fingerprint is a text"
    default:
      return `a rule knows no ${
        UntrustedText.excerpt(key, 64)
      }, only name, command, commandLine, program, url and fingerprint`
  }
}

const name = (value: ConfigDocument.Value): Ruled =>
  isText(value) ? { _tag: "Name", pattern: value } : "a list of names has only texts in it"

/** @internal */
export interface Fault {
  readonly at: string
  readonly detail: string
}

interface Rules {
  readonly matchers: ReadonlyArray<ServerPolicy.Matcher>
  readonly faults: ReadonlyArray<Fault>
  /** Whether it is no list, or has rules of which none is known. */
  readonly lost: boolean
  readonly isList: boolean
}

const none: Rules = { matchers: [], faults: [], lost: false, isList: true }

/**
 * How many rules a list may have: every server is held against each of them, and a stranger could write many of both.
 *
 * @internal
 */
export const mostRules = (origin: Scope.Origin): number => Scope.rights(origin).allow ? 10_000 : 1_000

const rules = (
  value: Value,
  at: string,
  read: (value: ConfigDocument.Value) => Ruled,
  most = Infinity
): Rules => {
  if (value === undefined) return none
  if (!isList(value)) {
    return { matchers: [], faults: [{ at, detail: "a list is expected here" }], lost: true, isList: false }
  }
  if (value.length > most) {
    return { matchers: [], faults: [{ at, detail: `there are more than ${most} rules` }], lost: true, isList: false }
  }
  const matchers: Array<ServerPolicy.Matcher> = []
  const faults: Array<Fault> = []
  for (const [index, one] of value.entries()) {
    const ruled = read(one)
    if (typeof ruled === "string") faults.push({ at: `${at}/${index}`, detail: ruled })
    else matchers.push(ruled)
  }
  return { matchers, faults, lost: faults.length > 0 && matchers.length === 0, isList: true }
}

const known: ReadonlySet<string> = new Set([
  "allow",
  "deny",
  "managedOnly",
  "managed_only",
  "requireIdentity",
  "exclusive",
  "providers"
])

const isFlag = (value: Value): boolean => value === undefined || typeof value === "boolean"

const section = (
  root: Table,
  key: string
): { readonly table: Table | undefined; readonly faults: ReadonlyArray<Fault> } => {
  const value = root.get(key)
  return value === undefined || isTable(value)
    ? { table: value, faults: [] }
    : { table: undefined, faults: [{ at: key, detail: "a table is expected here" }] }
}

const flags = (table: Table | undefined): ReadonlyArray<Fault> => [
  ...["managedOnly", "managed_only", "requireIdentity", "exclusive"]
    .filter((key) => !isFlag(table?.get(key)))
    .map((key) => ({ at: `policy/${key}`, detail: "true or false is expected here" })),
  ...rules(table?.get("providers"), "policy/providers", name).faults,
  ...Array.from(table?.keys() ?? [])
    .filter((key) => !known.has(key))
    .map((key) => ({ at: `policy/${UntrustedText.excerpt(key, 64)}`, detail: "nothing of this name is known" }))
]

/** @internal */
export const fromDocument = (
  root: Table,
  from: { readonly provider: string; readonly scope: Scope.Scope; readonly origin: Scope.Origin }
): { readonly policy: ServerPolicy.Policy | undefined; readonly invalid: ReadonlyArray<Fault> } => {
  if (!root.has("policy") && !root.has("security")) return { policy: undefined, invalid: [] }
  const policy = section(root, "policy")
  const security = section(root, "security")
  const most = mostRules(from.origin)
  const allow = rules(policy.table?.get("allow"), "policy/allow", rule, most)
  const deny = rules(policy.table?.get("deny"), "policy/deny", rule, most)
  const names = rules(security.table?.get("mcp_server_allowlist"), "security/mcp_server_allowlist", name, most)
  const notNames = rules(security.table?.get("mcp_server_denylist"), "security/mcp_server_denylist", name, most)
  const lists = [allow, deny, names, notNames]
  const unread = [...policy.faults, ...security.faults]
  const flagged = flags(policy.table)
  const managedOnly = policy.table?.get("managedOnly") ?? policy.table?.get("managed_only")
  const requireIdentity = policy.table?.get("requireIdentity")
  return {
    policy: {
      provider: from.provider,
      scope: from.scope,
      origin: from.origin,
      allow: [...allow.matchers, ...names.matchers],
      deny: [...deny.matchers, ...notNames.matchers],
      ordered: [],
      // what was meant as a limit stays one, if it is written wrongly
      managedOnly: managedOnly !== undefined && managedOnly !== false,
      ...(requireIdentity === undefined || requireIdentity === false ? undefined : { requireIdentity: true }),
      identities: undefined,
      broken: isClosed(
        from.origin,
        unread.length > 0 || lists.some(({ isList }) => !isList) || allow.lost || names.lost
      )
    },
    invalid: [...unread, ...lists.flatMap(({ faults }) => faults), ...flagged]
  }
}

/**
 * Whether what is lost of a policy closes it: without any of its rules a list of what is allowed would limit nothing. Who
 * may not allow is not relied on to limit either.
 *
 * @internal
 */
export const isClosed = (origin: Scope.Origin, lost: boolean): boolean => lost && Scope.rights(origin).allow
