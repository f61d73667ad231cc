/** An application's agent as an MCP server with two tools: one starts a conversation, the other continues it. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { objectOf } from "../client/messages.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as McpServer from "./McpServer.ts"
import * as ScopedTable from "./scopedTable.ts"
import * as StdioServer from "./StdioServer.ts"

/** The agent has no response. The caller gets the reason unchanged. */
export class AgentFailed extends Data.TaggedError("AgentFailed")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** One message to the agent, and the operations until it responds. */
export interface Turn extends Pick<McpServer.Exchange, "ask" | "caller" | "log" | "progress"> {
  readonly sessionId: string
  readonly text: string
  /** Sends an event to the caller before the response. Events are dropped when the outgoing queue is full. */
  readonly tell: (event: JsonRpc.JsonObject) => void
}

/** The agent of an application. */
export class Agent extends Context.Tag("effect-mcp-runtime/server/AgentServer/Agent")<Agent, {
  /** Starts a conversation. Its scope closes when the conversation ends, expires, or fails to start. */
  readonly start: (turn: Turn) => Effect.Effect<string, AgentFailed, Scope.Scope>
  /** Runs one turn of a conversation at a time. Interrupted if the caller cancels; the conversation continues. */
  readonly reply: (turn: Turn) => Effect.Effect<string, AgentFailed>
}>() {}

export interface Options {
  /** The tool that starts a conversation; the tool that continues it is called `<name>-reply`. */
  readonly name: string
  readonly version: string
  readonly title: string | undefined
  /** The description of the first tool, for a model. */
  readonly description: string
  readonly instructions: string | undefined
  /** Concurrent conversations. */
  readonly maxSessions: number
  /** A conversation without a turn for this long ends. */
  readonly sessionTimeout: Duration.DurationInput
  /** Queued turns of one conversation. */
  readonly maxWaiting: number
  /** Characters of one message. */
  readonly maxText: number
}

export const defaults: Options = {
  name: "agent",
  version: "0.1.0",
  title: undefined,
  description: "Starts a conversation with an agent, and gives it a task.",
  instructions: undefined,
  maxSessions: 256,
  sessionTimeout: Duration.minutes(30),
  maxWaiting: 8,
  maxText: 1_000_000
}

interface Session {
  readonly principal: string | undefined
  readonly turns: Effect.Semaphore
  pending: number
}

const failed = (reason: string): AgentFailed => new AgentFailed({ reason })

const text = (description: string): JsonRpc.JsonObject => ({ type: "string", description })

const schemaOf = (properties: JsonRpc.JsonObject): JsonRpc.JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties)
})

type Run = (
  exchange: McpServer.Exchange,
  args: JsonRpc.JsonObject
) => Effect.Effect<{ readonly session_id: string; readonly response: string }, AgentFailed>

const definitions = ({ description, name, title }: Options): ReadonlyArray<JsonRpc.JsonObject> => {
  const outputSchema = schemaOf({
    session_id: text("The ID of the conversation. Pass it with the next message."),
    response: text("The response of the agent.")
  })
  const tool = (name: string, about: JsonRpc.JsonObject, properties: JsonRpc.JsonObject): JsonRpc.JsonObject => ({
    name,
    ...about,
    inputSchema: { ...schemaOf(properties), additionalProperties: false },
    outputSchema
  })
  return [
    tool(name, { ...(title === undefined ? {} : { title }), description }, { prompt: text("The task for the agent.") }),
    tool(`${name}-reply`, { description: `Continues a conversation that was started with ${name}.` }, {
      session_id: text(`The session_id of the conversation, from a result of ${name}.`),
      message: text("The next message to the agent.")
    })
  ]
}

