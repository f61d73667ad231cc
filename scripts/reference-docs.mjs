// The generated parts of docs/errors.md and docs/configuration-fields.md: from the table of errors, the fields of a server and
// the published JSON Schema of the native file.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { load, root } from "./sources.mjs"

const cell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ")
const row = (...cells) => `| ${cells.map(cell).join(" | ")} |`
const code = (text) => `\`${text}\``
const table = (head, rows) => [row(...head), `|${"---|".repeat(head.length)}`, ...rows.map((cells) => row(...cells))]

// Errors

/** The values of the field that is the reason of an error: `reason`, or `why`. */
const reasonsOf = ({ fields }) => {
  const field = fields.reason === undefined ? "why" : "reason"
  const values = Array.from(String(fields[field] ?? "").matchAll(/"([\w-]+)"/g), ([, value]) => value)
  return { field, reasons: Array.from(new Set(values)) }
}

const longest = (texts) => texts.toSorted((a, b) => b.length - a.length)[0]

/** A text of the table with the names of the fields that it is filled with, and the longest of its alternatives. */
const shown = (template, phrases, depth = 0) => {
  const parts = template.replaceAll(/\[([^\]]*)\]/g, (_, inner) => inner.includes("|") ? longest(inner.split("|")) : "")
  return parts.replaceAll(/\{([\w.]+)(?::\w+)?\}/g, (_, name) => {
    const phrase = phrases[name]
    if (phrase === undefined) return `{${name}}`
    if (typeof phrase === "string" && depth < 4) return shown(phrase, phrases, depth + 1)
    return "Depends on the [outcome](#outcome)."
  })
}

const conditionOf = ([field, value]) => {
  if (value === true) return `with ${code(field)}`
  if (value === false) return `without ${code(field)}`
  if (typeof value === "object") return `${code(field)} ≥ ${value.from}`
  return `${code(field)} is ${code(value)}`
}

const yes = (value) => value === true ? "yes" : value === "if not sent" ? "if not sent" : "no"

/** True if a condition follows from others: a field with a value is present. */
const isImpliedBy = (when) => ([key, value]) =>
  when[key] === value ||
  (value === true && Object.keys(when).some((other) => other === key || other.startsWith(`${key}.`)))

/**
 * A row for each reason that has texts or decisions, and for each further condition that changes them: reasons,
 * condition, and the other cells.
 */
const rowsOf = (tag, fields, { field, reasons }, { kinds, phrases, rows }) => {
  const known = rows[tag]
  const cellsOf = (when) => {
    const { countsForBreaker, detail, fault = "", isRetryable, message, outcome, person = "" } = known
      .filter((each) => Object.entries(each.when ?? {}).every(isImpliedBy(when)))
      .reduce((before, each) => ({ ...each.kind === undefined ? before : kinds[each.kind], ...each }), {})
    const rest = detail ?? (fields.detail === undefined ? "" : ": {detail}")
    return [
      shown(message ?? fault + rest, phrases),
      outcome ?? "varies",
      yes(isRetryable),
      yes(countsForBreaker),
      shown(person, phrases)
    ]
  }
  const named = reasons.filter((reason) => known.some(({ when = {} }) => when[field] === reason))
  const others = reasons.filter((reason) => !named.includes(reason))
  const groups = [...others.length > 0 || reasons.length === 0 ? [others] : [], ...named.map((reason) => [reason])]
  return groups.flatMap((group) => {
    const base = named.includes(group[0]) ? { [field]: group[0] } : {}
    const further = known.flatMap(({ when = {} }) =>
      when[field] === base[field] && Object.keys(when).length > Object.keys(base).length ? [when] : []
    )
    const all = [base, ...further].map((when) => {
      const conditions = Object.entries(when).filter(([key]) => key !== field).map(conditionOf)
      return [group.map(code).join(", "), conditions.join(", "), ...cellsOf(when)]
    })
    return all.filter((cells, at) => at === 0 || cells.slice(2).join() !== all[0].slice(2).join())
  })
}

/** The comments above the classes, by tag. */
const meanings = () => {
  const text = readFileSync(join(root, "src/McpError.ts"), "utf8")
  const found = text.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport class (\w+)/g)
  return new Map(Array.from(found, ([, comment, tag]) => [tag, comment.replaceAll(/\s*\n \* ?/g, " ").trim()]))
}

/** The errors by tag, each with its rows. */
export const errors = async () => {
  const module = await load([
    `export { kinds, phrases, rows } from "./src/errorRows.ts"`,
    `export { McpError } from "./src/McpError.ts"`
  ])
  const about = meanings()
  return module.McpError.members.toSorted((a, b) => a._tag.localeCompare(b._tag, "en")).flatMap((error) => {
    const reasons = reasonsOf(error)
    const rows = rowsOf(error._tag, error.fields, reasons, module)
    const head = [code(reasons.field), "Case", "Message", "`outcome`", "Retry", "Breaker", "What to do"]
    const used = head.map((_, at) => at >= 2 || rows.some((cells) => cells[at] !== ""))
    const only = (cells) => cells.filter((_, at) => used[at])
    return [`### ${error._tag}`, "", about.get(error._tag), "", ...table(only(head), rows.map(only)), ""]
  }).join("\n").trimEnd()
}

// Fields

