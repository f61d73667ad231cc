// The part of docs/cli.md that lists the commands: from the table that the program itself parses and explains, and from the
// schemas of its `--json` documents.
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { load, root } from "./sources.mjs"

/** The schemas of each command: what it is called in the page, its module and its name there. */
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
    ...all.map(([as, module, name]) => `export { ${name} as ${as} } from "./src/cli/${module}.ts"`)
  ])
  const folder = mkdtempSync(join(root, "build/docs-"))
  try {
    return { ...module, types: typesOf(all.map(([as]) => [as, module.encodedSchema(module[as])]), folder) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A schema without the titles that stand for structs with fields such as `orNull`, which are no types. */
const untitled = (ast) => {
  if (ast._tag === "TypeLiteral") delete ast.annotations[Symbol.for("effect/annotation/AutoTitle")]
  const { elements = [], indexSignatures = [], propertySignatures = [], rest = [], types = [] } = ast
  for (const { type } of [...elements, ...rest, ...propertySignatures, ...indexSignatures]) untitled(type)
  for (const type of types) untitled(type)
}

/** The type of each schema, written as the sources of this project are. */
const typesOf = (schemas, folder) => {
  const { includes: _, plugins, ...style } = JSON.parse(readFileSync(join(root, ".dprint.json"), "utf8"))
  const config = { ...style, plugins: plugins.map((plugin) => join(root, plugin)) }
  writeFileSync(join(folder, ".dprint.json"), JSON.stringify(config))
  const text = schemas.map(([name, schema]) => {
    untitled(schema.ast)
    const type = String(schema).replaceAll("readonly ", "").replaceAll("ReadonlyArray<", "Array<")
    return `interface ${name} ${type.replaceAll("{ ", "{\n")}`
  })
  const formatted = execFileSync(
    join(root, "node_modules/.bin/dprint"),
    ["fmt", "-c", ".dprint.json", "--log-level", "error", "--stdin", "types.ts"],
    { cwd: folder, input: text.join("\n\n"), encoding: "utf8" }
  )
  return new Map(Array.from(formatted.matchAll(/^interface (\w+) \{[\s\S]*?^\}$/gm), ([code, name]) => [name, code]))
}

const cell = (text) => text.replaceAll("|", "\\|")

const optionRow = ({ about, choices, name, repeated, short, value }) => {
  const words = [
    `\`--${name}${value === undefined ? "" : ` ${value}`}\``,
    ...(short === undefined ? [] : [`\`-${short}\``])
  ]
  const notes = [
    about,
    ...(choices === undefined ? [] : [`One of ${choices.join(", ")}.`]),
    ...(repeated === true ? ["Can be given more than once."] : [])
  ]
  return `| ${words.join(", ")} | ${cell(notes.join(" "))} |`
}

const options = (list) => ["| Option | What it does |", "|---|---|", ...list.map(optionRow)]

const usage = ({ args, name, options }) =>
  [
    `mcp-runtime ${name}`,
    ...args.map(({ name, repeated, required }) => {
      const word = `${name.toUpperCase()}${repeated === true ? "…" : ""}`
      return required ? word : `[${word}]`
    }),
    ...(options.length === 0 ? [] : ["[options]"])
  ].join(" ")

export const section = async () => {
  const { all, builtInOptions, meanings, sharedOptions, types } = await read()
  const lines = ["## Options of every command", "", ...options([...sharedOptions, ...builtInOptions])]
  lines.push("", "## Exit codes", "", "| Code | Means |", "|---|---|")
  for (const [code, meaning] of meanings) lines.push(`| ${code} | ${meaning} |`)
  lines.push("", "With `--json` an error is a document too, on the standard output:", "")
  lines.push("```ts", types.get(failure[0]), "```", "", "## Commands")
  for (const { load, ...entry } of all) {
    const command = { ...entry, ...(await load()).command }
    lines.push("", `### ${command.name}`, "", command.summary)
    for (const text of command.description ?? []) lines.push("", text)
    lines.push("", "```text", usage(command), "```", "")
    const rows = command.args.map(({ about, name }) => `| ${name.toUpperCase()} | ${cell(about)} |`)
    if (rows.length > 0) lines.push("| Argument | What it is |", "|---|---|", ...rows, "")
    if (command.options.length > 0) lines.push(...options(command.options), "")
    const width = Math.max(...command.examples.map(([line]) => line.length))
    lines.push("```sh")
    for (const [line, about] of command.examples) lines.push(`mcp-runtime ${line.padEnd(width)}  # ${about}`)
    lines.push("```")
    const written = shapes[command.name]?.map(([name]) => types.get(name)) ?? []
    if (written.length > 0) lines.push("", "With `--json`:", "", "```ts", written.join("\n\n"), "```")
  }
  return lines.join("\n")
}