/** The agent as an offer for `StdioServer` or `HttpEndpoint`. Its conversations end with the scope. */
export const make = (
  options?: Partial<Options>
): Effect.Effect<McpServer.Offer, never, Agent | Scope.Scope> =>
  Effect.gen(function*() {
    const agent = yield* Agent
    const all = { ...defaults, ...options }
    const { instructions, maxSessions, maxText, maxWaiting, name, title, version } = all
    const sessions = yield* ScopedTable.make<Session>({
      max: maxSessions,
      timeout: all.sessionTimeout,
      isBusy: ({ pending }) => pending > 0,
      evicts: false
    })
    const full = failed(
      `The limit of ${maxSessions} conversations is reached. Continue one of them, or try again later.`
    )
    const event = `${name}/event`

    const turn = (
      { ask, caller, log, notify, progress }: McpServer.Exchange,
      sessionId: string,
      text: string
    ): Turn => {
      const takesEvents = Object.hasOwn(objectOf(caller.capabilities["experimental"]), event)
      return {
        ask,
        caller,
        log,
        progress,
        sessionId,
        text,
        tell: (data) => {
          const params = { session_id: sessionId, event: data }
          if (takesEvents) notify(event, params)
          else log({ level: "info", logger: name, data: params })
        }
      }
    }

    const textOf = (args: JsonRpc.JsonObject, key: string): Effect.Effect<string, AgentFailed> => {
      const value = args[key]
      if (typeof value !== "string" || value.trim() === "") {
        return failed(`Invalid arguments: ${key} must be a string that is not empty`)
      }
      return value.length > maxText
        ? failed(`Invalid arguments: ${key} has ${value.length} characters (limit: ${maxText})`)
        : Effect.succeed(value)
    }

    const start: Run = (exchange, args) =>
      Effect.flatMap(textOf(args, "prompt"), (prompt) =>
        sessions.open((id) =>
          Effect.map(agent.start(turn(exchange, id, prompt)), (response) => {
            const session = { principal: exchange.caller.principal, turns: Effect.unsafeMakeSemaphore(1), pending: 0 }
            return [session, { session_id: id, response }]
          }), full))

    const reply: Run = (exchange, args) =>
      Effect.gen(function*() {
        const id = yield* textOf(args, "session_id")
        const message = yield* textOf(args, "message")
        const session = sessions.find(id)
        // the same answer for a conversation of another caller, because its existence is private
        if (session === undefined || session.principal !== exchange.caller.principal) {
          return yield* failed("Conversation not found or expired. Start a new one.")
        }
        if (session.pending > maxWaiting) {
          return yield* failed(`The limit of ${maxWaiting} waiting messages is reached. Wait for a response.`)
        }
        const response = yield* Effect.acquireUseRelease(
          Effect.sync(() =>
            session.pending++
          ),
          () => session.turns.withPermits(1)(Effect.suspend(() => agent.reply(turn(exchange, id, message)))),
          () =>
            Effect.sync(() => {
              session.pending--
              sessions.find(id)
            })
        )
        return { session_id: id, response }
      })

    const call: McpServer.Handler = (exchange) => {
      const { arguments: args, name: tool } = exchange.params
      const run = tool === name ? start : tool === `${name}-reply` ? reply : undefined
      if (run === undefined) {
        return McpServer.invalidParams(`Unknown tool: ${String(tool).slice(0, 128)}`)
      }
      const content = (text: string) => [{ type: "text", text }]
      return Effect.match(run(exchange, objectOf(args)), {
        onFailure: ({ reason }): JsonRpc.JsonObject => ({ content: content(reason), isError: true }),
        onSuccess: (result) => ({ content: content(result.response), structuredContent: { ...result } })
      })
    }

    const tools = definitions(all)
    const handlers = new Map<string, McpServer.Handler>([
      ["tools/list", () => Effect.succeed({ tools })],
      ["tools/call", call],
      ["resources/list", () => Effect.succeed({ resources: [] })],
      ["resources/templates/list", () => Effect.succeed({ resourceTemplates: [] })],
      ["prompts/list", () => Effect.succeed({ prompts: [] })]
    ])
    return {
      info: { name, version, title },
      instructions,
      capabilities: { tools: {}, resources: {}, prompts: {}, logging: {}, experimental: { [event]: {} } },
      open: () => Effect.succeed({ handlers, hints: () => ({ ttlMs: 3_600_000, cacheScope: "public" }) })
    }
  })

/** The agent over the stdin and stdout of this process. */
export const layerStdio = (
  options?: Partial<Options>,
  limits?: Partial<McpServer.Limits>
): Layer.Layer<StdioServer.StdioServer, never, Agent | StdioServer.StdioLink> =>
  StdioServer.layer(make(options), limits)
