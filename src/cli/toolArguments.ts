/**
 * What is typed behind the name of a tool, as the arguments that its schema asks for.
 *
 * - `key=value`: the text as what the schema says: a number, a boolean, one of a list, a text
 * - `key:=json`: any JSON
 * - `key=@file`, `key:=@file`: the text of a file, or the JSON in it; `@@` is an `@`
 * - `a.b=1`: within; `list=1 list=2`: a list
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Shape from "../json/describe.ts"
import { nearest, suggestion } from "../text/nearest.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import { Usage } from "./Usage.ts"

export interface Assignment {
  readonly key: string
  readonly kind: "text" | "json"
  readonly value: string
  /** Whether the value is the name of a file that holds it. */
  readonly isFile: boolean
}

type Json = JsonRpc.Json

const fail = (detail: string, next?: string) => Either.left(new Usage({ detail, next }))

export const read = (word: string): Either.Either<Assignment, Usage> => {
  const equals = word.indexOf("=")
  const isJson = equals > 0 && word[equals - 1] === ":"
  const key = word.slice(0, isJson ? equals - 1 : Math.max(0, equals))
  if (key === "") {
    return fail(
      `${UntrustedText.quote(word)} is no argument.`,
      "Write key=value, key:=json or key=@file; a dash reads JSON from the input."
    )
  }
  const value = word.slice(equals + 1)
  const isFile = value.startsWith("@") && !value.startsWith("@@")
  return Either.right({
    key,
    kind: isJson ? "json" : "text",
    value: isFile || value.startsWith("@@") ? value.slice(1) : value,
    isFile
  })
}

const parseJson = Schema.decodeUnknownEither(Schema.parseJson())

/** JSON that was typed, piped or in a file. */
export const json = (text: string, where: string): Either.Either<Json, Usage> =>
  Either.mapBoth(parseJson(text), {
    onLeft: () =>
      new Usage({
        detail: `${where} is no valid JSON.`,
        next: `It begins with ${UntrustedText.quote(text.slice(0, 40))}; put JSON in '…'.`
      }),
    // JSON is all that a parser of JSON gives
    onRight: (value) => value as Json
  })

const isObject = (value: unknown): value is Record<string, Json> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const object = (text: string, where: string): Either.Either<JsonRpc.JsonObject, Usage> =>
  Either.flatMap(
    json(text, where),
    (value) => isObject(value) ? Either.right(value) : fail(`${where} is no JSON object.`, "Write {\"name\": value}.")
  )

