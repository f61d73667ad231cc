/**
 * What is odd in the tools of a server that works: those that cannot be offered, those that are too long, and those whose
 * texts speak to a model behind the back of a person.
 */
import * as HiddenText from "../safety/HiddenText.ts"
import * as InjectionScan from "../safety/InjectionScan.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as AutoSearch from "../tools/AutoSearch.ts"
import type * as Tool from "../tools/Tool.ts"
import * as ToolName from "../tools/ToolName.ts"
import type { Problem } from "./doctorVisit.ts"

const problem = (
  level: Problem["level"],
  cause: string,
  message: string,
  hint: string
): Problem => ({ step: "lint", level, cause, message, hint, tag: null })

const shown = (name: string): string => `the tool "${UntrustedText.excerpt(name, 64)}"`

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

const rejected = ({ detail, name, reason }: Tool.RejectedTool): Problem =>
  problem(
    "error",
    reasons[reason],
    `${shown(name)} cannot be offered: ${detail}`,
    "The other tools are unharmed. This is a fault of the server: tell whoever wrote it."
  )

const grave = (tool: Tool.Tool): ReadonlyArray<Problem> => {
  const signals = InjectionScan.scanTool(tool).filter(({ level }) => level !== "low")
  const first = signals.find(({ level }) => level === "high") ?? signals[0]
  return first === undefined ? [] : [problem(
    "warning",
    "the definition of a tool reads like orders to a model",
    `${shown(tool.name)}, at ${UntrustedText.excerpt(first.path, 64)} (${first.category}, ${first.level}${
      signals.length === 1 ? "" : `, and ${signals.length - 1} more`
    }): ${first.excerpt}`,
    "Read it with `mcp-runtime show` before you let a model use it."
  )]
}

const hidden = (tool: Tool.Tool): ReadonlyArray<Problem> => {
  const kinds = new Set(
    [tool.title ?? "", tool.description ?? ""].flatMap((text) => HiddenText.clean(text, "metadata").findings).map((
      { kind }
    ) => kind)
  )
  return kinds.size === 0 ? [] : [problem(
    "warning",
    "the definition of a tool hides something",
    `${shown(tool.name)} has characters that a person does not see (${Array.from(kinds).join(", ")})`,
    "They are taken out before a model is given the definition."
  )]
}

const long = (tool: Tool.Tool): ReadonlyArray<Problem> => {
  const { description, inputSchema, name } = tool
  const size = AutoSearch.sizeOf({ name, description, inputSchema })
  return size <= AutoSearch.defaults.perToolChars ? [] : [problem(
    "warning",
    "the definition of a tool is very long",
    `${shown(name)} takes ${size} characters of every request to a model`,
    `It is shortened to ${AutoSearch.defaults.perToolChars} where tools are searched; leave it out with "disabledTools" if `
      + "you do not need it."
  )]
}

const few = 5

const silent = (tools: ReadonlyArray<Tool.Tool>): ReadonlyArray<Problem> => {
  const names = tools.filter(({ description }) => (description ?? "").trim() === "").map(({ name }) =>
    UntrustedText.excerpt(name, 64)
  )
  const more = names.length > few ? `, and ${names.length - few} more` : ""
  return names.length === 0 ? [] : [problem(
    "warning",
    "tools do not say what they do",
    `without a description, so that a model has to guess: ${names.slice(0, few).join(", ")}${more}`,
    "Tell whoever wrote the server."
  )]
}

const renamed = (server: string, { name }: Tool.Tool): ReadonlyArray<Problem> => {
  const qualified = ToolName.qualify(server, name, "double")
  return qualified === `mcp__${server}__${name}` ? [] : [problem(
    "warning",
    "a tool is called otherwise by models",
    `${shown(name)} is ${qualified} to a model, because its name or that of its server is too long or not plain`,
    "A short name of letters, digits, - and single _ for the server keeps the names of its tools readable."
  )]
}

const most = 20

export const toolsOf = (
  server: string,
  { rejected: left, tools }: Pick<Tool.ToolList, "rejected" | "tools">
): ReadonlyArray<Problem> => {
  const found = [
    ...left.map(rejected),
    ...tools.flatMap((tool) => [...grave(tool), ...hidden(tool), ...long(tool), ...renamed(server, tool)]),
    ...silent(tools)
  ]
  return found.length <= most ? found : [
    ...found.slice(0, most),
    problem(
      "warning",
      "there is more of that kind",
      `${found.length - most} more were found in its tools`,
      "See all tools with `mcp-runtime tools`."
    )
  ]
}
