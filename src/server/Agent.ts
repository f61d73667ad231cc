/** What an application provides to be served as an agent: how it begins a conversation, and how it goes on. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as McpServer from "./McpServer.ts"

/** Why an agent has no response; the caller is told the reason as it is. */
export class AgentFailed extends Data.TaggedError("AgentFailed")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** What somebody says to the agent, and what the agent can do while it thinks. */
export interface Turn extends Pick<McpServer.Exchange, "ask" | "caller" | "log" | "progress"> {
  readonly sessionId: string
  readonly text: string
  /** Tells the caller what happens, beside the response. What there is no room for is lost. */
  readonly tell: (event: JsonRpc.JsonObject) => void
}

/** The agent of an application. */
export class Agent extends Context.Tag("effect-mcp-runtime/server/Agent")<Agent, {
  /**
   * Begins a conversation. The scope is the conversation's: it closes when that ends, is forgotten, or could not begin.
   */
  readonly start: (turn: Turn) => Effect.Effect<string, AgentFailed, Scope.Scope>
  /** One turn of a conversation at a time. Interrupted if the caller cancels; the conversation goes on. */
  readonly reply: (turn: Turn) => Effect.Effect<string, AgentFailed>
}>() {}