const schemaOf = () => JSON.parse(readFileSync(join(root, "schema/mcp-client.schema.json"), "utf8"))

/** The headings of the definitions. */
const anchors = {
  input: "inputs",
  oauth: "login",
  permission: "permissions",
  permissions: "permissions",
  policy: "policy",
  rule: "policy"
}

const isTime = ({ anyOf = [] }) => anyOf.some(({ pattern = "" }) => pattern.includes("milli"))

/** The type of a value in a file, in a word or two. */
const typeOf = (json) => {
  if (json.$ref !== undefined) return `[${json.$ref.split("/").at(-1)}](#${anchors[json.$ref.split("/").at(-1)]})`
  if (json.enum !== undefined) return json.enum.map((value) => code(JSON.stringify(value))).join(", ")
  if (isTime(json)) return "duration"
  if (json.anyOf !== undefined) {
    return Array.from(new Set(json.anyOf.filter(({ deprecated }) => deprecated !== true).map(typeOf))).join(" or ")
  }
  if (json.type === "array") {
    return `list of ${json.items === undefined || json.items.type === "string" ? "strings" : typeOf(json.items)}`
  }
  if (json.type === "object") return json.additionalProperties?.type === "string" ? "object of strings" : "object"
  return json.type ?? ""
}

const head = ["Field", "Type", "Meaning", "A change"]

const fieldRow = ([key, field], properties, limits, required) => {
  const notes = [
    properties[key]?.description ?? field.description,
    ...Object.hasOwn(limits, key) ? ["Default: [limits](limits.md#one-server)."] : []
  ]
  const words = [`${code(key)}${field.template === undefined ? "" : "\\*"}`, ...required ? ["required"] : []]
  const { enum: values, ...json } = properties[key] ?? {}
  const type = values === undefined ? json : { enum: values.filter((value) => !Object.hasOwn(field.words ?? {}, value)) }
  const change = field.identity ? "new server" : field.connection === false ? "applies at once" : "reconnects"
  return [words.join(", "), typeOf(type), notes.join(" "), change]
}

const properties = (json, skipped = []) =>
  table(
    ["Field", "Type", "Meaning"],
    Object.entries(json.properties)
      .filter(([key, { deprecated }]) => deprecated !== true && !skipped.includes(key))
      .map(([key, value]) => [
        `${code(key)}${(json.required ?? []).includes(key) ? ", required" : ""}`,
        typeOf(value),
        value.description ?? ""
      ])
  )

/** The fields of a server by transport, and those of the file around them. */
export const fields = async () => {
  const { common, defaults, docker, hosts, http, login, stdio } = await load([
    `export { common, docker, http, stdio } from "./src/config/fields.ts"`,
    `export { hosts } from "./src/config/hosts.ts"`,
    `export { login } from "./src/config/loginFields.ts"`,
    `export { defaults } from "./src/config/Limits.ts"`
  ])
  const { $defs, properties: top } = schemaOf()
  const ofServer = (rows, name) =>
    table(
      head,
      Object.entries(rows).map((each) => fieldRow(each, $defs[name].properties, defaults, each[1].required === true))
    )
  const rules = $defs.rule.anyOf.flatMap(({ properties }) => Object.entries(properties))
  const others = Object.fromEntries(Object.entries(top).filter(([key]) => key !== "$schema"))
  const titled = Object.fromEntries(
    Object.entries(others).map(([key, json]) => [
      key,
      {
        ...json,
        description: json.description ?? `${$defs[key]?.title ?? "Which servers may be used, by their names"}.`
      }
    ])
  )
  const snakeCase = hosts.find(({ host }) => host === "native").under.mcp_servers.fields
  const meaning = ({ is, unit }) =>
    is === "headerVariables"
      ? "headers, each by the name of the variable with its value"
      : `${code(is)}${unit === undefined ? "" : ` in ${{ ms: "milliseconds", s: "seconds" }[unit]}`}`
  return [
    "## Every server",
    "",
    ...ofServer(common, "stdio"),
    "",
    "## stdio",
    "",
    ...ofServer(stdio, "stdio"),
    "",
    "## HTTP, HTTP+SSE and WebSocket",
    "",
    ...ofServer(http, "remote"),
    "",
    "## Docker",
    "",
    ...ofServer(docker, "docker"),
    "",
    "## Login",
    "",
    "The fields of `oauth`. See [authorization.md](authorization.md).",
    "",
    ...ofServer(login, "oauth"),
    "",
    "## Snake case",
    "",
    "Under `mcp_servers`, as in a TOML file, an entry can use these words too:",
    "",
    ...table(["Field", "Meaning"], Object.entries(snakeCase).map(([key, field]) => [code(key), meaning(field)])),
    "",
    "## The file",
    "",
    ...properties({ properties: titled }),
    "",
    "### inputs",
    "",
    ...properties($defs.input),
    "",
    "### policy",
    "",
    ...properties($defs.policy),
    "",
    "A rule of `allow` and `deny` has one of these fields:",
    "",
    ...table(["Field", "Type", "Matches"], rules.map(([key, json]) => [code(key), typeOf(json), json.description])),
    "",
    "### permissions",
    "",
    ...properties($defs.permissions),
    "",
    "A rule of `rules`:",
    "",
    ...properties($defs.permission)
  ].join("\n")
}
