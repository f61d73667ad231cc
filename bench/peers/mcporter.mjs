/** mcporter, used as in its documentation: one runtime over all servers of a cell, which connects at the first use. */
import { createRuntime } from "mcporter"
import { make } from "../contestants/promises.mjs"

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

let shared = undefined
let named = 0

export const contestant = make(async (server) => {
  shared ??= createRuntime({ servers: [], logger: silent })
  const runtime = await shared
  const name = `bench-${named++}`
  runtime.registerDefinition({
    name,
    command: server.kind === "stdio"
      ? { kind: "stdio", command: server.command, args: server.args, cwd: process.cwd() }
      : { kind: "http", url: new URL(server.url) }
  })
  await runtime.connect(name)
  return {
    call: (tool, args) => runtime.callTool(name, tool, { args }),
    tools: () => runtime.listTools(name, { includeSchema: true }),
    close: () => runtime.close(name)
  }
})
