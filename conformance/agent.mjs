/**
 * An agent that echoes its messages, served over HTTP: the target `agent` of `servers.mjs`. It prints its URL once it
 * listens.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeHttpListener from "effect-mcp-runtime/node/NodeHttpListener"
import * as AgentServer from "effect-mcp-runtime/server/AgentServer"

const said = ({ text }) => Effect.succeed(`You said: ${text}`)

const agent = Layer.succeed(AgentServer.Agent, { start: said, reply: said })

NodeRuntime.runMain(Effect.provide(
  Effect.flatMap(NodeHttpListener.NodeHttpListener, ({ url }) =>
    Effect.zipRight(Effect.sync(() => console.log(`Serving at ${url}`)), Effect.never)),
  Layer.provide(NodeHttpListener.layer(AgentServer.make({ name: "cocode" })), agent)
))
