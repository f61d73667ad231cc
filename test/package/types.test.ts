import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Compiler from "../support/compiler.ts"
import { root } from "./project.ts"

const folder = fileURLToPath(new URL(`build/types-${process.pid}`, root))

beforeAll(() => mkdirSync(folder, { recursive: true }))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const errors = (program: string): Promise<ReadonlyArray<string>> => {
  writeFileSync(join(folder, "program.ts"), program)
  return Compiler.errorsIn(folder)
}

describe("permissions.otherwise", () => {
  it("compiles with some of its origins, wherever permissions are an option", async () => {
    const program = `
import { Permissions } from "effect-mcp-runtime"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import * as NodeMcpServe from "effect-mcp-runtime/node/NodeMcpServe"

const permissions = { otherwise: { model: "allow" } } as const
export const all = [
  Permissions.layer({ otherwise: { model: "allow" } }),
  Permissions.layer({ otherwise: {} }),
  Permissions.make({ otherwise: { program: "deny", person: undefined } }),
  NodeMcpRuntime.layer({ servers: [], permissions: { otherwise: { model: "deny" } } }),
  NodeMcpRuntime.layerConfigured({ permissions }),
  NodeMcpServe.layerRuntimes({ servers: [], permissions }),
  NodeMcpServe.layerRuntimesDiscovered({ permissions })
]
const stated: Permissions.Options["otherwise"] = { person: "ask" }
export const more = Permissions.layer({ otherwise: stated })
`
    assert.deepStrictEqual(await errors(program), [])
  }, 60_000)

  it("does not compile with an origin or a decision that does not exist", async () => {
    const wrong = await errors(`
import { Permissions } from "effect-mcp-runtime"
export const origin = Permissions.layer({ otherwise: { robot: "allow" } })
export const decision = Permissions.layer({ otherwise: { model: "maybe" } })
`)
    assert.deepStrictEqual(wrong.map((line) => /error (TS\d+)/.exec(line)?.[1]), ["TS2353", "TS2322"])
  }, 60_000)
})

describe("NodeMcpRuntime.layer", () => {
  it("has RequiredServersFailed among its errors only if a server may be required", async () => {
    const wrong = await errors(`
import { Effect, Layer } from "effect"
import { McpError, McpRuntime, ServerConfig } from "effect-mcp-runtime"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
declare const found: ReadonlyArray<ServerConfig.ServerConfig>
declare const lazy: boolean
const files = ServerConfig.stdio({ name: "files", command: "npx", lazy })
const docs = ServerConfig.http({ name: "docs", url: "https://mcp.example.com/mcp", required: false })
const needed = ServerConfig.http({ name: "needed", url: "https://mcp.example.com/mcp", required: true })
type Invalid = McpError.ConfigurationError
export const none: Layer.Layer<NodeMcpRuntime.Services, Invalid> = NodeMcpRuntime.layer({ servers: [] })
export const two: Layer.Layer<NodeMcpRuntime.Services, Invalid> = NodeMcpRuntime.layer({ servers: [files, docs] })
export const core: Layer.Layer<McpRuntime.McpRuntime, Invalid, McpRuntime.Requirements> = McpRuntime.layer({ servers: [files] })
export const three: Layer.Layer<NodeMcpRuntime.Services, Invalid> = NodeMcpRuntime.layer({ servers: [files, needed] })
export const some: Layer.Layer<NodeMcpRuntime.Services, Invalid> = NodeMcpRuntime.layer({ servers: found })
export const wide: Layer.Layer<McpRuntime.McpRuntime, Invalid, McpRuntime.Requirements> = McpRuntime.layer({ servers: found })
export const made: Effect.Effect<ServerConfig.StdioServer, Invalid> = files
`)
    assert.deepStrictEqual(
      wrong.map((line) => /error (TS\d+)/.exec(line)?.[1]),
      ["TS2322", "TS2322", "TS2322"],
      wrong.join("\n")
    )
  }, 60_000)
})

