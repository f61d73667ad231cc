/**
 * Converts the words of a command line to the arguments of a tool, and back.
 *
 * - `key=value`, `--key value`: converted to the type in the schema
 * - `key:=json`: any JSON
 * - `key=@file`, `key:=@file`: the text of a file, or the JSON in it; `@@` is a literal `@`
 * - `a.b=1`: a field of an object; `list=1 list=2`: a list
 */
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Shape from "../json/describe.ts"
import { isObject as isJsonObject } from "../json/Json.ts"
import { nearest, suggestion } from "../text/nearest.ts"
import * as ShellWords from "../text/shellWords.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Command from "./Command.ts"
import { type Usage, usage } from "./Command.ts"
import { type Identity, spelled } from "./offered.ts"
import * as Screen from "./Screen.ts"

type Json = JsonRpc.Json
type JsonObject = JsonRpc.JsonObject

const { quote } = UntrustedText

const isObject = (value: unknown): value is Record<string, Json> => isJsonObject(value)

/** The names in quotes. A server may have made the list long. */
const listed = (names: ReadonlyArray<string>): string => UntrustedText.listed(names.map((name) => quote(name)), 12)

const argumentsOf = (names: ReadonlyArray<string>): string =>
  names.length === 0 ? "It has no arguments." : `Its arguments: ${listed(names)}`

export interface Assignment {
  readonly key: string
  readonly kind: "text" | "json"
  readonly value: string
  /** The value is a file name. */
  readonly isFile: boolean
}

const assignment = (key: string, kind: Assignment["kind"], text: string): Assignment => {
  const isFile = text.startsWith("@") && !text.startsWith("@@")
  return { key, kind, value: isFile || text.startsWith("@@") ? text.slice(1) : text, isFile }
}

export const read = (word: string): Either.Either<Assignment, Usage> => {
  const equals = word.indexOf("=")
  const isJson = equals > 0 && word[equals - 1] === ":"
  const key = word.slice(0, isJson ? equals - 1 : Math.max(0, equals))
  return key === ""
    ? usage(
      `invalid argument ${quote(word)}`,
      "Use key=value, key:=json, key=@file, or - to read JSON from stdin."
    )
    : Either.right(assignment(key, isJson ? "json" : "text", word.slice(equals + 1)))
}

/**
 * Parses the words after the tool, including `--key value` for properties of the schema.
 *
 * @param unknown - the indices of options that the command does not have
 * @param options - the options of the command, for suggestions
 */
export const readAll = (
  words: ReadonlyArray<string>,
  unknown: ReadonlySet<number>,
  schema: JsonObject,
  options: ReadonlyArray<Command.Option>
): Either.Either<ReadonlyArray<Assignment>, Usage> =>
  Either.gen(function*() {
    const properties = new Map(
      Shape.alternatives(schema, schema).flatMap((one) =>
        Shape.properties(one).map(({ name, schema }) => [name, schema])
      )
    )
    const all: Array<Assignment> = []
    for (let at = 0; at < words.length; at++) {
      const word = words[at]!
      // a dash stands for the standard input
      if (word === "-") continue
      if (!unknown.has(at)) {
        all.push(yield* read(word))
        continue
      }
      const [, key = "", inline] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? []
      if (!properties.has(key) && !properties.has(key.split(".")[0]!)) {
        if (options.some(({ name, precedesTool }) => precedesTool === true && name === key)) {
          return yield* usage(
            `the tool has no argument ${quote(key)}`,
            `Put the option --${key} before the tool.`
          )
        }
        const names = [...properties.keys(), ...options.map(({ name }) => name)].map((name) => `--${name}`)
        return yield* usage(
          `unknown option ${quote(`--${key}`)}, and the tool has no argument ${quote(key)}`,
          suggestion(nearest(`--${key}`, names)) ??
            argumentsOf([...properties.keys()])
        )
      }
      const next = unknown.has(at + 1) || words[at + 1] === "-" ? undefined : words[at + 1]
      const isFlag = Shape.alternatives(schema, properties.get(key)).some((one) => Shape.types(one).includes("boolean"))
      if (inline !== undefined) all.push(assignment(key, "text", inline))
      else if (isFlag && next !== "true" && next !== "false") all.push(assignment(key, "text", "true"))
      else if (next === undefined) return yield* usage(`argument ${quote(`--${key}`)} needs a value`)
      else {
        all.push(assignment(key, "text", next))
        at++
      }
    }
    return all
  })

