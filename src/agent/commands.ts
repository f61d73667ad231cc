/** The prompts of all servers as slash commands. */
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import type * as McpClient from "../client/McpClient.ts"
import * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import * as HiddenText from "../safety/HiddenText.ts"
import type * as OutputGuard from "../safety/OutputGuard.ts"
import type * as Permissions from "../safety/Permissions.ts"
import * as ShellWords from "../text/shellWords.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import * as ToolName from "../tools/ToolName.ts"
import type * as ToolHandler from "./ToolHandler.ts"

/** A message of a prompt. The text is labelled with the server. */
export interface CommandMessage extends Pick<ToolHandler.Output, "text" | "attachments"> {
  readonly role: "user" | "assistant"
}

export interface Command {
  /** `/mcp__server__prompt`. */
  readonly name: string
  readonly server: string
  readonly prompt: string
  readonly title: string | undefined
  readonly description: string | undefined
  readonly arguments: McpClient.Prompt["arguments"]
  /** Accepts arguments by name, or a line for `parseLine`. */
  readonly run: (
    args?: Readonly<Record<string, string>> | string,
    options?: McpRuntime.RequestOptions
  ) => Effect.Effect<ReadonlyArray<CommandMessage>, McpError.RuntimeError>
}

export interface Commands {
  readonly commands: ReadonlyArray<Command>
  readonly missing: ReadonlyArray<ToolCatalog.Missing>
}

/** The services that commands and resources use. */
export interface Services {
  readonly guard: OutputGuard.OutputGuard["Type"]
  readonly permissions: Permissions.Permissions["Type"]
  readonly runtime: McpRuntime.McpRuntime["Type"]
}

type Prompt = McpClient.Prompt & { readonly server: string }

const maxName = 128
const maxDescription = 1024

/**
 * Parses a line into values by argument name: `name=value` sets an argument, other words fill the remaining arguments in
 * order, and the last argument takes all remaining words. `undefined` if there are more words than arguments.
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
  for (const [at, name] of free.slice(0, rest.length).entries()) {
    values.set(name, at === free.length - 1 ? rest.slice(at).join(" ") : rest[at]!)
  }
  return values
}

export const make = ({ guard, permissions, runtime }: Services): Effect.Effect<Commands> => {
  const command = (prompt: Prompt): Command => {
    const { description, name, server, title } = prompt
    /** The arguments with cleaned texts, by their names on the server. */
    const shown = new Map(prompt.arguments.map(({ description, name, required }) => [
      name,
      { name: HiddenText.brief(name, maxName), description: HiddenText.brief(description, maxDescription), required }
    ]))
    const names = Array.from(shown.values(), ({ name }) => name)

    const invalid = (path: string, detail: string) =>
      new McpError.InvalidArguments({ server, operation: "prompts/get", path, detail })

    const read = (
      given: Readonly<Record<string, string>> | string
    ): Effect.Effect<Readonly<Record<string, string>>, McpError.InvalidArguments> => {
      const values = typeof given === "string" ? parseLine(given, names) : new Map(Object.entries(given))
      if (values === undefined) {
        return invalid(
          "",
          names.length === 0 ? "the command takes no arguments" : "there are more values than arguments"
        )
      }
      const entries: Array<readonly [string, string]> = []
      for (const [key, { name, required }] of shown) {
        const value = values.get(name) ?? values.get(key)
        if (value !== undefined) entries.push([key, value])
        else if (required) return invalid(name, "the argument is required")
      }
      const unknown = Array.from(values.keys()).find((key) => !shown.has(key) && !names.includes(key))
      if (unknown !== undefined) return invalid(unknown, "the argument is unknown")
      return Effect.succeed(Object.fromEntries(entries))
    }

    const message = (
      { content, role }: McpClient.PromptMessages["messages"][number]
    ): Effect.Effect<CommandMessage> => {
      const result = { content: [content], structuredContent: undefined, isError: false }
      return Effect.map(
        guard.render(result, { server, tool: name, kind: "prompt" }),
        ({ attachments, text }) => ({ role: role === "assistant" ? "assistant" : "user", text, attachments })
      )
    }

    return {
      name: `/${ToolName.qualify(server, name, "double")}`,
      server,
      prompt: name,
      title: HiddenText.brief(title, maxName),
      description: HiddenText.brief(description, maxDescription),
      arguments: Array.from(shown.values()),
      run: (given = {}, options) =>
        read(given).pipe(
          Effect.flatMap((args) => runtime.getPrompt(server, name, args, { origin: options?.origin ?? "person" })),
          Effect.flatMap(({ messages }) => Effect.forEach(messages, message))
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
