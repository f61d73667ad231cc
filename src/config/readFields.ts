/** The fields of an entry that hosts write in more than one way: variables, headers, the login, and which tools are used. */
import * as Struct from "effect/Struct"
import type * as Dialect from "./Dialect.ts"
import { isList, isTable, type Value } from "./document.ts"
import { isRefusedByGoose } from "./environmentVariables.ts"
import * as FieldSchema from "./fieldSchema.ts"
import { lackingLogin } from "./hosts.ts"
import { login } from "./loginFields.ts"
import {
  all,
  argument,
  checkHeader,
  checkProgram,
  checkVariable,
  entries,
  flag,
  names,
  noteLacking,
  noteWhitespace,
  readField,
  type Reading,
  scalar,
  template,
  text,
  texts,
  type Uses,
  variableName
} from "./readValues.ts"
import type * as ServerEntry from "./serverEntry.ts"

/** The variables of an entry, and the names of those it does not get. */
export const environment = (to: Reading, from: Uses) => {
  const env = new Map<string, string>()
  const withoutEnv = new Set<string>()
  const set = (name: string, at: string, value: () => string): void => {
    if (to.row.refusesVariables === true && isRefusedByGoose(name)) to.warn("env-dropped", at)
    else env.set(name, value())
  }
  for (const { key, value } of all(to, from, "env")) {
    for (const [name, held] of entries(to, value, key)) {
      const at = `${key}.${name}`
      const isTaken = held === null && to.row.nullEnv === true
      const written = isTaken ? "" : scalar(to, held, at)
      checkVariable(to, name, written)
      noteWhitespace(to, written, at)
      if (isTaken) withoutEnv.add(name)
      else set(name, at, () => template(to, written, "env", at))
    }
  }
  for (const { field, key, value } of all(to, from, "envNames", "envSecrets")) {
    for (const [index, item] of (isList(value) ? value : to.fail("invalid-type", key)).entries()) {
      const at = `${key}.${index}`
      const name = variableName(to, isTable(item) ? item.get("name") ?? null : item, at)
      const source = field.is === "envNames" ? "env" : "secret"
      set(name, at, () => env.get(name) ?? `\${${source}:${name}}`)
    }
  }
  for (const { key, value } of all(to, from, "withoutEnv")) {
    for (const [index, name] of texts(to, value, key).entries()) {
      checkVariable(to, name, "")
      if (env.has(name)) to.warn("unused-field", `${key}.${index}`)
      else withoutEnv.add(name)
    }
  }
  return {
    env: env.size === 0 ? undefined : env,
    withoutEnv: withoutEnv.size === 0 ? undefined : Array.from(withoutEnv)
  }
}

/** The headers of an entry, from wherever they come. */
export const headers = (to: Reading, from: Uses): ReadonlyMap<string, string> | undefined => {
  const headers = new Map<string, string>()
  const spelled = new Map<string, string>()
  const set = (name: string, value: string): void => {
    // which of the two is sent would depend on who sends it
    const spelling = spelled.get(name.toLowerCase()) ?? name
    if (spelling !== name) to.fail("invalid-header", name, "it appears twice, with different case")
    spelled.set(name.toLowerCase(), name)
    headers.set(name, value)
  }
  for (const { field, key, value } of all(to, from, "headers", "headerVariables")) {
    for (const [name, held] of entries(to, value, key)) {
      const at = `${key}.${name}`
      const isVariable = field.is === "headerVariables"
      const written = isVariable ? variableName(to, held, at) : scalar(to, held, at)
      checkHeader(to, name, isVariable ? "" : written, isVariable ? key : at)
      set(name, isVariable ? `\${env:${written}}` : template(to, written, "headers", at))
    }
  }
  for (const { field, key, value } of all(to, from, "bearerTokenEnvVar", "bearer")) {
    const isVariable = field.is === "bearerTokenEnvVar"
    const token = isVariable ? variableName(to, value, key) : text(to, value, key)
    if (!isVariable) checkHeader(to, "Authorization", token, key)
    // a header that is written out is what was meant
    if (spelled.has("authorization")) to.warn("unused-field", key)
    else set("Authorization", `Bearer ${isVariable ? `\${env:${token}}` : template(to, token, "headers", key)}`)
  }
  return headers.size === 0 ? undefined : headers
}

/** Nothing in it that a shell would read as more than a word. */
const isPlain = (word: string): boolean => /^[\w@%+=:,./\\~-]*$/.test(word.replaceAll(/\$\{[\w:.]+\}/g, ""))

