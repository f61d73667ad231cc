/**
 * What an agent gets of MCP beside the tools of servers: tools of our own to list and read resources and to read on in
 * long outputs, prompts as commands, and the servers' instructions.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as McpClient from "../client/McpClient.ts"
import type * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import type * as OutputGuard from "../safety/OutputGuard.ts"
import type * as Permissions from "../safety/Permissions.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import * as internal from "./internal/agentTools.ts"
import type * as ToolHandler from "./ToolHandler.ts"

/**
 * The tools of our own. `mcp_search` is not among them: `SearchSessions` decides when there is one.
 *
 * @since 0.1.0
 * @category models
 */
export type Name = "list_mcp_resources" | "read_mcp_resource" | "mcp_read_output"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Which of them are offered. */
  readonly tools: Readonly<Record<Name, boolean>>
  /** How many resources a page has. */
  readonly pageSize: number
  /** Characters of one server's instructions. */
  readonly maxInstructions: number
  /** Servers whose instructions nobody gets. */
  readonly withoutInstructions: ReadonlyArray<string>
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = {
  tools: { list_mcp_resources: true, read_mcp_resource: true, mcp_read_output: true },
  pageSize: 50,
  maxInstructions: 8192,
  withoutInstructions: []
}

/**
 * What a tool of our own says to a model.
 *
 * @since 0.1.0
 * @category models
 */
export interface Answer extends Pick<ToolHandler.Output, "text" | "attachments" | "isError"> {}

/**
 * A tool of our own.
 *
 * @since 0.1.0
 * @category models
 */
export interface AgentTool {
  readonly definition: ToolHandler.Definition
  /** For a model: what it reads has to be permitted to a model. */
  readonly run: (args: McpClient.Arguments) => Effect.Effect<Answer, McpError.RuntimeError>
}

/**
 * A message of a prompt. Its text is labelled as its server's.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandMessage extends Pick<ToolHandler.Output, "text" | "attachments"> {
  readonly role: "user" | "assistant"
}

/**
 * A prompt of a server, as a command that a person gives.
 *
 * @since 0.1.0
 * @category models
 */
export interface Command {
  /** `/mcp__server__prompt`. */
  readonly name: string
  readonly server: string
  readonly prompt: string
  readonly title: string | undefined
  readonly description: string | undefined
  readonly arguments: ReadonlyArray<{
    readonly name: string
    readonly description: string | undefined
    readonly required: boolean
  }>
  /**
   * With arguments by their names, or with what was written behind the command: words in the order of the arguments, in
   * quotes where they have spaces, or `name=value`; the last argument takes what is left.
   */
  readonly run: (
    args?: Readonly<Record<string, string>> | string,
    options?: McpRuntime.RequestOptions
  ) => Effect.Effect<ReadonlyArray<CommandMessage>, McpError.RuntimeError>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Commands {
  readonly commands: ReadonlyArray<Command>
  readonly missing: ReadonlyArray<ToolCatalog.Missing>
}

/**
 * What the connected servers say about how to use them.
 *
 * @since 0.1.0
 * @category models
 */
export interface Instructions {
  /** Of each server that has any, in the order of their names: labelled, and the same text as long as they are the same. */
  readonly sections: ReadonlyArray<{ readonly server: string; readonly text: string }>
  /** The sections that were not there before, or otherwise; all of them if there was no before. */
  readonly changed: ReadonlyArray<{ readonly server: string; readonly text: string }>
  /** The servers whose instructions hold no longer. */
  readonly removed: ReadonlyArray<string>
  /** All sections, as one text for a model; empty if there are none. */
  readonly text: string
}

/**
 * @since 0.1.0
 * @category tags
 */
export class AgentTools extends Context.Tag("effect-mcp-runtime/agent/AgentTools")<AgentTools, {
  /** Those that are offered, in a stable order. */
  readonly tools: () => ReadonlyArray<AgentTool>
  /** The prompts of all servers. A person gives commands, unless the options of `run` say otherwise. */
  readonly commands: Effect.Effect<Commands>
  /** Compared with what was given out before, if that is given. */
  readonly instructions: (since?: Instructions) => Effect.Effect<Instructions>
}>() {}

/**
 * @since 0.1.0
 * @category models
 */
export type Requirements = McpRuntime.McpRuntime | OutputGuard.OutputGuard | Permissions.Permissions

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options?: Partial<Omit<Options, "tools">> & { readonly tools?: Partial<Options["tools"]> | undefined }
): Effect.Effect<AgentTools["Type"], never, Requirements> =>
  internal.make({ ...defaults, ...options, tools: { ...defaults.tools, ...options?.tools } })

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Parameters<typeof make>[0]): Layer.Layer<AgentTools, never, Requirements> =>
  Layer.effect(AgentTools, make(options))
