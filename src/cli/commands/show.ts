/** `mcp-runtime show`: describes a tool. */
import * as Effect from "effect/Effect"
import * as Shape from "../../json/describe.ts"
import type { JsonObject } from "../../json/Json.ts"
import type * as McpRuntime from "../../McpRuntime.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as Offered from "../offered.ts"
import * as Screen from "../Screen.ts"
import { shapeOf, ToolShape } from "./tools.ts"

/** A schema may refer to itself. */
const deepest = 6

const strong = (text: string): Screen.Span => ({ text, style: "strong" })
const weak = (text: string): Screen.Span => ({ text, style: "weak" })

const textLines = (text: string, indent: string): ReadonlyArray<Screen.Line> =>
  text.split(/\r?\n/).map((line) => `${indent}${line}`)

const parameterLines = (
  root: JsonObject,
  { name, required, schema }: Shape.Property,
  depth: number
): ReadonlyArray<Screen.Line> => {
  const indent = "  ".repeat(depth + 1)
  const initial = Shape.initial(schema)
  const notes = [
    ...(required ? ["required"] : []),
    ...(initial === undefined ? [] : [`default ${JSON.stringify(initial)}`]),
    ...[Shape.text(schema, "format") ?? []].flat()
  ]
  const about = Shape.text(schema, "description") ?? Shape.text(schema, "title")
  const inside = depth >= deepest
    ? []
    : Shape.alternatives(root, schema).flatMap((one) =>
      [one, ...Shape.alternatives(root, Shape.items(one))].flatMap(Shape.properties)
    )
  const type = Shape.typeText(root, schema, inside.length > 0 ? 2 : 0)
  return [
    [indent, strong(name), ": ", type, ...(notes.length === 0 ? [] : [weak(`  ${notes.join(", ")}`)])],
    ...(about === undefined ? [] : textLines(about, `${indent}    `)),
    ...inside.flatMap((one) => parameterLines(root, one, depth + 1))
  ]
}

const hints = [
  ["readOnlyHint", "read-only"],
  ["destructiveHint", "destructive"],
  ["idempotentHint", "idempotent"],
  ["openWorldHint", "open-world"]
] as const

/** `name(a: number, b?: string)` */
export const signature = (name: string, schema: JsonObject): string => {
  const each = Shape.parameters(schema).map(({ name, required, schema: one }) =>
    `${name}${required ? "" : "?"}: ${Shape.typeText(schema, one, 1)}`
  )
  return `${name}(${each.join(", ")})`
}

const section = (title: string, schema: JsonObject): ReadonlyArray<Screen.Line> => {
  const parameters = Shape.parameters(schema)
  return parameters.length === 0
    ? []
    : ["", [strong(title)], ...parameters.flatMap((one) => parameterLines(schema, one, 0))]
}

export const lines = (found: McpRuntime.RuntimeTool): ReadonlyArray<Screen.Line> => {
  const { description, inputSchema, name, tool: { annotations, outputSchema = {} } } = found
  const identity = Offered.identityOf(found)
  const required = Shape.parameters(inputSchema).filter(({ required }) => required)
  const claims = hints.flatMap(([hint, words]) => annotations[hint] === true ? [words] : [])
  return [
    [strong(signature(Offered.spelled(identity), inputSchema))],
    [weak(`name for models: ${name}`)],
    ...(claims.length === 0 ? [] : [[weak(`annotations: ${claims.join(", ")}`)]]),
    ...(description === undefined ? [] : ["", ...textLines(description.trim(), "")]),
    ...section("Parameters", inputSchema),
    ...section("Result", outputSchema),
    "",
    [weak(`mcp-runtime call ${Offered.format(identity)}${required.map(({ name }) => ` ${name}=…`).join("")}`)]
  ]
}

const run: Command.Command["run"] = ({ args: [ref = ""], shared }) =>
  Application.use(shared, Offered.choiceOf(ref, shared), (application) =>
    Effect.gen(function*() {
      const screen = yield* Screen.Screen
      const found = yield* Offered.tool(ref, application)
      yield* shared.json ? screen.json(ToolShape, shapeOf(found)) : screen.out(...lines(found))
    }))

export const command: Command.Command = {
  args: [{ name: "tool", about: "SERVER/TOOL, or TOOL if only one server has it", required: true }],
  options: [],
  examples: [["show github/create_issue", "Show its parameters with their types"]],
  run
}
