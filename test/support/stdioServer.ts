/**
 * The fixture server of `fixtures/process`, opened with the real transport and driven by hand.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import * as Limits from "../../src/config/Limits.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as Teardown from "../../src/resilience/Teardown.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as StdioTransport from "../../src/transport/StdioTransport.ts"
import type * as Transport from "../../src/transport/Transport.ts"
import * as Configs from "./configs.ts"
import * as RecordingSink from "./recordingSink.ts"

export const script = fileURLToPath(new URL("../fixtures/process/server.mjs", import.meta.url))

export const server = (flags: ReadonlyArray<string> = [], more?: Partial<ServerConfig.StdioInput>) =>
  Configs.stdio({ name: "fixture", command: process.execPath, args: [script, ...flags], ...more })

const graces = { stdinGrace: "400 millis", termGrace: "400 millis" } as const

export const live = (limits: Partial<Limits.Limits> = {}, variables?: Readonly<Record<string, string>>) => {
  const settings = variables === undefined
    ? Limits.layer(limits)
    : Layer.merge(Limits.layer(limits), HostEnvironment.layer(variables))
  return StdioTransport.layer.pipe(Layer.provideMerge(Teardown.layer(graces)), Layer.provideMerge(settings))
}

export const open = Effect.fnUntraced(function*(config: ServerConfig.StdioServer) {
  const { open } = yield* StdioTransport.StdioTransport
  const transport = yield* open(config)
  const told = yield* RecordingSink.make
  transport.start(told.sink)
  return { transport, ...told }
})

export const request = (id: JsonRpc.Id, method: string, params: JsonRpc.JsonObject = {}): JsonRpc.Request => ({
  jsonrpc: "2.0",
  id,
  method,
  params
})

export const send = (transport: Transport.Transport, message: JsonRpc.Message) =>
  Effect.sync(() => {
    const error = transport.send(message)
    assert.isUndefined(error, error?.message)
  })

export const resultOf = (message: JsonRpc.Incoming): { readonly [key: string]: unknown } =>
  message["result"] as { readonly [key: string]: unknown }

export const folder = () => mkdtempSync(join(tmpdir(), "stdio-test-"))
