/**
 * The prompts of all servers, as commands.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import type * as McpClient from "../../client/McpClient.ts"
import * as McpError from "../../McpError.ts"
import type * as McpRuntime from "../../McpRuntime.ts"
import * as HiddenText from "../../safety/HiddenText.ts"
import type * as OutputGuard from "../../safety/OutputGuard.ts"
import type * as Permissions from "../../safety/Permissions.ts"
import * as ShellWords from "../../text/shellWords.ts"
import * as ToolName from "../../tools/ToolName.ts"
import type * as AgentTools from "../AgentTools.ts"

/** @internal */
export interface Options {
  readonly guard: OutputGuard.OutputGuard["Type"]
  readonly permissions: Permissions.Permissions["Type"]
  readonly runtime: McpRuntime.McpRuntime["Type"]
}

type Prompt = McpClient.Prompt & { readonly server: string }

const nameLength = 128
const descriptionLength = 1024

const maybe = (text: string | undefined, limit: number): string | undefined =>
  text === undefined ? undefined : HiddenText.brief(text, limit)

/** The arguments as they are shown, by their own names. */
const shown = (prompt: Prompt): ReadonlyMap<string, AgentTools.Command["arguments"][number]> =>
  new Map(prompt.arguments.map(({ description, name, required }) => [
    name,
    { name: HiddenText.brief(name, nameLength), description: maybe(description, descriptionLength), required }
  ]))

/**
 * Values by argument name: `name=value` sets that argument, other words fill the rest in order, and the last argument
 * takes all words that are left. `undefined` if there are more words than arguments.
 *
 * @internal
 */
export const parseLine = (line: string, names: ReadonlyArray<string>): ReadonlyMap<string, string> | undefined => {
  const values = new Map<string, string>()
  const rest: Array<string> = []
  for (const { quoted, text } of ShellWords.split(line, ShellWords.prose).words) {
    const at = quoted ? -1 : text.indexOf("=")
    const name = text.slice(0, Math.max(0, at))
    if (at > 0 && names.includes(name)) values.set(name, text.slice(at + 1))
    else rest.push(text)
  }
  if (rest.length === 0) return values
  const free = names.filter((name) => !values.has(name))
  if (free.length === 0) return undefined
  for (const [at, name] of free.entries()) {
    if (at >= rest.length) break
    values.set(name, at === free.length - 1 ? rest.slice(at).join(" ") : rest[at]!)
  }
  return values
}

/** @internal */
export const make = ({ guard, permissions, runtime }: Options): Effect.Effect<AgentTools.Commands> => {
  const message = (
    { name, server }: Prompt,
    { content, role }: McpClient.PromptMessages["messages"][number]
  ): Effect.Effect<AgentTools.CommandMessage> =>
    Effect.map(
      guard.render({ content: [content], structuredContent: undefined, isError: false }, {
        server,
        tool: name,
        kind: "prompt"
      }),
      ({ attachments, text }) => ({ role: role === "assistant" ? "assistant" : "user", text, attachments })
    )

  const command = (prompt: Prompt): AgentTools.Command => {
    const { description, name, server, title } = prompt
    const own = shown(prompt)
    const invalid = (path: string, detail: string) =>
      new McpError.InvalidArguments({ server, operation: "prompts/get", path, detail })

    const read = (
      given: Readonly<Record<string, string>> | string
    ): Effect.Effect<Readonly<Record<string, string>>, McpError.InvalidArguments> => {
      const names = Array.from(own.values(), (one) => one.name)
      const values = typeof given === "string" ? parseLine(given, names) : new Map(Object.entries(given))
      if (values === undefined) {
        return invalid(
          "",
          names.length === 0 ? "the command takes no arguments" : "there are more words than arguments"
        )
      }
      const entries: Array<readonly [string, string]> = []
      for (const [key, { name, required }] of own) {
        const value = values.get(name) ?? values.get(key)
        if (value !== undefined) entries.push([key, value])
        else if (required) return invalid(name, "the argument is required")
      }
      const unknown = Array.from(values.keys()).find((one) => !own.has(one) && !names.includes(one))
      if (unknown !== undefined) return invalid(unknown, "there is no such argument")
      return Effect.succeed(Object.fromEntries(entries))
    }

    return {
      name: `/${ToolName.qualify(server, name, "double")}`,
      server,
      prompt: name,
      title: maybe(title, nameLength),
      description: maybe(description, descriptionLength),
      arguments: Array.from(own.values()),
      run: (given = {}, options) =>
        read(given).pipe(
          Effect.flatMap((args) => runtime.getPrompt(server, name, args, { origin: options?.origin ?? "person" })),
          Effect.flatMap(({ messages }) => Effect.forEach(messages, (one) => message(prompt, one)))
        )
    }
  }

  return Effect.map(runtime.prompts, ({ items, missing }) => ({
    commands: items
      .filter(({ name, server }) => permissions.decide("person", { kind: "prompt", server, name }).decision !== "deny")
      .map(command)
      .toSorted(Order.mapInput(Order.string, ({ name }) => name)),
    missing: missing.filter(({ error }) => error?._tag !== "CapabilityMissing")
  }))
}