export const headersCommand = (to: Reading, from: Uses): ReadonlyArray<string> | undefined => {
  let argv: ReadonlyArray<string> | undefined
  for (const { field, key, value } of all(to, from, "headersCommand", "headersLine")) {
    const isLine = field.is === "headersLine"
    const words = isLine ? text(to, value, key).split(/[ \t]+/).filter((word) => word !== "") : texts(to, value, key)
    // a line that needs a shell is not run at all, because no shell is ever given a text of a file
    if (isLine && !words.every(isPlain)) to.warn("unused-field", key)
    else {
      checkProgram(to, words[0] ?? "", key)
      argv ??= words.map((word, index) => argument(to, word, "headers", `${key}.${index}`))
    }
  }
  return argv
}

const spelling = (word: string): string => word.toLowerCase().replaceAll(/[_-]/g, "")

/** The settings of a login: those of a server, and two that only files have. */
const loginRows: Readonly<Record<Dialect.LoginPart, Pick<FieldSchema.Row, "schema" | "template" | "aliases">>> = {
  ...login,
  enabled: { schema: FieldSchema.Flag },
  public: { schema: FieldSchema.Flag }
}

/** The hosts' spellings of them. */
const loginWords: ReadonlyMap<string, Dialect.LoginPart> = new Map(
  Struct.entries(loginRows).flatMap(([part, { aliases = [] }]) =>
    [part, ...aliases].map((word) => [spelling(word), part] as const)
  )
)

export const oauth = (to: Reading, from: Uses): ServerEntry.RemoteEntry["oauth"] => {
  const found: Record<string, unknown> = {}
  const set = (part: Dialect.LoginPart, value: Value, at: string): void => {
    const row = loginRows[part]
    const isWord = row.schema === FieldSchema.Text || row.schema === FieldSchema.SecretText
    const read = isWord ? text(to, value, at) : readField(to, row.schema, value, at, { is: "oauth" })
    found[part] = typeof read === "string" && row.template !== undefined ? template(to, read, "oauth", at) : read
  }
  for (const { field, key, value } of all(to, from, "oauth")) {
    if (field.part !== undefined && field.variable === true) {
      found[field.part] = `\${env:${variableName(to, value, key)}}`
    } else if (field.part !== undefined) set(field.part, value, key)
    else if (value === false || value === true || value === "oauth") {
      found.enabled = value !== false && found.enabled !== false
    } else {
      for (const [name, held] of entries(to, value, key)) {
        const word = spelling(name)
        const part = loginWords.get(word)
        const lacking = lackingLogin.get(word)
        const at = `${key}.${name}`
        if (lacking !== undefined) noteLacking(to, { is: "extra", lacking, unless: [false] }, at, held, "auto")
        else if (part === undefined) to.warn("unknown-key", at)
        else set(part, held, at)
      }
    }
  }
  const { enabled, public: _, ...settings } = found
  if (enabled === false) return false
  return Object.keys(found).length === 0 ? undefined : settings
}

/** Which tools are offered and which need no approval, and the host's words for how tools are approved. */
export const tools = (to: Reading, from: Uses) => {
  let enabledTools: ReadonlyArray<string> | undefined
  const approval = new Map<string, string>()
  // of several lists of what is enabled: the tools that are in all of them
  const enable = (listed: ReadonlyArray<string>): void => {
    enabledTools = enabledTools?.filter((name) => listed.includes(name)) ?? listed
  }
  for (const { key, value } of all(to, from, "enabledTools")) enable(names(to, value, key))
  const disabledTools = all(to, from, "disabledTools").flatMap(({ key, value }) => names(to, value, key))
  const autoApprove = all(to, from, "autoApprove", "trust").flatMap(({ field, key, value }) =>
    field.is === "autoApprove" ? names(to, value, key) : flag(to, value, key) ? ["*"] : []
  )
  for (const { field: { shape = "list" }, key, value } of all(to, from, "tools")) {
    if (shape === "list") {
      const listed = typeof value === "string" ? [value] : texts(to, value, key)
      if (!listed.includes("*")) enable(listed)
    } else if (shape === "include") {
      const lists = isTable(value) ? value : to.fail("invalid-type", key)
      const [include, exclude] = [lists.get("include"), lists.get("exclude")]
      if (include !== undefined) enable(names(to, include, `${key}.include`))
      for (const name of exclude === undefined ? [] : names(to, exclude, `${key}.exclude`)) disabledTools.push(name)
    } else {
      for (const [tool, held] of entries(to, value, key)) {
        const part = isTable(held) ? held.get(shape === "switches" ? "enabled" : "approval_mode") : held
        if (part === undefined) continue
        if (shape === "approvals") approval.set(tool, text(to, part, `${key}.${tool}`))
        else if (!flag(to, part, `${key}.${tool}`)) disabledTools.push(tool)
      }
    }
  }
  return {
    tools: {
      enabledTools,
      disabledTools: disabledTools.length === 0 ? undefined : disabledTools,
      autoApprove: autoApprove.length === 0 ? undefined : autoApprove
    },
    approval: approval.size === 0 ? undefined : approval
  }
}