describe("NodeMcpRuntime.using", () => {
  const imports = `
import * as NodeKeyValueStore from "@effect/platform-node/NodeKeyValueStore"
import { Context, Layer, Logger, Schedule } from "effect"
import {
  Approval, CircuitBreaker, ConfigDiscovery, InputHandlers, Limits, McpEvent,
  OutputGuard, Permissions, ReconnectPolicy, Redaction, RuntimeMetrics, Spill, Teardown, TokenStore, Tokens, ToolCache, ToolHandler, ToolPins, ToolSearch, Trust
} from "effect-mcp-runtime"
import { MemoryTransport } from "effect-mcp-runtime/testing"
import * as NodeAgent from "effect-mcp-runtime/node/NodeAgent"
import * as NodeConnector from "effect-mcp-runtime/node/NodeConnector"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import * as NodeTokenStore from "effect-mcp-runtime/node/NodeTokenStore"
const { using } = NodeMcpRuntime
`

  it("takes every documented layer, with what it fails with and what it needs", async () => {
    const program = `${imports}
export const fit = [
  using(Approval.layerNone),
  using(CircuitBreaker.layerNone),
  using(ConfigDiscovery.layerStatic([])),
  using(ConfigDiscovery.layerFiles()),
  using(InputHandlers.layer({})),
  using(Limits.layer({})),
  using(Limits.layerConfig),
  using(McpEvent.layer),
  using(MemoryTransport.layer({})),
  using(NodeConnector.layer()),
  using(NodeConnector.layerSdk()),
  using(NodeConnector.layerTransports()),
  using(NodeTokenStore.layer({ backend: "keyring" })),
  using(Permissions.layer()),
  using(Permissions.layerNone),
  using(ReconnectPolicy.layer({ schedule: Schedule.recurs(1) })),
  using(ReconnectPolicy.layerNone),
  using(Redaction.layerNone),
  using(RuntimeMetrics.layerNone),
  using(Teardown.layer()),
  using(Teardown.layerImmediate),
  using(TokenStore.layerMemory),
  using(ToolCache.layer()),
  using(ToolCache.layerPersisted()),
  using(ToolPins.layerNone),
  using(Trust.layerAll()),
  using(Layer.mergeAll(Teardown.layer(), McpEvent.layer, CircuitBreaker.layerNone))
]
export const agent = [
  NodeAgent.using(OutputGuard.layer()),
  NodeAgent.using(Spill.layerMemory()),
  NodeAgent.using(Tokens.layerTiktoken()),
  NodeAgent.using(ToolSearch.layer())
]
export const closed: Layer.Layer<NodeMcpRuntime.Services, NodeMcpRuntime.Failure> = NodeMcpRuntime.layer({ servers: [] }).pipe(
  using(NodeConnector.layerTransports()),
  using(ToolCache.layerPersisted().pipe(Layer.provide(NodeKeyValueStore.layerFileSystem("tools")), Layer.orDie)),
  using(NodeConnector.layer())
)
`
    assert.deepStrictEqual(await errors(program), [])
  }, 60_000)

  it("does not compile with a layer that replaces nothing", async () => {
    const wrong = await errors(`${imports}
class Own extends Context.Tag("app/Own")<Own, { readonly own: true }>() {}
const own = Layer.succeed(Own, { own: true })
export const unrelated = using(own)
export const merged = using(Layer.merge(own, Teardown.layer()))
export const another = using(Tokens.layerEstimate)
export const service = using(ToolHandler.layer())
export const agent = NodeAgent.using(Teardown.layer())
export const option = NodeMcpRuntime.layer({ servers: [], replace: Teardown.layer() })
`)
    assert.deepStrictEqual(
      wrong.map((line) => /error (TS\d+)/.exec(line)?.[1]),
      ["TS2345", "TS2345", "TS2345", "TS2345", "TS2345", "TS2353"],
      wrong.join("\n")
    )
  }, 60_000)
})
