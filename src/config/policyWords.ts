/** Policies and rules on tools as native files and other hosts write them: a row of keys for each host, and their reader. */
import * as Either from "effect/Either"
import * as PermissionRule from "../safety/PermissionRule.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as ConfigIssue from "./ConfigIssue.ts"
import type * as Document from "./document.ts"
import { isList, isTable, isText, list, partAt, table } from "./document.ts"
import * as Interpolation from "./Interpolation.ts"
import * as Scope from "./Scope.ts"
import * as ServerPolicy from "./ServerPolicy.ts"

type Table = Document.Table
type Value = Document.Value | undefined

export interface From extends Pick<Scope.Provenance, "origin" | "provider" | "scope"> {
  readonly path?: string | undefined
  /** No rule about a name alone allows a server. */
  readonly strict?: boolean | undefined
  /** A variable of the environment, for `${HOME}` and `${env:HOME}` in rules; without it they stay as they are written. */
  readonly variable?: ((name: string) => string | undefined) | undefined
}

const expectsList = "expected a list"

/** One element of a list. A `detail` says why it is not a valid rule. */
interface Rule {
  readonly matchers: ReadonlyArray<ServerPolicy.Matcher>
  readonly action?: ServerPolicy.Rule["action"]
  readonly detail?: string
}

type Tag = ServerPolicy.Matcher["_tag"]

const anyCharacters = "a string, in which * matches any characters"

const expected: { readonly [T in Tag]: string } = {
  Name: anyCharacters,
  Command: "a list of words, the program first",
  CommandLine: anyCharacters,
  Program: "a text",
  Url: "a scheme and a host, with * for any characters: https://*.example.com/*",
  Fingerprint: "a text"
}

const ofText = (_tag: Exclude<Tag, "Command">, of: Value): Rule["matchers"] =>
  isText(of) && of !== "" ? [{ _tag, pattern: of }] : []

/** The rule about one aspect of a server, which `what` names. */
const ruleOf = (what: string, _tag: Tag, of: Value): Rule => {
  const argv = _tag === "Command" && isList(of) && of.every(isText) ? of.filter(isText) : [""]
  // a variable is replaced later, and may be the whole address
  const isAddress = _tag !== "Url" || !isText(of) || of.includes("${") || ServerPolicy.isAddressPattern(of)
  const matchers: Rule["matchers"] = _tag !== "Command"
    ? isAddress ? ofText(_tag, of) : []
    : (argv[0] ?? "") === ""
    ? []
    : [{ _tag, argv }]
  return matchers.length > 0 ? { matchers } : { matchers, detail: `${what} is ${expected[_tag]}` }
}

/** A table with a single key, which is the aspect that the rule matches. */
const keyed = (tags: { readonly [key: string]: Tag }) => (value: Value): Rule => {
  const [key = "", of] = isTable(value) && value.size === 1 ? [...value][0]! : []
  const tag = Object.hasOwn(tags, key) ? tags[key] : undefined
  return tag === undefined
    ? { matchers: [], detail: `a rule is an object with one of ${Object.keys(tags).join(", ")}` }
    : ruleOf(key, tag, of)
}

const name = (value: Value): Rule => ruleOf("a name", "Name", value)

const ampRule = (value: Value): Rule => {
  const matches = table(table(value).get("matches"))
  const matchers = [...ofText("CommandLine", matches.get("command")), ...ofText("Url", matches.get("url"))]
  const action = table(value).get("action")
  const isKnown = (action === "allow" || action === "reject") && matchers.length > 0
  // an unknown action allows nothing
  return { matchers, action: action === "allow" ? "allow" : "deny", ...(isKnown ? {} : { detail: "not a rule" }) }
}

type List = readonly [at: string, list: "allow" | "deny" | "ordered", rule: (value: Value) => Rule]

