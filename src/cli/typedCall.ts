/** The words that somebody would type for a call. */
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as ShellWords from "../text/shellWords.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Command from "./Command.ts"
import * as Styled from "./styled.ts"
import * as Arguments from "./toolArguments.ts"
import { type Identity, spelled } from "./toolRef.ts"

const same = (one: unknown, other: unknown): boolean => Styled.json(one, 0) === Styled.json(other, 0)

/** A text where that is read as the same value, and JSON where it is not. */
const wordOf = (schema: JsonRpc.JsonObject, name: string, value: JsonRpc.Json): string | undefined => {
  const text = typeof value === "string" ? value.replace(/^@/, "@@") : Styled.json(value, 0)
  const loose = { ...schema, required: [] }
  return [`${name}=${text}`, `${name}:=${Styled.json(value, 0)}`].find((word) => {
    const args = Either.flatMap(Arguments.read(word), (one) => Arguments.build(loose, [one]))
    // what is shown in another way than it is written cannot be copied, and a dash begins an option
    const isTypable = UntrustedText.escape(word) === word && !word.startsWith("-")
    return isTypable && Either.isRight(args) && same(args.right, Object.fromEntries([[name, value]]))
  })
}

const durationText = (time: Duration.Duration): string => {
  const seconds = Duration.toSeconds(time)
  return Number.isInteger(seconds) ? `${seconds}s` : `${Duration.toMillis(time)}ms`
}

/** What decides which servers there are, and how long it may take. */
const options = ({ configs, imports, root, timeout }: Command.Shared): ReadonlyArray<string> => [
  ...(root === undefined ? [] : ["--root", root]),
  ...configs.flatMap((file) => ["--config", file]),
  ...imports.flatMap((host) => ["--import", host]),
  ...(timeout === undefined ? [] : ["--timeout", durationText(timeout)])
]

/** A secret is no part of it: its value stands in a file. */
export const line = (
  identity: Identity,
  schema: JsonRpc.JsonObject,
  args: ReadonlyArray<readonly [name: string, value: JsonRpc.Json]>,
  secrets: ReadonlySet<string>,
  shared: Command.Shared
): string => {
  const words = args.map(([name, value]) => secrets.has(name) ? `${name}=@FILE` : wordOf(schema, name, value))
  const shown = words.every((word) => word !== undefined)
    ? words
    : ["--args", Styled.json(Object.fromEntries(args.filter(([name]) => !secrets.has(name))), 0)]
  return ["mcp-runtime", "call", spelled(identity), ...shown, ...options(shared)].map((word) =>
    ShellWords.quote(word ?? "")
  )
    .join(" ")
}
