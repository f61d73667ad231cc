/**
 * Programs by other authors (`programs.mjs`) against `mcp-runtime serve` and the example of a served agent: `npm run
 * clients`. The clients of the SDKs and of the AI SDK are in `npm run test:programs`; `MCP_CLIENTS=all` runs them in all
 * combinations. Needs `npm run build`.
 */
import { execFile, spawn } from "node:child_process"
import assert from "node:assert/strict"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as Programs from "./programs.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const bin = join(root, "dist/bin/mcp-runtime.cjs")
const peer = join(root, "test/fixtures/peers/stdio.mjs")
const agent = join(root, "build/examples/agent-server.js")
const token = "a-token-for-these-clients"

const exec = promisify(execFile)

const run = (command, args, options = {}) =>
  exec(command, args, { cwd: root, timeout: 120_000, maxBuffer: 64 * 1024 * 1024, ...options })

const folder = mkdtempSync(join(tmpdir(), "mcp-clients-"))
const children = []

const env = {
  PATH: process.env.PATH,
  HOME: folder,
  XDG_CACHE_HOME: folder,
  XDG_CONFIG_HOME: folder,
  XDG_DATA_HOME: folder,
  XDG_STATE_HOME: folder,
  MCP_RUNTIME_TOKEN: token,
  MCP_INSPECTOR_SECRET_STORE: "memory"
}

const write = (name, servers) => {
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify({ mcpServers: servers }))
  return file
}

/** A program that prints the address on which it listens. */
const listening = (args) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] })
    children.push(child)
    const hear = (line) => {
      const [url] = /http:[^\s"]+/.exec(line) ?? []
      if (url !== undefined) resolve(url)
    }
    for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on("line", hear)
    child.once("exit", (code) => reject(new Error(`${args.join(" ")} ended with ${code}`)))
  })

const mcporter = (config) => async (...args) => {
  const { stdout } = await run(process.execPath, [Programs.mcporter, "--config", config, ...args], { cwd: folder, env })
  return stdout
}

const inspector = (config, server) => async (method, ...args) => {
  const words = [Programs.inspector, "--cli", "--config", config, "--server", server, "--format", "json", "--quiet"]
  // that a tool has failed is an exit code
  const { stdout } = await run(process.execPath, [...words, "--method", method, ...args], { cwd: folder, env })
    .catch((error) => error.stdout ? error : Promise.reject(error))
  const answer = JSON.parse(stdout)
  return answer.result ?? answer
}

const failures = []

const check = async (name, work) => {
  try {
    await work()
    console.log(`ok     ${name}`)
  } catch (error) {
    failures.push(name)
    console.log(`FAILED ${name}\n${error.stack}\n${error.stdout ?? ""}${error.stderr ?? ""}`)
  }
}

const gatewayTools = ["mcp__old__echo", "mcp__new__echo"]

const texts = ({ content }) => content.map(({ text, type }) => text ?? type)

const withMcporter = async (config, way) => {
  const ask = mcporter(config)
  const name = (what) => `mcporter ${Programs.versions.mcporter}, ${way}: ${what}`
  await check(name("lists the tools of the gateway"), async () => {
    const { tools } = JSON.parse(await ask("list", `gateway-${way}`, "--json"))
    for (const tool of gatewayTools) assert.ok(tools.some((one) => one.name === tool), tool)
  })
  for (const tool of gatewayTools) {
    await check(name(`calls ${tool}`), async () =>
      assert.equal((await ask("call", `gateway-${way}.${tool}`, "value=hello")).trim(), "hello"))
  }
  await check(name("gets an image"), async () => {
    const { content } = JSON.parse(await ask("call", `gateway-${way}.mcp__new__kinds`, "--output", "json"))
    assert.ok(content.some(({ mimeType, type }) => type === "image" && mimeType === "image/png"))
  })
  await check(name("gets an error as a result"), async () => {
    assert.match(await ask("call", `gateway-${way}.mcp__old__fail`, "why=because", "--output", "raw"), /because/)
  })
  await check(name("begins a conversation with the agent"), async () =>
    assert.match(await ask("call", `agent-${way}.cocode`, "prompt=the sky is blue"), /one thing: the sky is blue/))
}

/**
 * With the entry that `serve --print-config` prints, and no other flag: these clients cannot ask a person. The entry starts
 * the package as it was built here, because npx would install the published one.
 */
