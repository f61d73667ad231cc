/** An application's agent as an MCP server with two tools: one begins a conversation, one goes on with it. */
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Agent from "./Agent.ts"
import * as internal from "./internal/agentOffer.ts"
import type * as McpServer from "./McpServer.ts"
import type * as StdioLink from "./StdioLink.ts"
import * as StdioServer from "./StdioServer.ts"

export interface Options {
  /** The tool that begins a conversation; the one that goes on with it is called `<name>-reply`. */
  readonly name: string
  readonly version: string
  readonly title: string | undefined
  /** What a model is told of the first tool. */
  readonly description: string
  readonly instructions: string | undefined
  /** Conversations at once. */
  readonly maxSessions: number
  /** A conversation in which nobody has said anything for so long is forgotten. */
  readonly sessionTimeout: Duration.DurationInput
  /** Turns of one conversation that may wait for the one under way. */
  readonly maxWaiting: number
  /** Characters of what is said to the agent. */
  readonly maxText: number
}

export const defaults: Options = {
  name: "agent",
  version: "0.1.0",
  title: undefined,
  description: "Gives a task to an agent, in a new conversation.",
  instructions: undefined,
  maxSessions: 256,
  sessionTimeout: Duration.minutes(30),
  maxWaiting: 8,
  maxText: 1_000_000
}

/** What the agent offers, for `StdioServer` or `HttpEndpoint`. Conversations end with the scope. */
export const make = (
  options?: Partial<Options>
): Effect.Effect<McpServer.Offer, never, Agent.Agent | Scope.Scope> => internal.make({ ...defaults, ...options })

/** The agent for the program that has started this one. */
export const layerStdio = (
  options?: Partial<Options>,
  limits?: Partial<McpServer.Limits>
): Layer.Layer<StdioServer.StdioServer, never, Agent.Agent | StdioLink.StdioLink> =>
  StdioServer.layer(make(options), limits)