const parseJson = Schema.decodeUnknownEither(Schema.parseJson())

const json = (text: string, where: string): Either.Either<Json, Usage> =>
  Either.orElse(
    // the cast: a parser of JSON gives nothing else
    Either.map(parseJson(text), (value) => value as Json),
    () => usage(`invalid JSON in ${where}: ${quote(text.slice(0, 40))}`, "Put JSON in single quotes.")
  )

/** Parses a JSON object. */
export const object = (text: string, where: string): Either.Either<JsonObject, Usage> =>
  Either.flatMap(
    json(text, where),
    (value) => isObject(value) ? Either.right(value) : usage(`${where} is not a JSON object`, "Use {\"name\": value}.")
  )

const number = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

const isOfType: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["boolean", (value) => typeof value === "boolean"],
  ["null", (value) => value === null],
  ["number", Number.isFinite],
  ["integer", Number.isInteger],
  ["array", Array.isArray],
  ["object", isObject]
])

/** Converts a text to a type, if possible. */
const converted = (text: string, type: string): Json | undefined => {
  if (type === "string") return text
  const value = number.test(text) ? Number(text) : Either.getOrUndefined(parseJson(text))
  // an integer beyond the safe range would change its value
  const isExact = typeof value !== "number" || Number.isSafeInteger(value) || !/^-?\d+$/.test(text)
  // the cast: a parser of JSON gives nothing else
  return isExact && isOfType.get(type)?.(value) === true ? value as Json : undefined
}

export const textOf = (value: Json): string => typeof value === "string" ? value : JSON.stringify(value)