interface Words {
  readonly lists: ReadonlyArray<List>
  /** An `allow` list without a valid rule allows nothing. */
  readonly isClosed?: true
  /** A table of servers, each with the one `identity` that may have its name, in files of this name. */
  readonly identities?: readonly [at: string, file: RegExp]
}

const nativeRule = keyed({
  name: "Name",
  command: "Command",
  commandLine: "CommandLine",
  program: "Program",
  url: "Url",
  fingerprint: "Fingerprint"
})

const claudeRule = keyed({ serverName: "Name", serverCommand: "Command", serverUrl: "Url" })
const codexIdentity = keyed({ command: "Program", url: "Url" })

/** By the word in `policy` of a host's row. */
export const words = {
  native: {
    lists: [
      ["policy/allow", "allow", nativeRule],
      ["policy/deny", "deny", nativeRule],
      ["security/mcp_server_allowlist", "allow", name],
      ["security/mcp_server_denylist", "deny", name]
    ]
  },
  amp: { lists: [["amp.mcpPermissions", "ordered", ampRule]] },
  claude: {
    lists: [["allowedMcpServers", "allow", claudeRule], ["deniedMcpServers", "deny", claudeRule]],
    isClosed: true
  },
  codex: { lists: [], identities: ["mcp_servers", /(?:^|[/\\])requirements\.toml$/] },
  gemini: { lists: [["mcp/allowed", "allow", name], ["mcp/excluded", "deny", name]] },
  ohMyPi: { lists: [["disabledServers", "deny", name]] }
} as const satisfies { readonly [of: string]: Words }

/** Every server is held against each rule, and a workspace could write many of both. */
const mostRules = (origin: Scope.Origin): number => Scope.rights(origin).allow ? 10_000 : 1_000

const flags = new Set(["managedOnly", "managed_only", "requireIdentity", "exclusive"])

/** A flag that is not `false` counts, because a limit that is written wrongly was still meant as a limit. */
const isSet = (policy: Table, ...keys: ReadonlyArray<string>): boolean =>
  keys.some((key) => policy.get(key) !== undefined && policy.get(key) !== false)

const flagFaults = (policy: Table): ReadonlyArray<ConfigIssue.Detail> =>
  Array.from(policy).flatMap(([key, value]) => {
    const at = `policy/${UntrustedText.excerpt(key, 64)}`
    if (flags.has(key)) return typeof value === "boolean" ? [] : [{ at, detail: "expected true or false" }]
    if (key !== "providers") return key === "allow" || key === "deny" ? [] : [{ at, detail: "unknown key" }]
    if (!isList(value)) return [{ at, detail: expectsList }]
    return value.flatMap((host, place) => isText(host) ? [] : [{ at: `${at}/${place}`, detail: "not a name" }])
  })

/** A rule as it is written, with the values of its variables, which only an origin with the right to the environment has. */
const filled = ({ origin, variable }: From) => {
  // an empty variable counts as unset, because it would widen the pattern
  const valueOf = ({ fallback, kind, name }: Interpolation.Reference) => {
    const value = Scope.rights(origin).environment ? variable?.(name) : undefined
    return Either.fromNullable(kind === "env" ? value || fallback : undefined, () => name)
  }
  const fill = (rule: Document.Value): Value => {
    if (isText(rule)) {
      if (!rule.includes("${")) return rule
      const { template } = Interpolation.canonical({ bare: true, env: true }, rule)
      return Either.getOrUndefined(Interpolation.fill(template, valueOf))
    }
    const parts = isTable(rule) ? Array.from(rule.values()) : list(rule)
    const full = parts.map(fill).filter((part) => part !== undefined)
    if (full.length < parts.length) return undefined
    if (full.every((part, at) => part === parts[at])) return rule
    return isTable(rule) ? new Map(Array.from(rule.keys(), (key, at) => [key, full[at]!])) : full
  }
  return (rule: Value): Value => variable === undefined || rule === undefined ? rule : fill(rule)
}