const asPrinted = async (servers) => {
  const { stdout } = await run(process.execPath, [bin, "serve", "--print-config", "cursor", "--config", servers], { env })
  const [name, { args: [yes, packageName, ...args], command }] = Object.entries(JSON.parse(stdout).mcpServers)[0]
  await check("the printed entry starts the package with npx", async () =>
    assert.deepEqual([command, yes, packageName], ["npx", "-y", "effect-mcp-runtime"]))
  const gateway = (...flags) => ({ command: process.execPath, args: [bin, ...args, ...flags], env })
  const config = write("printed.json", { [name]: gateway() })

  const ask = mcporter(config)
  const add = async (...flags) =>
    mcporter(write("unattended.json", { gateway: gateway(...flags) }))(
      "call",
      "gateway.mcp__old__add",
      "a=1",
      "b=2",
      "--output",
      "raw"
    ).catch(({ stdout }) => stdout)
  await check(`mcporter ${Programs.versions.mcporter}, as printed: calls a read-only tool`, async () =>
    assert.equal((await ask("call", `${name}.mcp__old__echo`, "value=hello")).trim(), "hello"))
  await check(`mcporter ${Programs.versions.mcporter}, as printed: gets the flag that allows another tool`, async () => {
    const [flag] = /--allow [^\s,]+/.exec(await add()) ?? []
    assert.equal(flag, "--allow old/add")
    assert.match(await add(...flag.split(" ")), /3/)
  })

  const inspected = inspector(config, name)
  const version = Programs.versions["@modelcontextprotocol/inspector"]
  await check(`inspector ${version} --cli, as printed: calls a read-only tool`, async () => {
    const words = ["--tool-name", "mcp__old__echo", "--tool-args-json", JSON.stringify({ value: "hello" })]
    assert.deepEqual(texts(await inspected("tools/call", ...words)), ["hello"])
  })

  await check(`LangChain's adapters ${Programs.versions["@langchain/mcp-adapters"]}, as printed: call a read-only tool`, async () => {
    const { MultiServerMCPClient } = await import(Programs.langChain)
    const client = new MultiServerMCPClient({ mcpServers: { [name]: { transport: "stdio", ...gateway() } } })
    try {
      const tools = await client.getTools()
      const echo = tools.find((tool) => tool.name === "mcp__old__echo")
      assert.equal(await echo.invoke({ value: "hello" }), "hello")
      const refused = await tools.find((tool) => tool.name === "mcp__old__add").invoke({ a: 1, b: 2 }).catch(String)
      assert.match(refused, /--allow old\/add/)
    } finally {
      await client.close()
    }
  })
}

const withInspector = async (config, way) => {
  const gateway = inspector(config, `gateway-${way}`)
  const served = inspector(config, `agent-${way}`)
  const name = (what) => `inspector ${Programs.versions["@modelcontextprotocol/inspector"]} --cli, ${way}: ${what}`
  const call = (ask, tool, args = {}) => ask("tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(args))
  await check(name("lists the tools of the gateway"), async () => {
    const { tools } = await gateway("tools/list")
    for (const tool of gatewayTools) assert.ok(tools.some((one) => one.name === tool), tool)
  })
  for (const tool of gatewayTools) {
    await check(name(`calls ${tool}`), async () =>
      assert.deepEqual(texts(await call(gateway, tool, { value: "hello" })), ["hello"]))
  }
  await check(name("gets contents of every kind"), async () => {
    const { content } = await call(gateway, "mcp__new__kinds")
    assert.deepEqual(content.map(({ type }) => type), ["text", "image", "audio", "resource", "resource_link"])
  })
  await check(name("gets an error as a result"), async () => {
    const result = await call(gateway, "mcp__old__fail", { why: "because" })
    assert.match(JSON.stringify(result), /because/)
  })
  await check(name("reads a resource"), async () => {
    const { resources } = await gateway("resources/list")
    const { uri } = resources.find((one) => one.uri.endsWith("memory://notes"))
    assert.match(JSON.stringify(await gateway("resources/read", "--uri", uri)), /some notes/)
  })
  await check(name("gets a prompt"), async () => {
    const got = await gateway("prompts/get", "--prompt-name", "mcp__new__greet", "--prompt-args", "name=Ann")
    assert.match(JSON.stringify(got), /Greet Ann, friendly/)
  })
  await check(name("begins a conversation with the agent"), async () =>
    assert.match(texts(await call(served, "cocode", { prompt: "the sky is blue" }))[0], /one thing: the sky is blue/))
  // over stdio each command is a new agent
  if (way === "http") {
    await check(name("goes on with the conversation"), async () => {
      const { structuredContent: { session_id } } = await call(served, "cocode", { prompt: "the sky is blue" })
      const { content } = await call(served, "cocode-reply", { session_id, message: "the sea is green" })
      assert.match(texts({ content })[0], /the sea is green/)
    })
  }
}

try {
  await Programs.install()
  const compiler = join(root, "node_modules/.bin/tsc")
  const as = "--ignoreConfig --noCheck --target es2022 --module esnext --moduleResolution bundler --rootDir examples"
  await run(compiler, [...as.split(" "), "--outDir", dirname(agent), "examples/agent-server.ts"])

  const servers = write("servers.json", {
    old: { command: process.execPath, args: [peer, "1.x"] },
    new: { command: process.execPath, args: [peer, "2.x"] }
  })
  await asPrinted(servers)
  const serve = [bin, "serve", "--caller-decides", "--config", servers]
  const config = write("clients.json", {
    "gateway-stdio": { command: process.execPath, args: serve, env },
    "gateway-http": {
      type: "streamable-http",
      url: await listening([...serve, "--http", "0"]),
      headers: { Authorization: `Bearer ${token}` }
    },
    "agent-stdio": { command: process.execPath, args: [agent], env },
    "agent-http": { type: "streamable-http", url: await listening([agent, "--http"]) }
  })
  for (const way of ["stdio", "http"]) {
    await withMcporter(config, way)
    await withInspector(config, way)
  }
} finally {
  for (const child of children) child.kill("SIGTERM")
  rmSync(folder, { recursive: true, force: true })
}
console.log(failures.length === 0 ? "clients: everything passed" : `clients: ${failures.length} failed`)
process.exitCode = failures.length === 0 ? 0 : 1
