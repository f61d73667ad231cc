/** The two tools of an agent, and the conversations that they go on with. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import * as Agent from "../Agent.ts"
import type * as AgentServer from "../AgentServer.ts"
import type * as McpServer from "../McpServer.ts"
import * as AgentSessions from "./agentSessions.ts"
import * as Exchange from "./exchange.ts"

const output: JsonRpc.JsonObject = {
  type: "object",
  properties: {
    session_id: { type: "string", description: "The identifier of the conversation, for the next message." },
    response: { type: "string", description: "What the agent says." }
  },
  required: ["session_id", "response"]
}

const text = (description: string): JsonRpc.JsonObject => ({ type: "string", description })

const failed = (reason: string): JsonRpc.JsonObject => ({ content: [{ type: "text", text: reason }], isError: true })

const said = (sessionId: string, response: string): JsonRpc.JsonObject => ({
  content: [{ type: "text", text: response }],
  structuredContent: { session_id: sessionId, response }
})

/** @internal */
export const make = (
  options: AgentServer.Options
): Effect.Effect<McpServer.Offer, never, Agent.Agent | Scope.Scope> =>
  Effect.gen(function*() {
    const agent = Context.get(yield* Effect.context<Agent.Agent>(), Agent.Agent)
    const sessions = yield* AgentSessions.make(options)
    const { name } = options
    const replyName = `${name}-reply`
    const eventName = `${name}/event`

    const tools: ReadonlyArray<JsonRpc.JsonObject> = [
      {
        name,
        ...(options.title === undefined ? {} : { title: options.title }),
        description: options.description,
        inputSchema: {
          type: "object",
          properties: { prompt: text("What the agent is to do.") },
          required: ["prompt"],
          additionalProperties: false
        },
        outputSchema: output
      },
      {
        name: replyName,
        description: `Goes on with a conversation that ${name} has begun.`,
        inputSchema: {
          type: "object",
          properties: {
            session_id: text(`The session_id of the conversation, from a result of ${name}.`),
            message: text("What is said to the agent next.")
          },
          required: ["session_id", "message"],
          additionalProperties: false
        },
        outputSchema: output
      }
    ]

    const turn = (exchange: McpServer.Exchange, sessionId: string, text: string): Agent.Turn => {
      const { ask, caller, log, notify, progress } = exchange
      const experimental = Exchange.objectOf(caller.capabilities["experimental"])
      const hears = Object.hasOwn(experimental, eventName)
      return {
        ask,
        caller,
        log,
        progress,
        sessionId,
        text,
        tell: (event) =>
          hears
            ? notify(eventName, { session_id: sessionId, event })
            : log({ level: "info", logger: name, data: { session_id: sessionId, event } })
      }
    }

    const worded = (args: JsonRpc.JsonObject, key: string): Effect.Effect<string, Agent.AgentFailed> => {
      const value = args[key]
      if (typeof value !== "string" || value.trim() === "") {
        return Effect.fail(new Agent.AgentFailed({ reason: `Invalid arguments: ${key} must be a text` }))
      }
      return value.length > options.maxText
        ? Effect.fail(
          new Agent.AgentFailed({
            reason: `Invalid arguments: ${key} is longer than ${options.maxText} characters`
          })
        )
        : Effect.succeed(value)
    }

    const start = (exchange: McpServer.Exchange, args: JsonRpc.JsonObject) =>
      Effect.flatMap(worded(args, "prompt"), (prompt) =>
        Effect.map(
          sessions.begin(exchange.caller.principal, (id) => agent.start(turn(exchange, id, prompt))),
          ({ id, response }) => said(id, response)
        ))

    const reply = (exchange: McpServer.Exchange, args: JsonRpc.JsonObject) =>
      Effect.gen(function*() {
        const id = yield* worded(args, "session_id")
        const message = yield* worded(args, "message")
        const response = yield* sessions.continued(
          id,
          exchange.caller.principal,
          Effect.suspend(() => agent.reply(turn(exchange, id, message)))
        )
        return said(id, response)
      })

    const call: McpServer.Handler = (exchange) => {
      const { arguments: given, name: tool } = exchange.params
      const args = Exchange.objectOf(given)
      const answer = tool === name ? start : tool === replyName ? reply : undefined
      return answer === undefined
        ? Effect.fail(Exchange.invalidParams(`Unknown tool: ${String(tool).slice(0, 128)}`))
        : Effect.catchTag(answer(exchange, args), "AgentFailed", ({ reason }) => Effect.succeed(failed(reason)))
    }

    const listed = (field: string, items: ReadonlyArray<JsonRpc.JsonObject>): McpServer.Handler => () =>
      Effect.succeed({ [field]: items })

    const handlers: ReadonlyMap<string, McpServer.Handler> = new Map([
      ["tools/list", listed("tools", tools)],
      ["tools/call", call],
      ["resources/list", listed("resources", [])],
      ["resources/templates/list", listed("resourceTemplates", [])],
      ["prompts/list", listed("prompts", [])]
    ])

    return {
      info: { name, version: options.version, title: options.title },
      instructions: options.instructions,
      capabilities: {
        tools: {},
        resources: {},
        prompts: {},
        logging: {},
        experimental: { [eventName]: {} }
      },
      attend: () => Effect.succeed({ handlers, hints: () => ({ ttlMs: 3_600_000, cacheScope: "public" }) })
    }
  })
