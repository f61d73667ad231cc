/**
 * What other hosts write down of the servers that may be used, in the words of `ServerPolicy`.
 *
 * @internal
 */
import * as UntrustedText from "../../../text/UntrustedText.ts"
import type * as ConfigDocument from "../../ConfigDocument.ts"
import type * as Scope from "../../Scope.ts"
import type * as ServerPolicy from "../../ServerPolicy.ts"
import { isList, isTable, isText, list, table } from "../dialect/values.ts"
import { isAddressPattern } from "./address.ts"
import { mostRules } from "./policyDocument.ts"

type Table = ConfigDocument.Table
type Value = ConfigDocument.Value

/** @internal */
export interface From {
  readonly provider: string
  readonly scope: Scope.Scope
  readonly origin: Scope.Origin
}

/** @internal */
export type Read = ReturnType<typeof ServerPolicy.fromDocument>

interface Invalid {
  readonly at: string
  readonly detail: string
}

/** The rules that are none as warnings of the file: the others hold. @internal */
export const issues = ({ invalid }: Read): ReadonlyArray<ConfigDocument.DocumentIssue> =>
  invalid.map((issue) => ({ kind: "invalid-policy", severity: "warning", ...issue }))

/** @internal */
export const names = (value: Value | undefined): ReadonlyArray<string> => list(value).filter(isText)

const empty = ({ origin, provider, scope }: From): ServerPolicy.Policy => ({
  provider,
  scope,
  origin,
  allow: [],
  deny: [],
  ordered: [],
  managedOnly: false,
  identities: undefined,
  broken: false
})

/** A list of names or rules. Where the administrator's is no list, nobody knows what was meant, and nothing is allowed. */
const rules = (
  root: Table,
  at: string,
  read: (rule: Value) => ServerPolicy.Matcher | undefined,
  invalid: Array<Invalid>,
  most: number
): ReadonlyArray<ServerPolicy.Matcher> | "none" | "broken" => {
  const value = at.split("/").reduce<Value | undefined>((from, key) => isTable(from) ? from.get(key) : undefined, root)
  if (value === undefined) return "none"
  if (!isList(value)) {
    invalid.push({ at, detail: "expected a list" })
    return "broken"
  }
  if (value.length > most) {
    invalid.push({ at, detail: `there are more than ${most} rules` })
    return "broken"
  }
  return value.flatMap((rule, place) => {
    const matcher = read(rule)
    if (matcher === undefined) invalid.push({ at: `${at}/${place}`, detail: "not a rule" })
    return matcher ?? []
  })
}

interface Lists {
  readonly allow: string
  readonly deny: string
  readonly read: (rule: Value) => ServerPolicy.Matcher | undefined
  /** Whether a list of what is allowed that allows nothing means just that. */
  readonly closed: boolean
}

const fromLists = (root: Table, from: From, { allow, closed, deny, read }: Lists): Read => {
  const invalid: Array<Invalid> = []
  const most = mostRules(from.origin)
  const allowed = rules(root, allow, read, invalid, most)
  const denied = rules(root, deny, read, invalid, most)
  if (allowed === "none" && denied === "none") return { policy: undefined, invalid }
  const broken = from.origin === "system" && (allowed === "broken" || denied === "broken")
  const nothing = closed && typeof allowed !== "string" && allowed.length === 0
  return {
    policy: {
      ...empty(from),
      allow: typeof allowed === "string" ? [] : allowed,
      deny: typeof denied === "string" ? [] : denied,
      // a table of identities without any: no server is in it
      identities: nothing ? new Map() : undefined,
      broken
    },
    invalid
  }
}

const name = (rule: Value | undefined): ServerPolicy.Matcher | undefined =>
  isText(rule) ? { _tag: "Name", pattern: rule } : undefined

const address = (rule: Value): ServerPolicy.Matcher | undefined =>
  isText(rule) && isAddressPattern(rule) ? { _tag: "Url", pattern: rule } : undefined

