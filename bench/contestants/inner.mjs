/** A connection that answers immediately without I/O, so that only the work of the client is measured. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"

const tool = (index) => ({ name: index === 0 ? "echo" : `tool_${index}`, inputSchema: { type: "object" } })

const answers = {
  "tools/call": { content: [{ type: "text", text: "hello" }] },
  "tools/list": { tools: Array.from({ length: 10 }, (_, index) => tool(index)) }
}

/**
 * A `Connector` of such connections, for `NodeMcpRuntime.using`. The answer comes in a microtask, because no server
 * answers before it is asked: the fiber is suspended and resumed, as it is by a real answer.
 */
export const layer = (modules) => {
  const { Connector, Limits, McpClient, McpError } = modules
  const channel = (server) => ({
    server,
    transport: "memory",
    limits: Limits.defaults,
    era: "session",
    protocolVersion: "2025-11-25",
    serverInfo: { name: "inner", version: "1" },
    capabilities: { tools: {} },
    instructions: undefined,
    request: (method) =>
      Effect.async((resume) => {
        const answer = answers[method]
        const settled = answer === undefined
          ? Either.left(new McpError.RemoteError({ server, code: -32601, detail: "no such method" }))
          : Either.right(answer)
        queueMicrotask(() => resume(settled))
      }),
    notify: () => Effect.void,
    onNotification: () => () => undefined,
    watch: () => Effect.void,
    health: Effect.void,
    ended: Effect.never,
    onEnded: () => () => undefined,
    onPaused: () => () => undefined,
    setLogLevel: () => Effect.void,
    stderrTail: Effect.sync(() => undefined),
    tasks: undefined
  })
  return Layer.succeed(Connector.Connector, { connect: (config) => McpClient.make(channel(config.name)) })
}
