/** A form as a server describes it: its fields, and what is typed into one of them as the value that it asks for. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Shape from "../json/describe.ts"
import * as JsonSchema from "../json/JsonSchema.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as Arguments from "./toolArguments.ts"

export interface Choice {
  readonly value: JsonRpc.Json
  readonly title: string
}

export interface Field {
  readonly name: string
  readonly label: string
  readonly about: string | undefined
  readonly required: boolean
  /** What is asked for, in a word or two. */
  readonly kind: string
  readonly choices: ReadonlyArray<Choice>
  /** Whether more than one can be chosen. */
  readonly isList: boolean
  readonly initial: JsonRpc.Json | undefined
  readonly schema: JsonRpc.JsonObject
}

const isObject = (value: JsonRpc.Json | undefined): value is JsonRpc.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const listOf = (value: JsonRpc.Json | undefined): ReadonlyArray<JsonRpc.Json> =>
  Array.isArray(value) ? value as ReadonlyArray<JsonRpc.Json> : []

export const textOf = (value: JsonRpc.Json): string => typeof value === "string" ? value : JSON.stringify(value)

/** Values with titles are written in two ways, one of them old. */
const choicesOf = (schema: JsonRpc.JsonObject): ReadonlyArray<Choice> => {
  const titled = [...listOf(schema["oneOf"]), ...listOf(schema["anyOf"])].flatMap((one): ReadonlyArray<Choice> => {
    const value = isObject(one) ? one["const"] : undefined
    const title = isObject(one) ? one["title"] : undefined
    return value === undefined ? [] : [{ value, title: typeof title === "string" ? title : textOf(value) }]
  })
  if (titled.length > 0) return titled
  const names = listOf(schema["enumNames"])
  return (Shape.choices(schema) ?? []).map((value, at) => {
    const name = names[at]
    return { value, title: typeof name === "string" ? name : textOf(value) }
  })
}

const kindOf = (root: JsonRpc.JsonObject, schema: JsonRpc.JsonObject): string => {
  const format = Shape.text(schema, "format")
  if (format !== undefined) return format
  const type = Shape.typeText(root, schema, 2)
  return type === "string" ? "text" : type === "boolean" ? "true or false" : type
}

export const fields = (root: JsonRpc.JsonObject): ReadonlyArray<Field> =>
  Shape.parameters(root).map(({ name, required, schema: given }) => {
    const schema = Shape.alternatives(root, given)[0] ?? {}
    const own = isObject(given) ? given : {}
    const items = Shape.items(schema)
    const isList = Shape.types(schema).includes("array")
    const choices = choicesOf(isList ? isObject(items) ? items : {} : own)
    return {
      name,
      label: Shape.text(own, "title") ?? name,
      about: Shape.text(own, "description"),
      required,
      kind: kindOf(root, own),
      choices,
      isList,
      initial: Shape.initial(own),
      schema: own
    }
  })

const chosen = (choices: ReadonlyArray<Choice>, text: string): Choice | undefined =>
  choices.find(({ value }) => textOf(value) === text) ??
    choices.find(({ title }) => title.toLowerCase() === text.toLowerCase()) ??
    (/^\d{1,4}$/.test(text) ? choices[Number(text) - 1] : undefined)

const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["email", (text) => /^[^\s@]+@[^\s@]+$/.test(text)],
  ["uri", (text) => URL.canParse(text)],
  ["date", (text) => /^\d{4}-\d\d-\d\d$/.test(text) && Option.isSome(DateTime.make(text))],
  ["date-time", (text) => /^\d{4}-\d\d-\d\dT/.test(text) && Option.isSome(DateTime.make(text))]
])

const yes = new Map([["y", true], ["yes", true], ["true", true], ["n", false], ["no", false], ["false", false]])

const typed = (root: JsonRpc.JsonObject, field: Field, text: string): Either.Either<JsonRpc.Json, string> => {
  const { choices, isList, name, schema } = field
  if (choices.length > 0) {
    const words = isList ? text.split(",").map((word) => word.trim()) : [text]
    const found = words.map((word) => chosen(choices, word))
    const wrong = found.indexOf(undefined)
    if (wrong >= 0) return Either.left(`"${words[wrong]}" is none of them.`)
    const values = found.flatMap((one) => one === undefined ? [] : [one.value])
    return isList ? Either.right(values) : Either.right(values[0]!)
  }
  const types = Shape.types(Shape.alternatives(root, schema)[0] ?? {})
  const answer = types.length === 1 && types[0] === "boolean" ? yes.get(text.toLowerCase()) : undefined
  if (answer !== undefined) return Either.right(answer)
  const words = isList && !/^\s*\[/.test(text) ? text.split(",").map((word) => word.trim()) : [text]
  const assignments = words.map((value) => ({ key: name, kind: "text", value, isFile: false }) as const)
  const whole = { ...root, properties: Object.fromEntries([[name, schema]]), required: [] }
  return Either.mapBoth(Arguments.build(whole, assignments), {
    onLeft: () => `It has to be ${field.kind}.`,
    onRight: (args) => args[name] ?? null
  })
}

/** What was typed as the value of a field, or why it is none. */
export const read = (
  root: JsonRpc.JsonObject,
  field: Field,
  text: string
): Effect.Effect<Either.Either<JsonRpc.Json, string>> =>
  Effect.gen(function*() {
    const value = typed(root, field, text)
    if (Either.isLeft(value)) return value
    const format = Shape.text(field.schema, "format")
    const fits = format === undefined ? undefined : formats.get(format)
    if (fits !== undefined && typeof value.right === "string" && !fits(value.right)) {
      return Either.left(`That is no ${format}.`)
    }
    const { check } = yield* JsonSchema.make(field.schema)
    const verdict = check(value.right)
    return verdict._tag === "Invalid" ? Either.left(`It does not fit: ${verdict.detail}`) : value
  })