const claudeRule = (rule: Value): ServerPolicy.Matcher | undefined => {
  if (!isTable(rule) || rule.size !== 1) return undefined
  const command = rule.get("serverCommand")
  if (isList(command)) {
    return command.length > 0 && command.every(isText) ? { _tag: "Command", argv: command.filter(isText) } : undefined
  }
  const url = rule.get("serverUrl")
  return url === undefined ? name(rule.get("serverName")) : address(url)
}

/** `allowedMcpServers` and `deniedMcpServers` of Claude Code's settings, managed or not. @internal */
export const claude = (root: Table, from: From): Read => {
  const read = fromLists(root, from, {
    allow: "allowedMcpServers",
    deny: "deniedMcpServers",
    read: claudeRule,
    closed: true
  })
  const managedOnly = from.origin === "system" && root.get("allowManagedMcpServersOnly") === true
  return managedOnly ? { ...read, policy: { ...read.policy ?? empty(from), managedOnly } } : read
}

/** `mcp.allowed` and `mcp.excluded` of Gemini's and Qwen's settings. @internal */
export const gemini = (root: Table, from: From): Read =>
  fromLists(root, from, { allow: "mcp/allowed", deny: "mcp/excluded", read: name, closed: false })

/** `disabledServers` of oh-my-pi. @internal */
export const ohMyPi = (root: Table, from: From): Read =>
  fromLists(root, from, { allow: "", deny: "disabledServers", read: name, closed: false })

const identity = (rule: Value): ServerPolicy.Matcher | undefined => {
  const { command, url } = Object.fromEntries(["command", "url"].map((key) => [key, table(rule).get(key)]))
  if (isText(command) && url === undefined) return { _tag: "Program", command }
  return isText(url) && command === undefined ? { _tag: "Url", pattern: url } : undefined
}

/** Codex's `requirements.toml`: where it has servers at all, those it does not know are not allowed. @internal */
export const codex = (root: Table, from: From & { readonly path?: string | undefined }): Read => {
  const servers = root.get("mcp_servers")
  if (servers === undefined || !/(?:^|[/\\])requirements\.toml$/.test(from.path ?? "")) {
    return { policy: undefined, invalid: [] }
  }
  if (!isTable(servers)) {
    return {
      policy: { ...empty(from), broken: from.origin === "system" },
      invalid: [{ at: "mcp_servers", detail: "expected a table" }]
    }
  }
  const invalid: Array<Invalid> = []
  const identities = new Map<string, ServerPolicy.Matcher>()
  for (const [server, entry] of servers) {
    const matcher = identity(table(entry).get("identity") ?? null)
    if (matcher !== undefined) identities.set(server, matcher)
    else invalid.push({ at: `mcp_servers/${UntrustedText.excerpt(server, 128)}`, detail: "expected an identity" })
  }
  return { policy: { ...empty(from), identities }, invalid }
}

/** `amp.mcpPermissions`: the first rule that matches decides, and without one a server is allowed. @internal */
export const amp = (root: Table, from: From): Read => {
  const value = root.get("amp.mcpPermissions")
  if (value === undefined) return { policy: undefined, invalid: [] }
  const most = mostRules(from.origin)
  if (!isList(value) || value.length > most) {
    const detail = isList(value) ? `there are more than ${most} rules` : "expected a list"
    return {
      policy: { ...empty(from), broken: from.origin === "system" },
      invalid: [{ at: "amp.mcpPermissions", detail }]
    }
  }
  const invalid: Array<Invalid> = []
  const ordered = value.flatMap((rule, place) => {
    const matches = table(table(rule).get("matches"))
    const command = matches.get("command")
    const url = matches.get("url")
    const matchers: ReadonlyArray<ServerPolicy.Matcher> = [
      ...(isText(command) ? [{ _tag: "CommandLine", pattern: command } as const] : []),
      ...(isText(url) ? [{ _tag: "Url", pattern: url } as const] : [])
    ]
    const action = table(rule).get("action")
    const known = action === "allow" || action === "reject"
    if (!known || matchers.length === 0) invalid.push({ at: `amp.mcpPermissions/${place}`, detail: "not a rule" })
    // what it says of these servers is not known: so they are not allowed
    return matchers.map((matcher) => ({ action: action === "allow" ? "allow" as const : "deny" as const, matcher }))
  })
  return { policy: { ...empty(from), ordered }, invalid }
}
