/**
 * The oddities in the tools of a server that works: tools that cannot be offered, that are too long, and whose texts speak
 * to a model without a person seeing it.
 */
import * as HiddenText from "../safety/HiddenText.ts"
import * as InjectionScan from "../safety/InjectionScan.ts"
import { excerpt } from "../text/UntrustedText.ts"
import * as AutoSearch from "../tools/AutoSearch.ts"
import type * as Tool from "../tools/Tool.ts"
import * as ToolName from "../tools/ToolName.ts"
import type { Problem } from "./doctorVisit.ts"

type Finding = Pick<Problem, "cause" | "message"> & { readonly hint: string }

const shown = (name: string): string => `the tool "${excerpt(name, 64)}"`

const reasons: Record<Tool.RejectedTool["reason"], string> = {
  malformed: "a tool is malformed",
  "name-empty": "a tool has no name",
  "name-too-long": "the name of a tool is too long",
  "name-characters": "the name of a tool has characters that are not allowed in one",
  "name-reserved": "the name of a tool is reserved",
  duplicate: "two tools have one name",
  "schema-malformed": "the schema of a tool is malformed",
  "schema-too-large": "the schema of a tool is too large",
  "schema-too-deep": "the schema of a tool is nested too deeply",
  "schema-remote-ref": "the schema of a tool refers to another place",
  "header-annotation": "the header annotations of a tool are wrong"
}

const suspicious = (tool: Tool.Tool): Finding | undefined => {
  const signals = InjectionScan.scanTool(tool).filter(({ level }) => level !== "low")
  const first = signals.find(({ level }) => level === "high") ?? signals[0]
  if (first === undefined) return undefined
  const more = signals.length === 1 ? "" : `, and ${signals.length - 1} more`
  const where = `at ${excerpt(first.path, 64)} (${first.category}, ${first.level}${more})`
  return {
    cause: "the definition of a tool reads like orders to a model",
    message: `${shown(tool.name)}, ${where}: ${first.excerpt}`,
    hint: "Read it with `mcp-runtime show` before you let a model use it."
  }
}

const hidden = ({ description = "", name, title = "" }: Tool.Tool): Finding | undefined => {
  const findings = [title, description].flatMap((text) => HiddenText.clean(text, "metadata").findings)
  const kinds = Array.from(new Set(findings.map(({ kind }) => kind)))
  return kinds.length === 0 ? undefined : {
    cause: "the definition of a tool hides something",
    message: `${shown(name)} has characters that a person does not see (${kinds.join(", ")})`,
    hint: "They are taken out before a model is given the definition."
  }
}

const long = ({ description, inputSchema, name }: Tool.Tool): Finding | undefined => {
  const size = AutoSearch.sizeOf({ name, description, inputSchema })
  const limit = AutoSearch.defaults.perToolChars
  return size <= limit ? undefined : {
    cause: "the definition of a tool is very long",
    message: `${shown(name)} takes ${size} characters of every request to a model`,
    hint:
      `It is shortened to ${limit} where tools are searched; leave it out with "disabledTools" if you do not need it.`
  }
}

const renamed = (server: string, { name }: Tool.Tool): Finding | undefined => {
  const qualified = ToolName.qualify(server, name, "double")
  return qualified === `mcp__${server}__${name}` ? undefined : {
    cause: "a tool is called otherwise by models",
    message: `${
      shown(name)
    } is ${qualified} to a model, because its name or that of its server is too long or not plain`,
    hint: "A short name of letters, digits, - and single _ for the server keeps the names of its tools readable."
  }
}

const undescribed = (tools: ReadonlyArray<Tool.Tool>): Finding | undefined => {
  const names = tools.filter(({ description = "" }) => description.trim() === "").map(({ name }) => excerpt(name, 64))
  const more = names.length > 5 ? `, and ${names.length - 5} more` : ""
  return names.length === 0 ? undefined : {
    cause: "tools do not say what they do",
    message: `without a description, so that a model has to guess: ${names.slice(0, 5).join(", ")}${more}`,
    hint: "Tell the author of the server."
  }
}

const most = 20

export const toolsOf = (
  server: string,
  { rejected, tools }: Pick<Tool.ToolList, "rejected" | "tools">
): ReadonlyArray<Finding & Pick<Problem, "level" | "step">> => {
  const errors = rejected.map(({ detail, name, reason }) => ({
    step: "lint",
    level: "error" as const,
    cause: reasons[reason],
    message: `${shown(name)} cannot be offered: ${detail}`,
    hint: "The other tools are unharmed. This is a fault of the server: tell its author."
  }))
  const warnings = [
    ...tools.flatMap((tool) => [suspicious(tool), hidden(tool), long(tool), renamed(server, tool)]),
    undescribed(tools)
  ].flatMap((finding) => finding === undefined ? [] : [{ step: "lint", level: "warning" as const, ...finding }])
  const found = [...errors, ...warnings]
  return found.length <= most ? found : [...found.slice(0, most), {
    step: "lint",
    level: "warning",
    cause: "there is more of that kind",
    message: `${found.length - most} more were found in its tools`,
    hint: "See all tools with `mcp-runtime tools`."
  }]
}
