/** Asks for the fields of a schema at the terminal, one by one. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Shape from "../json/describe.ts"
import { isObject } from "../json/Json.ts"
import * as JsonSchema from "../json/JsonSchema.ts"
import { listOf } from "../json/schema.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as Ask from "./Ask.ts"
import type * as Screen from "./Screen.ts"
import * as Arguments from "./toolArguments.ts"

type Json = JsonRpc.Json
type JsonObject = JsonRpc.JsonObject

export interface Choice {
  readonly value: Json
  readonly title: string
}

export interface Field {
  readonly name: string
  readonly label: string
  readonly about: string | undefined
  readonly required: boolean
  /** The type, for people. */
  readonly kind: string
  readonly choices: ReadonlyArray<Choice>
  /** Whether more than one can be chosen. */
  readonly isList: boolean
  readonly initial: Json | undefined
  readonly schema: JsonObject
}

const objectOf = (value: Json | undefined): JsonObject =>
  // the cast: a JSON value that is an object
  isObject(value) ? value as JsonObject : {}

/** The titles of values are in `oneOf` or `anyOf`, or in the older `enumNames`. */
const choicesOf = (schema: JsonObject): ReadonlyArray<Choice> => {
  const titled = [...listOf(schema["oneOf"]), ...listOf(schema["anyOf"])].flatMap((one): ReadonlyArray<Choice> => {
    const { const: value, title } = objectOf(one)
    return value === undefined ? [] : [{ value, title: typeof title === "string" ? title : Arguments.textOf(value) }]
  })
  if (titled.length > 0) return titled
  const names = listOf(schema["enumNames"])
  return (Shape.choices(schema) ?? []).map((value, at) => {
    const name = names[at]
    return { value, title: typeof name === "string" ? name : Arguments.textOf(value) }
  })
}

const kindOf = (root: JsonObject, schema: JsonObject): string => {
  const type = Shape.text(schema, "format") ?? Shape.typeText(root, schema, 2)
  return type === "string" ? "text" : type === "boolean" ? "true or false" : type
}

export const fields = (root: JsonObject): ReadonlyArray<Field> =>
  Shape.parameters(root).map(({ name, required, schema: given }) => {
    const whole = Shape.alternatives(root, given)[0] ?? {}
    const schema = objectOf(given)
    const isList = Shape.types(whole).includes("array")
    return {
      name,
      label: Shape.text(schema, "title") ?? name,
      about: Shape.text(schema, "description"),
      required,
      kind: kindOf(root, schema),
      choices: choicesOf(isList ? objectOf(Shape.items(whole)) : schema),
      isList,
      initial: Shape.initial(schema),
      schema
    }
  })

/** Finds a choice by value, title or number. */
const chosen = (choices: ReadonlyArray<Choice>, text: string): Choice | undefined =>
  choices.find(({ value }) => Arguments.textOf(value) === text) ??
    choices.find(({ title }) => title.toLowerCase() === text.toLowerCase()) ??
    (/^\d{1,4}$/.test(text) ? choices[Number(text) - 1] : undefined)

const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["email", (text) => /^[^\s@]+@[^\s@]+$/.test(text)],
  ["uri", (text) => URL.canParse(text)],
  ["date", (text) => /^\d{4}-\d\d-\d\d$/.test(text) && Option.isSome(DateTime.make(text))],
  ["date-time", (text) => /^\d{4}-\d\d-\d\dT/.test(text) && Option.isSome(DateTime.make(text))]
])

const yes = new Map([["y", true], ["yes", true], ["true", true], ["n", false], ["no", false], ["false", false]])

/** Converts a word to a choice of the field, or to its type. */
const wordOf = (
  root: JsonObject,
  { choices, kind, name, schema }: Field,
  word: string
): Either.Either<Json, string> => {
  if (choices.length > 0) {
    const choice = chosen(choices, word)
    return choice === undefined ? Either.left(`"${word}" is not one of the choices.`) : Either.right(choice.value)
  }
  const types = Shape.types(Shape.alternatives(root, schema)[0] ?? {})
  const answer = types.length === 1 && types[0] === "boolean" ? yes.get(word.toLowerCase()) : undefined
  return answer === undefined
    ? Either.mapLeft(Arguments.typed(root, schema, word, name), () => `Expected ${kind}.`)
    : Either.right(answer)
}

const typed = (root: JsonObject, field: Field, text: string): Either.Either<Json, string> => {
  const words = field.isList && !/^\s*\[/.test(text) ? text.split(",").map((word) => word.trim()) : [text]
  const values = Either.all(words.map((word) => wordOf(root, field, word)))
  return Either.map(values, (all) => field.isList ? all.flat() : all[0]!)
}

/** The value of a field, or why the text is not valid. */
export const read = (root: JsonObject, field: Field, text: string): Effect.Effect<Either.Either<Json, string>> =>
  Effect.gen(function*() {
    const value = typed(root, field, text)
    if (Either.isLeft(value)) return value
    const format = Shape.text(field.schema, "format")
    if (typeof value.right === "string" && formats.get(format ?? "")?.(value.right) === false) {
      return Either.left(`Not a valid ${format}.`)
    }
    const { check } = yield* JsonSchema.make(field.schema)
    const verdict = check(value.right)
    return verdict._tag === "Invalid" ? Either.left(`Invalid: ${verdict.detail}`) : value
  })

const question = ({ choices, initial, isList, kind, label, required }: Field): string => {
  const what = choices.length === 0 ? kind : isList ? "one or more of these, separated by commas" : "one of these"
  const preset = initial === undefined
    ? required ? "" : " [skip]"
    : ` [${listOf(initial).length > 0 ? listOf(initial).map(Arguments.textOf).join(", ") : Arguments.textOf(initial)}]`
  return `  ${label} (${what})${preset}: `
}

export interface Asking {
  readonly screen: Screen.Screen["Type"]
  /** The server that gets the values. */
  readonly server: string
  readonly isSecret: (field: Field) => boolean
  /** Words that end the form when typed instead of a value. */
  readonly words: ReadonlySet<string>
}

/** The value of one field; `undefined` if it is skipped. */
const ask = ({ isSecret: isHidden, screen, server, words }: Asking, root: JsonObject, field: Field) =>
  Effect.gen(function*() {
    const { about, choices, initial, required } = field
    const isSecret = isHidden(field)
    const warning = `  This looks like a secret. Your input is hidden and will be sent to ${server}.`
    yield* screen.err(
      ...(about === undefined ? [] : about.trim().split(/\r?\n/).map((line) => `    ${line}`)),
      ...(isSecret ? [[{ text: warning, style: "warning" }] as const] : [])
    )
    return yield* Ask.value(screen, {
      prompt: question(field),
      choices: choices.map(({ title }) => title),
      isSecret,
      read: (line): Effect.Effect<Either.Either<Json | undefined, string>, string> => {
        const text = line?.trim()
        if (text === undefined || words.has(text)) return Effect.fail(text ?? "")
        if (text !== "") return read(root, field, text)
        return Effect.succeed(
          initial === undefined && required ? Either.left("A value is required.") : Either.right(initial)
        )
      }
    })
  })

/** The values of all fields that are not skipped. Fails with the word that ended the form, "" for the end of the input. */
export const complete = (
  asking: Asking,
  root: JsonObject
): Effect.Effect<ReadonlyArray<readonly [name: string, value: Json]>, string> =>
  Effect.map(
    Effect.forEach(fields(root), (field) =>
      Effect.map(ask(asking, root, field), (value) =>
        value === undefined ? [] : [[field.name, value] as const])),
    (entries) =>
      entries.flat()
  )