/** An invalid rule is a fault and the others hold. */
const policyOf = (of: keyof typeof words, root: Table, from: From) => {
  const { origin, path, provider, scope, strict } = from
  const fill = filled(from)
  const { identities: identified, isClosed, lists }: Words = words[of]
  const sections = of === "native" ? ["policy", "security"].filter((key) => root.has(key)) : []
  const invalid: Array<ConfigIssue.Detail> = sections.filter((key) => !isTable(root.get(key)))
    .map((at) => ({ at, detail: "expected an object" }))
  const rules = {
    allow: Array<ServerPolicy.Matcher>(),
    deny: Array<ServerPolicy.Matcher>(),
    ordered: Array<ServerPolicy.Rule>()
  }
  let identities: Map<string, ServerPolicy.Matcher> | undefined
  let isLost = invalid.length > 0
  let isUnset = false
  let isThere = sections.length > 0
  for (const [at, list, rule] of lists) {
    const value = partAt(root, at.split("/"))
    if (value === undefined) continue
    isThere = true
    if (!isList(value) || value.length > mostRules(origin)) {
      invalid.push({ at, detail: isList(value) ? `more than ${mostRules(origin)} rules` : expectsList })
      isLost = true
      continue
    }
    const before = rules.allow.length
    for (const [place, element] of value.entries()) {
      const written = fill(element)
      const { action = "deny", detail, matchers } = written === undefined
        ? { matchers: [], detail: "a variable of this rule has no value" }
        : rule(written)
      if (detail !== undefined) invalid.push({ at: `${at}/${place}`, detail })
      if (list === "ordered") rules.ordered.push(...matchers.map((matcher) => ({ action, matcher })))
      else rules[list].push(...matchers)
      isUnset ||= list === "allow" && written !== element && matchers.length === 0
    }
    if (list !== "allow" || rules.allow.length > before) continue
    if (isClosed) identities = new Map()
    else if (value.length > 0) isLost = true
  }
  const servers = identified?.[1].test(path ?? "") ? root.get(identified[0]) : undefined
  if (servers !== undefined) {
    isThere = true
    isLost = !isTable(servers)
    if (isLost) invalid.push({ at: "mcp_servers", detail: "expected an object" })
    else identities = new Map()
    for (const [server, entry] of table(servers)) {
      const [matcher] = codexIdentity(fill(table(entry).get("identity"))).matchers
      const at = `mcp_servers/${UntrustedText.excerpt(server, 128)}`
      if (matcher !== undefined) identities?.set(server, matcher)
      else invalid.push({ at, detail: "expected an identity" })
    }
  }
  const own = table(sections.length === 0 ? undefined : root.get("policy"))
  const managedOnly = isSet(own, "managedOnly", "managed_only") ||
    (of === "claude" && origin === "system" && root.get("allowManagedMcpServersOnly") === true)
  invalid.push(...flagFaults(own))
  return {
    policy: isThere || managedOnly
      ? {
        provider,
        scope,
        origin,
        ...rules,
        managedOnly,
        identities,
        ...(strict === true || isSet(own, "requireIdentity") ? { requireIdentity: true } : undefined),
        // a list without any of its rules would limit nothing; an origin that may not allow is not relied on to limit either
        broken: (Scope.rights(origin).allow && (of === "native" && isLost || isUnset && rules.allow.length === 0)) ||
          (origin === "system" && isLost)
      }
      : undefined,
    invalid
  }
}

const actions = ["allow", "ask", "deny"] as const

