/**
 * @internal
 */
import type * as Bundle from "../../Bundle.ts"
import type * as ConfigDocument from "../../ConfigDocument.ts"
import type * as ConfigEntry from "../../ConfigEntry.ts"
import * as Interpolation from "../../Interpolation.ts"
import { isList, isTable, isText, scalar, table } from "../dialect/values.ts"
import { item } from "./registry.ts"

type Table = ConfigDocument.Table
type Value = ConfigDocument.Value

const syntax: Interpolation.Syntax = {
  places: new Map([
    ["__dirname", "pluginRoot"],
    ["HOME", "userHome"],
    ["/", "pathSeparator"],
    ["pathSeparator", "pathSeparator"]
  ]),
  inputPrefix: "user_config."
}

const folders = new Map([["DESKTOP", "Desktop"], ["DOCUMENTS", "Documents"], ["DOWNLOADS", "Downloads"]])

const template = (text: string): ConfigEntry.Template =>
  Interpolation.canonical(
    syntax,
    text.replaceAll(/\$\{(DESKTOP|DOCUMENTS|DOWNLOADS)\}/g, (_, folder: string) => `\${HOME}/${folders.get(folder)}`)
  ).template

const templates = (value: Value): Value => {
  if (isText(value)) return template(value)
  if (isList(value)) return value.map(templates)
  return isTable(value) ? new Map(Array.from(value, ([key, part]) => [key, templates(part)])) : value
}

const launched = (config: Table, platform: string): Table => {
  const override = table(table(config.get("platform_overrides")).get(platform))
  const given = new Map<string, Value>([["type", "stdio"]])
  for (const key of ["command", "args"]) {
    const value = override.get(key) ?? config.get(key)
    if (value !== undefined) given.set(key, templates(value))
  }
  const env = config.get("env") ?? override.get("env")
  if (env === undefined) return given
  const more = override.get("env")
  return given.set("env", templates(isTable(env) && isTable(more) ? new Map([...env, ...more]) : env))
}

const input = ([id, value]: readonly [string, Value]): Bundle.Input => {
  const asked = table(value)
  const fallback = asked.get("default")
  return {
    id,
    title: scalar(asked.get("title")),
    description: scalar(asked.get("description")),
    secret: asked.get("sensitive") === true,
    required: asked.get("required") === true,
    multiple: asked.get("multiple") === true,
    default: (isList(fallback) ? fallback : [fallback]).map(scalar).filter((text) => text !== undefined).map(template)
  }
}

/** @internal */
export const decode = (manifest: Table, platform: string): Bundle.Bundle => {
  const name = scalar(manifest.get("name")) ?? ""
  const raw = table(manifest.get("server")).get("mcp_config") ?? null
  const pointer = ["server", "mcp_config"]
  return {
    item: isTable(raw)
      ? item(name, launched(raw, platform), { pointer, raw, origin: "plugin" })
      : { _tag: "Invalid", name, kind: "missing-transport", pointer, raw },
    inputs: Array.from(table(manifest.get("user_config")), input)
  }
}

/** @internal */
export const answer = (bundle: Bundle.Bundle, answers: Bundle.Answers): ConfigEntry.Item => {
  const { inputs, item } = bundle
  if (item._tag !== "Server" || item.entry.transport !== "stdio") return item
  const values = new Map(
    inputs.filter(({ multiple }) => multiple).map(({ default: usual, id }) => [
      `\${input:${id}}`,
      answers.get(id)?.map(Interpolation.literal) ?? usual
    ])
  )
  const args = item.entry.args.flatMap((arg) => values.get(arg) ?? [arg])
  return { ...item, entry: { ...item.entry, args } }
}
