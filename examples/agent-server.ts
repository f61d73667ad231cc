/**
 * An agent as an MCP server with two tools, `cocode` and `cocode-reply`. `npm run example agent-server` serves it over
 * stdio, and with `--http` over HTTP on localhost.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeHttpListener from "effect-mcp-runtime/node/NodeHttpListener"
import * as NodeStdioLink from "effect-mcp-runtime/node/NodeStdioLink"
import * as AgentServer from "effect-mcp-runtime/server/AgentServer"
import * as StdioServer from "effect-mcp-runtime/server/StdioServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"

/** An agent without a model: it remembers the messages of each conversation. */
const AgentLive = Layer.effect(
  AgentServer.Agent,
  Effect.gen(function*() {
    const memories = yield* Ref.make<ReadonlyMap<string, ReadonlyArray<string>>>(new Map())
    const remember = ({ sessionId, tell, text }: AgentServer.Turn) =>
      Effect.map(
        Ref.updateAndGet(memories, (all) => new Map(all).set(sessionId, [...(all.get(sessionId) ?? []), text])),
        (all) => {
          const told = all.get(sessionId) ?? []
          tell({ type: "remembered", things: told.length })
          return `I know ${told.length === 1 ? "one thing" : `${told.length} things`}: ${told.join("; ")}`
        }
      )
    return {
      // the scope closes when the conversation ends
      start: (turn) =>
        Effect.zipRight(
          Effect.addFinalizer(() =>
            Ref.update(memories, (all) => new Map(Array.from(all).filter(([id]) => id !== turn.sessionId)))
          ),
          remember(turn)
        ),
      reply: remember
    }
  })
)

const options = { name: "cocode", version: "1.0.0", description: "Gives a task to the agent." }

const overStdio = Effect.provide(
  Effect.flatMap(StdioServer.StdioServer, ({ ended }) => ended),
  // the link is built first and reserves stdout for the protocol; other output goes to stderr
  Layer.provide(AgentServer.layerStdio(options), Layer.provideMerge(AgentLive, NodeStdioLink.layer))
)

const overHttp = Effect.provide(
  Effect.flatMap(
    NodeHttpListener.NodeHttpListener,
    ({ url }) => Effect.zipRight(Effect.logInfo(`Serving at ${url}`), Effect.never)
  ),
  NodeHttpListener.layer(AgentServer.make(options)).pipe(Layer.provide(AgentLive))
)

NodeRuntime.runMain(process.argv.includes("--http") ? overHttp : overStdio)
