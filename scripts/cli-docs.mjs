// Generates the reference in docs/cli.md from the commands of the program, and the types in docs/cli-json.md from the schemas
// of their JSON output.
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { load, root } from "./sources.mjs"

/** The schemas of each command: the name of the type in the page, the module and the name of its export. */
const shapes = {
  list: [["Servers", "commands/list", "Servers"]],
  tools: [["Tools", "commands/tools", "Tools"]],
  show: [["Tool", "commands/tools", "ToolShape"]],
  call: [["Called", "commands/call", "Called"]],
  resources: [["Resources", "commands/resources", "Resources"]],
  read: [["Read", "commands/read", "Read"]],
  prompts: [["Prompts", "commands/prompts", "Prompts"]],
  prompt: [["Messages", "commands/prompt", "Prompted"]],
  status: [["Status", "commands/status", "Status"], ["Change", "commands/status", "Changed"]],
  events: [["Event", "commands/events", "Event"]],
  config: [
    ["Found", "configFound", "Found"],
    ["Validated", "commands/config", "Validated"],
    ["Edited", "configEdit", "Edited"]
  ],
  add: [["Added", "configEdit", "Edited"]],
  approve: [["Approvals", "commands/approve", "Approvals"], ["ToolApproval", "commands/approve", "ToolApproval"]],
  revoke: [["Agreed", "commands/revoke", "Agreed"]],
  auth: [["Logins", "commands/auth", "Logins"]],
  serve: [["Serving", "commands/serve", "Serving"], ["Entry", "printConfig", "Entry"]],
  doctor: [["Report", "commands/doctor", "Report"]],
  smoke: [["Promises", "commands/smoke", "Smoke"]]
}
const failure = ["Failed", "failure", "Failed"]

const read = async () => {
  const all = [...Object.values(shapes).flat(), failure]
  const module = await load([
    `export { all } from "./src/cli/Commands.ts"`,
    `export { encodedSchema } from "effect/Schema"`,
    `export { builtInOptions, sharedOptions } from "./src/cli/commandLine.ts"`,
    `export { meanings } from "./src/cli/ExitCode.ts"`,
    `export { aboutOf, usage } from "./src/cli/help.ts"`,
    ...all.map(([as, module, name]) => `export { ${name} as ${as} } from "./src/cli/${module}.ts"`)
  ])
  const folder = mkdtempSync(join(root, "build/docs-"))
  try {
    return { ...module, types: typesOf(all.map(([as]) => [as, module.encodedSchema(module[as])]), folder) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Removes the titles of structs, because `String(schema)` would print the title instead of the fields. */
const untitled = (ast) => {
  if (ast._tag === "TypeLiteral") delete ast.annotations[Symbol.for("effect/annotation/AutoTitle")]
  const { elements = [], indexSignatures = [], propertySignatures = [], rest = [], types = [] } = ast
  for (const { type } of [...elements, ...rest, ...propertySignatures, ...indexSignatures]) untitled(type)
  for (const type of types) untitled(type)
}

/** The type of each schema, formatted like the sources of this project. */
const typesOf = (schemas, folder) => {
  const { includes: _, plugins, ...style } = JSON.parse(readFileSync(join(root, ".dprint.json"), "utf8"))
  const config = { ...style, plugins: plugins.map((plugin) => join(root, plugin)) }
  writeFileSync(join(folder, ".dprint.json"), JSON.stringify(config))
  const text = schemas.map(([name, schema]) => {
    untitled(schema.ast)
    const type = String(schema).replaceAll("readonly ", "").replaceAll("ReadonlyArray<", "Array<")
    return `interface ${name} ${type.replace("{ ", "{\n").replaceAll(/Array<\{ (?![^{}]{0,90}\}>)/g, "Array<{\n")}`
  })
  const formatted = execFileSync(
    join(root, "node_modules/.bin/dprint"),
    ["fmt", "-c", ".dprint.json", "--log-level", "error", "--stdin", "types.ts"],
    { cwd: folder, input: text.join("\n\n"), encoding: "utf8" }
  )
  return new Map(Array.from(formatted.matchAll(/^interface (\w+) \{[\s\S]*?^\}$/gm), ([code, name]) => [name, code]))
}

/** Marks options as code, outside of text that is code already. */
const prose = (text) => text.replaceAll(/`[^`]*`|(?<!\w)--(?:[a-z][a-z-]*)?/g, (part) => part[0] === "`" ? part : `\`${part}\``)

const cell = (text) => prose(text).replaceAll("|", "\\|")

const optionRow = (option, aboutOf) => {
  const { name, short, value } = option
  const word = `\`--${name}${value === undefined ? "" : ` ${value}`}\``
  return `| ${word}${short === undefined ? "" : `, \`-${short}\``} | ${cell(aboutOf(option))} |`
}

const options = (list, aboutOf) => ["| Option | |", "|---|---|", ...list.map((one) => optionRow(one, aboutOf))]

const sources = read()

export const commands = async () => {
  const { aboutOf, all, builtInOptions, meanings, sharedOptions, usage } = await sources
  const lines = ["## Global options", "", ...options([...sharedOptions, ...builtInOptions], aboutOf)]
  lines.push("", "## Exit codes", "", "| Code | Meaning |", "|---|---|")
  for (const [code, meaning] of meanings) lines.push(`| ${code} | ${meaning} |`)
  lines.push("", "## Commands")
  for (const { load, ...entry } of all) {
    const command = { ...entry, ...(await load()).command }
    lines.push("", `### ${command.name}`, "", `${command.summary}.`)
    for (const text of command.description ?? []) lines.push("", prose(text))
    lines.push("", "```text", usage(command), "```", "")
    const rows = command.args.map(({ about, name }) => `| \`${name.toUpperCase()}\` | ${cell(about)} |`)
    for (const option of command.options) rows.push(optionRow(option, aboutOf))
    if (rows.length > 0) lines.push("| Argument or option | |", "|---|---|", ...rows, "")
    const width = Math.max(...command.examples.map(([line]) => line.length))
    lines.push("```sh")
    for (const [line, about] of command.examples) lines.push(`mcp-runtime ${line.padEnd(width)}  # ${about}`)
    lines.push("```")
  }
  return lines.join("\n")
}

export const documents = async () => {
  const { types } = await sources
  return [["Errors", [failure]], ...Object.entries(shapes)].map(([title, all]) =>
    [`## ${title}`, "", "```ts", all.map(([name]) => types.get(name)).join("\n\n"), "```"].join("\n")
  ).join("\n\n")
}