/** Converts a text to the first type of the schema that it fits. */
export const typed = (
  root: JsonObject,
  schema: Json | undefined,
  text: string,
  key: string
): Either.Either<Json, Usage> => {
  const among = Shape.alternatives(root, schema)
  const allowed: Array<Json> = []
  for (const one of among) {
    const choices = Shape.choices(one)
    if (choices !== undefined) {
      const choice = choices.find((value) => textOf(value) === text)
      if (choice !== undefined) return Either.right(choice)
      allowed.push(...choices)
      continue
    }
    const types = Shape.types(one)
    if (types.length === 0) return Either.right(text)
    for (const type of types) {
      const value = converted(text, type)
      if (value !== undefined) return Either.right(value)
    }
  }
  const list = among.find((one) => Shape.types(one).includes("array"))
  if (list !== undefined && !/^\s*\[/.test(text)) {
    return Either.map(typed(root, Shape.items(list), text, key), (item) => [item])
  }
  const names = allowed.map(textOf)
  if (names.length > 0) {
    return usage(
      `invalid value ${quote(text)} for ${quote(key)}`,
      suggestion(nearest(text, names)) ?? `Valid values: ${listed(names)}`
    )
  }
  const isWithin = among.some((one) => Shape.types(one).includes("object"))
  return usage(
    `invalid value ${quote(text)} for ${quote(key)}: expected ${Shape.typeText(root, schema)}`,
    isWithin ? `Use ${key}.name=value or ${key}:={…}.` : undefined
  )
}

/** A key as a path into the arguments, and the schema of its value. */
interface Place {
  readonly path: ReadonlyArray<string>
  readonly schema: Json | undefined
}

const place = (root: JsonObject, key: string): Either.Either<Place, Usage> => {
  const path: Array<string> = []
  let schema: Json | undefined = root
  let rest = key
  while (rest !== "") {
    const inside: ReadonlyArray<JsonObject> = Shape.alternatives(root, schema)
    const names = inside.flatMap((one) => Shape.properties(one).map(({ name }) => name))
    // a property may have dots in its name
    const name = names.includes(rest) ? rest : rest.split(".", 1)[0]!
    const holder = inside.find((one) => Shape.property(one, name) !== undefined)
    const list = inside.find((one) => Shape.types(one).includes("array"))
    const open = inside.find(Shape.isOpen)
    if (holder !== undefined) schema = Shape.property(holder, name)
    else if (path.length > 0 && list !== undefined && /^\d{1,4}$/.test(name)) schema = Shape.items(list)
    else if (open !== undefined) schema = Shape.additional(open)
    else {
      return usage(
        `the tool has no argument ${quote([...path, name].join("."))}`,
        suggestion(nearest(name, names).map((near) => [...path, near].join("."))) ?? argumentsOf(names)
      )
    }
    path.push(name)
    rest = rest.slice(name.length + 1)
  }
  return Either.right({ path, schema })
}

/** Objects are built as maps, because keys are untrusted. */
type Tree = Map<string, Json | Tree>

const treeOf = (value: Json | Tree | undefined): Tree =>
  value instanceof Map ? value : new Map(isObject(value) ? Object.entries(value) : [])

const valueOf = (tree: Tree): Record<string, Json> =>
  Object.fromEntries(Array.from(tree, ([name, value]) => [name, value instanceof Map ? compact(value) : value]))

/** `list.0`, `list.1`, … are a list. */
const compact = (tree: Tree): Json => {
  const isList = tree.size > 0 && Array.from(tree.keys()).every((name, at) => name === String(at))
  return isList ? Object.values(valueOf(tree)) : valueOf(tree)
}

/** Builds the arguments. A base from `--args` is not validated, and allows unknown keys. */
export const build = (
  schema: JsonObject,
  assignments: ReadonlyArray<Assignment>,
  base?: JsonObject
): Either.Either<JsonObject, Usage> =>
  Either.gen(function*() {
    const top = treeOf(base)
    for (const key of new Set(assignments.map(({ key }) => key))) {
      const all = assignments.filter((one) => one.key === key)
      const { path, schema: of } = yield* base === undefined
        ? place(schema, key)
        : Either.orElse(place(schema, key), () => Either.right<Place>({ path: key.split("."), schema: undefined }))
      const values = yield* Either.all(
        all.map(({ kind, value }) => kind === "json" ? json(value, quote(key)) : typed(schema, of, value, key))
      )
      const isList = Shape.alternatives(schema, of).some((one) => Shape.types(one).includes("array"))
      if (values.length > 1 && !isList) return yield* usage(`argument ${quote(key)} can be used only once`)
      let tree = top
      for (const step of path.slice(0, -1)) {
        const next = treeOf(tree.get(step))
        tree.set(step, next)
        tree = next
      }
      tree.set(path.at(-1)!, values.length === 1 ? values[0]! : values.flat())
    }
    const args = valueOf(top)
    const missing = base !== undefined
      ? []
      : Shape.parameters(schema).filter(({ name, required }) => required && !Object.hasOwn(args, name))
    return missing.length === 0 ? args : yield* usage(
      `missing ${missing.map(({ name, schema: of }) => `${name} (${Shape.typeText(schema, of)})`).join(", ")}`,
      `Add ${missing.map(({ name }) => `${name}=…`).join(" ")}`
    )
  })

/** The word that parses to this value: `key=text` if possible, else `key:=json`. */
const wordOf = (schema: JsonObject, name: string, value: Json): string | undefined => {
  const wanted = Screen.jsonText(Object.fromEntries([[name, value]]), 0)
  return [`${name}=${textOf(value).replace(/^@/, "@@")}`, `${name}:=${Screen.jsonText(value, 0)}`].find((word) => {
    const args = Either.flatMap(read(word), (one) => build({ ...schema, required: [] }, [one]))
    // an escaped word cannot be copied, and a word with a leading dash is an option
    const isTypable = UntrustedText.escape(word) === word && !word.startsWith("-")
    return isTypable && Either.isRight(args) && Screen.jsonText(args.right, 0) === wanted
  })
}

const option = (name: string, values: ReadonlyArray<string>): ReadonlyArray<string> =>
  values.flatMap((value) => [`--${name}`, value])

/** The command line of a call. Secrets are replaced by a file. */
export const commandLine = (
  identity: Identity,
  schema: JsonObject,
  args: ReadonlyArray<readonly [name: string, value: Json]>,
  secrets: ReadonlySet<string>,
  { configs, imports, name, root, stdio, timeout, urls }: Command.Shared
): string => {
  const words = args.map(([name, value]) => secrets.has(name) ? `${name}=@FILE` : wordOf(schema, name, value))
  const shown = words.every((word) => word !== undefined)
    ? words
    : ["--args", Screen.jsonText(Object.fromEntries(args.filter(([name]) => !secrets.has(name))), 0)]
  return [
    "mcp-runtime",
    "call",
    ...option("stdio", stdio),
    ...option("url", urls),
    ...option("name", [name ?? []].flat()),
    spelled(identity),
    ...shown,
    ...option("root", [root ?? []].flat()),
    ...option("config", configs),
    ...option("import", imports),
    ...option("timeout", timeout ? [`${Duration.toMillis(timeout)}ms`.replace(/000ms$/, "s")] : [])
  ].map(ShellWords.quote).join(" ")
}