const number = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** A text as one of the types; nothing if it is none of that. */
const converted = (text: string, type: string): Json | undefined => {
  switch (type) {
    case "string":
      return text
    case "boolean":
      return text === "true" ? true : text === "false" ? false : undefined
    case "null":
      return text === "null" ? null : undefined
    case "number":
    case "integer": {
      const value = number.test(text) ? Number(text) : Number.NaN
      const fits = Number.isFinite(value) && (type === "number" || Number.isInteger(value))
      // what a number cannot hold would become another
      return fits && (Number.isSafeInteger(value) || !/^-?\d+$/.test(text)) ? value : undefined
    }
    case "array":
    case "object": {
      const value = /^\s*[[{]/.test(text) ? Either.getOrUndefined(parseJson(text)) : undefined
      return Array.isArray(value) === (type === "array") && typeof value === "object" ? value as Json : undefined
    }
    default:
      return undefined
  }
}

/** A text as what a schema asks for: the first of its types, in their order, that it can be. */
const typed = (
  root: JsonRpc.JsonObject,
  schema: Json | undefined,
  text: string,
  key: string
): Either.Either<Json, Usage> => {
  const among = Shape.alternatives(root, schema)
  const allowed: Array<Json> = []
  for (const one of among) {
    const listed = Shape.choices(one)
    if (listed !== undefined) {
      const choice = listed.find((value) => (typeof value === "string" ? value : JSON.stringify(value)) === text)
      if (choice !== undefined) return Either.right(choice)
      allowed.push(...listed)
      continue
    }
    const types = Shape.types(one)
    if (types.length === 0) return Either.right(text)
    for (const type of types) {
      const value = converted(text, type)
      if (value !== undefined) return Either.right(value)
    }
  }
  // a list of one
  const list = among.find((one) => Shape.types(one).includes("array"))
  if (list !== undefined && !/^\s*\[/.test(text)) {
    return Either.map(typed(root, Shape.items(list), text, key), (item) => [item])
  }
  const names = allowed.map((value) => typeof value === "string" ? value : JSON.stringify(value))
  if (names.length > 0) {
    return fail(
      `${UntrustedText.quote(key)} cannot be ${UntrustedText.quote(text)}.`,
      suggestion(nearest(text, names)) ??
        `It is one of ${names.slice(0, 12).map((text) => UntrustedText.quote(text)).join(", ")}.`
    )
  }
  const isWithin = among.some((one) => Shape.types(one).includes("object"))
  return fail(
    `${UntrustedText.quote(key)} has to be ${Shape.typeText(root, schema)}, and ${UntrustedText.quote(text)} is not.`,
    isWithin ? `Write ${key}.name=value or ${key}:={…}.` : undefined
  )
}

/** What a place in the arguments is, from its name. */
interface Place {
  readonly path: ReadonlyArray<string>
  readonly schema: Json | undefined
  readonly isList: boolean
}

const place = (root: JsonRpc.JsonObject, key: string): Either.Either<Place, Usage> => {
  const path: Array<string> = []
  let schema: Json | undefined = root
  let rest = key
  while (rest !== "") {
    const inside: ReadonlyArray<JsonRpc.JsonObject> = Shape.alternatives(root, schema)
    const list = inside.find((one) => Shape.types(one).includes("array"))
    const names = inside.flatMap((one) => Shape.properties(one).map(({ name }) => name))
    // a name that has dots in it is a name first
    const whole = names.includes(rest) ? rest : rest.slice(0, rest.includes(".") ? rest.indexOf(".") : undefined)
    const holder = inside.find((one) => Shape.property(one, whole) !== undefined)
    if (holder !== undefined) schema = Shape.property(holder, whole)
    else if (path.length > 0 && list !== undefined && /^\d{1,4}$/.test(whole)) schema = Shape.items(list)
    else {
      const open = inside.find(Shape.isOpen)
      if (open === undefined) {
        const shown = [...path, whole].join(".")
        return fail(
          `The tool takes no argument ${UntrustedText.quote(shown)}.`,
          suggestion(nearest(whole, names).map((name) => [...path, name].join("."))) ??
            (names.length === 0
              ? "It takes none."
              : `It takes ${names.slice(0, 12).map((text) => UntrustedText.quote(text)).join(", ")}${
                names.length > 12 ? ", …" : ""
              }.`)
        )
      }
      schema = Shape.additional(open)
    }
    path.push(whole)
    rest = rest.slice(whole.length + 1)
  }
  const isList = Shape.alternatives(root, schema).some((one) => Shape.types(one).includes("array"))
  return Either.right({ path, schema, isList })
}

interface Box {
  readonly members: Map<string, Json | Box>
}

const isBox = (value: Json | Box | undefined): value is Box => isObject(value) && value["members"] instanceof Map

/** Names of people and servers stay in maps until the end. */
const entriesOf = (box: Box): ReadonlyArray<readonly [name: string, value: Json]> =>
  Array.from(box.members, ([name, value]) => [name, isBox(value) ? unboxed(value) : value] as const)

const unboxed = (box: Box): Json => {
  const entries = entriesOf(box)
  const isList = entries.length > 0 && entries.every(([name], at) => name === String(at))
  return isList ? entries.map(([, value]) => value) : Object.fromEntries(entries)
}

const boxOf = (value: JsonRpc.JsonObject): Box => ({
  members: new Map(
    Object.entries(value).flatMap(([name, one]) => one === undefined ? [] : [[name, one] as const])
  )
})

/**
 * The arguments of all that was typed, their files already read. What was given as JSON is the base, and is sent as it
 * is: whoever writes JSON knows better than the schema.
 */
export const build = (
  schema: JsonRpc.JsonObject,
  assignments: ReadonlyArray<Assignment>,
  base?: JsonRpc.JsonObject
): Either.Either<JsonRpc.JsonObject, Usage> =>
  Either.gen(function*() {
    const top = boxOf(base ?? {})
    const lists = new Map<string, Array<Json>>()
    const given = new Set<string>()
    for (const { key, kind, value } of assignments) {
      const at = yield* base === undefined
        ? place(schema, key)
        : Either.orElse(place(schema, key), (): Either.Either<Place, Usage> =>
          Either.right({ path: key.split("."), schema: undefined, isList: false }))
      const one = kind === "json"
        ? yield* json(value, `The value of ${UntrustedText.quote(key)}`)
        : yield* typed(schema, at.schema, value, key)
      let box = top
      for (const step of at.path.slice(0, -1)) {
        const inner = box.members.get(step)
        const next: Box = isBox(inner) ? inner : isObject(inner) ? boxOf(inner) : { members: new Map() }
        box.members.set(step, next)
        box = next
      }
      const name = at.path.at(-1)!
      if (!given.has(key)) {
        given.add(key)
        box.members.set(name, one)
        if (at.isList && Array.isArray(one)) {
          lists.set(key, [...one as ReadonlyArray<Json>])
        }
        continue
      }
      const list = lists.get(key)
      if (list === undefined) {
        return yield* fail(`The argument ${UntrustedText.quote(key)} is given twice.`)
      }
      if (Array.isArray(one)) {
        list.push(...one as ReadonlyArray<Json>)
      } else list.push(one)
      box.members.set(name, list)
    }
    const args: JsonRpc.JsonObject = Object.fromEntries(entriesOf(top))
    const missing = base !== undefined ?
      [] :
      Shape.parameters(schema).filter(({ name, required }) =>
        required && !Object.hasOwn(args, name)
      )
    if (missing.length > 0) {
      const all = missing.map(({ name, schema: one }) => `${name} (${Shape.typeText(schema, one)})`)
      return yield* fail(
        `The tool needs ${all.join(", ")}.`,
        `Write ${missing.map(({ name }) => `${name}=…`).join(" ")}.`
      )
    }
    return args
  })