/** Reads one rule on tools. A rule that cannot be read becomes the strictest about the tool that it names, or about all. */
const toolRule = (value: Value, strictest: PermissionRule.Decision, source: PermissionRule.Source) => {
  const written = table(value)
  const [tool, args] = [written.get("tool"), written.get("args")]
  const action = written.get("action") ?? written.get("decision")
  const decision = actions.find((known) => known === action)
  const patterns = Array.from(table(args)).filter((pair): pair is [string, string] => isText(pair[1]))
  const unknown = Array.from(written.keys()).find((key) => !["tool", "action", "decision", "args"].includes(key))
  const fault = [
    !isTable(value) && "a rule is an object with a tool and an action",
    !isText(tool) && "a rule needs a tool, such as github/* or mcp__github__*",
    action !== (written.get("decision") ?? action) && "a rule has one action, but this one has two",
    decision === undefined && "the action must be allow, ask or deny",
    args !== undefined && !(isTable(args) && args.size === patterns.length) &&
    "the arguments must be an object of string patterns",
    unknown !== undefined && `unknown key ${UntrustedText.excerpt(unknown, 64)}: a rule has tool, action and args`
  ].find((detail) => detail !== false)
  if (fault !== undefined || decision === undefined || !isText(tool)) {
    return { rule: { decision: strictest, tool: isText(tool) ? tool : "*", source }, detail: fault }
  }
  const rule = { decision, tool, args: args === undefined ? undefined : Object.fromEntries(patterns), source }
  return {
    rule,
    detail: Either.match(PermissionRule.parse(rule), { onLeft: ({ detail }) => detail, onRight: () => undefined })
  }
}

/** The rules of an origin that may not allow only narrow. */
const permissionsOf = (root: Table, { origin, scope }: From) => {
  const value = root.get("permissions")
  const source = scope === "managed" ? "managed" : Scope.rights(origin).allow ? "user" : "workspace"
  const strictest = source === "workspace" ? "ask" : "deny"
  const everything = { decision: strictest, tool: "*", source } as const
  if (value === undefined) return { rules: [], invalid: [] }
  if (!isTable(value)) {
    return { rules: [everything], invalid: [{ at: "permissions", detail: "expected an object" }] }
  }
  const rules: Array<PermissionRule.Input> = []
  const invalid: Array<ConfigIssue.Detail> = []
  for (const key of ["rules", ...actions]) {
    const list = value.get(key)
    if (list === undefined) continue
    if (!isList(list)) {
      if (key !== "allow") rules.push(everything)
      invalid.push({ at: `permissions/${key}`, detail: expectsList })
    }
    for (const [place, element] of isList(list) ? list.entries() : []) {
      const { detail, rule } = key === "rules"
        ? toolRule(element, strictest, source)
        : toolRule(new Map([["tool", element], ["action", key]]), key === "deny" ? strictest : "ask", source)
      rules.push(rule)
      if (detail !== undefined) invalid.push({ at: `permissions/${key}/${place}`, detail })
    }
  }
  // an unknown key may have been meant as a list that denies
  for (const key of value.keys()) {
    if (key !== "rules" && !actions.some((action) => action === key)) {
      const at = `permissions/${UntrustedText.excerpt(key, 64)}`
      invalid.push({ at, detail: "unknown key: use rules, allow, ask or deny" })
    }
  }
  return { rules, invalid }
}

const issues = (
  kind: "invalid-policy" | "invalid-permission",
  faults: ReadonlyArray<ConfigIssue.Detail>
): ReadonlyArray<Document.DocumentIssue> => faults.map((fault) => ({ kind, severity: "warning", ...fault }))

/** The policy and the rules on tools of a document, with a warning for each that is invalid. */
export const read = (of: keyof typeof words, root: Table, from: From): {
  readonly policy: ServerPolicy.Policy | undefined
  readonly permissions: ReadonlyArray<PermissionRule.Input>
  readonly issues: ReadonlyArray<Document.DocumentIssue>
} => {
  const { invalid, policy } = policyOf(of, root, from)
  const tools = of === "native" ? permissionsOf(root, from) : { rules: [], invalid: [] }
  return {
    policy,
    permissions: tools.rules,
    issues: [...issues("invalid-policy", invalid), ...issues("invalid-permission", tools.invalid)]
  }
}
