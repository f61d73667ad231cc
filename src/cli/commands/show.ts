/** `mcp-runtime show`: one tool. */
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
  const inside = depth >= deepest ?
    [] :
    Shape.alternatives(root, schema).flatMap((one) =>
      [one, ...Shape.alternatives(root, Shape.items(one))].flatMap(Shape.properties)
    )
  const isNested = inside.length > 0
  const type = Shape.typeText(root, schema, isNested ? 2 : 0)
  return [
    [indent, strong(name), ": ", type, ...(notes.length === 0 ? [] : [weak(`  ${notes.join(", ")}`)])],
    ...(about === undefined ? [] : textLines(about, `${indent}    `)),
    ...inside.flatMap((one) => parameterLines(root, one, depth + 1))
  ]
}

const hints = ({ tool: { annotations } }: McpRuntime.RuntimeTool): ReadonlyArray<string> => [
  ...(annotations.readOnlyHint === true ? ["only reads"] : []),
  ...(annotations.destructiveHint === true ? ["may destroy"] : []),
  ...(annotations.idempotentHint === true ? ["can be repeated"] : []),
  ...(annotations.openWorldHint === true ? ["reaches other systems"] : [])
]

/** `name(a: number, b?: string)` */
export const signature = (name: string, schema: JsonObject): string => {
  const each = Shape.parameters(schema).map(({ name, required, schema: one }) =>
    `${name}${required ? "" : "?"}: ${Shape.typeText(schema, one, 1)}`
  )
  return `${name}(${each.join(", ")})`
}

export const lines = (found: McpRuntime.RuntimeTool): ReadonlyArray<Screen.Line> => {
  const { description, inputSchema, name, tool } = found
  const identity = Offered.identityOf(found)
  const { outputSchema } = tool
  const parameters = Shape.parameters(inputSchema)
  const results = outputSchema === undefined ? [] : Shape.parameters(outputSchema)
  const example = parameters.filter(({ required }) => required).map(({ name }) => ` ${name}=…`).join("")
  const said = hints(found)
  return [
    [strong(signature(Offered.spelled(identity), inputSchema))],
    [weak(`for a model: ${name}`)],
    ...(said.length === 0 ? [] : [[weak(`it says of itself: ${said.join(", ")}`)]]),
    ...(description === undefined ? [] : ["", ...textLines(description.trim(), "")]),
    ...(parameters.length === 0
      ? []
      : ["", [strong("Parameters")], ...parameters.flatMap((one) => parameterLines(inputSchema, one, 0))]),
    ...(results.length === 0 || outputSchema === undefined
      ? []
      : ["", [strong("Result")], ...results.flatMap((one) => parameterLines(outputSchema, one, 0))]),
    "",
    [weak(`mcp-runtime call ${Offered.format(identity)}${example}`)]
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
  args: [{ name: "tool", about: "server/tool, or the tool alone where only one server has it.", required: true }],
  options: [],
  examples: [["show github/create_issue", "Its parameters, with their types."]],
  run
}
