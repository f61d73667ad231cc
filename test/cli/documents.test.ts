/**
 * What programs can rely on in the documents of `--json`: the shape of each, as `documents.txt` has it. What commands write
 * is decoded with these schemas, exactly, in the tests of each command; a change of one shows here, and is agreed to with
 * `npx vitest run test/cli/documents.test.ts -u`.
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema, type SchemaAST as AST } from "effect"
import * as Commands from "../../src/cli/Commands.ts"
import { Approvals, ToolApproval } from "../../src/cli/commands/approve.ts"
import { Logins } from "../../src/cli/commands/auth.ts"
import { Called } from "../../src/cli/commands/call.ts"
import { Validated } from "../../src/cli/commands/config.ts"
import { Report } from "../../src/cli/commands/doctor.ts"
import { Event } from "../../src/cli/commands/events.ts"
import { Servers } from "../../src/cli/commands/list.ts"
import { Prompted } from "../../src/cli/commands/prompt.ts"
import { Prompts } from "../../src/cli/commands/prompts.ts"
import { Read } from "../../src/cli/commands/read.ts"
import { Resources } from "../../src/cli/commands/resources.ts"
import { Agreed } from "../../src/cli/commands/revoke.ts"
import { Serving } from "../../src/cli/commands/serve.ts"
import { Smoke } from "../../src/cli/commands/smoke.ts"
import { Changed, Status } from "../../src/cli/commands/status.ts"
import { Tools, ToolShape } from "../../src/cli/commands/tools.ts"
import { Edited } from "../../src/cli/configEdit.ts"
import { Found } from "../../src/cli/configFound.ts"
import { Failed } from "../../src/cli/failure.ts"
import { Entry } from "../../src/cli/printConfig.ts"

/** By command line; what `config schema` and `repl` write is a schema of a standard, and the documents of other commands. */
const documents: Readonly<Record<string, Schema.Schema.AnyNoContext>> = {
  "list": Servers,
  "tools": Tools,
  "show": ToolShape,
  "call": Called,
  "resources": Resources,
  "read": Read,
  "prompts": Prompts,
  "prompt": Prompted,
  "status": Status,
  "status --watch, each line": Changed,
  "events, each line": Event,
  "config": Found,
  "config validate": Validated,
  "config add, remove and import": Edited,
  "add": Edited,
  "approve": Approvals,
  "approve --tool": ToolApproval,
  "revoke": Agreed,
  "auth": Logins,
  "doctor": Report,
  "serve --http": Serving,
  "serve --print-config": Entry,
  "smoke": Smoke,
  "whatever fails": Failed
}

/** The shape in a few words, as TypeScript would say it. */
const shapeOf = (ast: AST.AST, indent: string): string => {
  const inner = `${indent}  `
  switch (ast._tag) {
    case "TypeLiteral": {
      const members = [
        ...ast.propertySignatures.map(({ isOptional, name, type }) =>
          `${inner}${String(name)}${isOptional ? "?" : ""}: ${shapeOf(type, inner)}`
        ),
        ...ast.indexSignatures.map(({ type }) => `${inner}[name]: ${shapeOf(type, inner)}`)
      ]
      return `{\n${members.join("\n")}\n${indent}}`
    }
    case "TupleType":
      return `[${[...ast.elements, ...ast.rest].map(({ type }) => shapeOf(type, indent)).join(", ")}]`
    case "Union":
      // what is undefined is not written
      return ast.types.filter(({ _tag }) => _tag !== "UndefinedKeyword").map((one) => shapeOf(one, indent)).join(" | ")
    case "Literal":
      return JSON.stringify(ast.literal)
    case "StringKeyword":
      return "string"
    case "NumberKeyword":
      return "number"
    case "BooleanKeyword":
      return "boolean"
    case "UnknownKeyword":
      return "any JSON"
    case "Refinement":
      return shapeOf(ast.from, indent)
    case "Suspend":
      return shapeOf(ast.f(), indent)
    default:
      throw new Error(`there are no words for ${ast._tag}`)
  }
}

describe("the documents of --json", () => {
  it("are known for every command", () => {
    const known = new Set(Object.keys(documents).map((line) => line.split(/[ ,]/)[0]))
    const others = new Set(["repl"])
    assert.deepStrictEqual(
      Commands.all.map(({ name }) => name).filter((name) => !known.has(name) && !others.has(name)),
      []
    )
  })

  it("have the shapes that programs rely on", async ({ expect }) => {
    const text = Object.entries(documents).map(([line, { ast }]) =>
      `${line}\n\n${shapeOf(Schema.encodedSchema(Schema.make(ast)).ast, "")}\n`
    )
    await expect(text.join("\n")).toMatchFileSnapshot("documents.txt")
  })
})
