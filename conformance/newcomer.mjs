/**
 * The first minute of a new user: `node conformance/newcomer.mjs`. Runs `list`, `doctor`, `call`, and `serve` with
 * three clients by other authors, in a home folder with configurations of Claude Desktop, Cursor and VS Code: three
 * published servers, a missing package, an HTTP server that is down, an unset token, an unanswered `${input:…}`. Prints
 * the transcript; fails if the reported cause of a broken server is wrong, or if a client cannot call a tool as the
 * banner describes. Needs `npm run build` and the npm registry.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Programs from "./programs.mjs"

const bin = fileURLToPath(new URL("../dist/bin/mcp-runtime.cjs", import.meta.url))
const folder = realpathSync(mkdtempSync(join(tmpdir(), "mcp-newcomer-")))
const home = join(folder, "home")
const workspace = join(folder, "workspace")
const files = join(folder, "files")

/** The settings that lead npm to its registry, and nothing else of this machine. */
const network = Object.entries(process.env).filter(([name]) =>
  /^(https?_proxy|no_proxy|node_extra_ca_certs|npm_config_(registry|cafile|userconfig))$/i.test(name)
)
const env = {
  ...Object.fromEntries(network),
  PATH: process.env.PATH,
  HOME: home,
  NO_COLOR: "1",
  MCP_INSPECTOR_SECRET_STORE: "memory"
}

const write = (path, content) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content, null, 2))
  return path
}

/** An HTTP server that asks for a token, and a port at which nothing listens. */
const guarded = createServer((_request, response) => {
  response.writeHead(401, { "content-type": "text/plain" }).end("a token, please")
})
const portOf = (server) =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)))
const guardedPort = await portOf(guarded)
const closed = createServer()
const closedPort = await portOf(closed)
closed.close()

const npx = (name, ...args) => ({ command: "npx", args: ["-y", name, ...args] })
const missingPackage = "@modelcontextprotocol/server-that-does-not-exist"

write(join(files, "note.txt"), "The newcomer was here.\n")
mkdirSync(workspace, { recursive: true })
write(join(home, ".config/Claude/claude_desktop_config.json"), {
  mcpServers: { files: npx("@modelcontextprotocol/server-filesystem", files), ghost: npx(missingPackage) }
})
write(join(home, ".cursor/mcp.json"), {
  mcpServers: {
    everything: npx("@modelcontextprotocol/server-everything"),
    down: { url: `http://127.0.0.1:${closedPort}/mcp` },
    tokened: {
      url: `http://127.0.0.1:${guardedPort}/mcp`,
      headers: { Authorization: "Bearer ${env:NEWCOMER_TOKEN}" }
    }
  }
})
write(join(home, ".config/Code/User/mcp.json"), {
  inputs: [{ id: "api-key", type: "promptString", description: "API key", password: true }],
  servers: {
    memory: { type: "stdio", ...npx("@modelcontextprotocol/server-memory") },
    asks: { type: "http", url: `http://127.0.0.1:${guardedPort}/mcp`, headers: { "X-Key": "${input:api-key}" } }
  }
})

const failures = []

const check = (name, holds, text) => {
  if (!holds) failures.push(name)
  console.log(holds ? `  ok      ${name}` : `  FAILED  ${name}${text === undefined ? "" : `\n${text}`}`)
}

const indented = (text) => text.trimEnd().split("\n").map((line) => `  | ${line}`).join("\n")

/** Runs a program to its end; both streams, in the order in which they came. */
const run = (command, args, cwd = workspace) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: 360_000 })
    const ran = { text: "", stdout: "" }
    child.stdout.setEncoding("utf8").on("data", (text) => {
      ran.stdout += text
      ran.text += text
    })
    child.stderr.setEncoding("utf8").on("data", (text) => {
      ran.text += text
    })
    child.once("error", reject)
    child.once("close", (code) => resolve({ ...ran, code }))
  })

const shown = (text) => text.replaceAll(folder, "…").replaceAll(String(guardedPort), "PORT").replaceAll(String(closedPort), "CLOSED")

const mcpRuntime = async (...args) => {
  console.log(`\n$ mcp-runtime ${shown(args.join(" "))}`)
  const ran = await run(process.execPath, [bin, ...args])
  console.log(`${indented(shown(ran.text))}\n  exit ${ran.code}`)
  return ran
}

const imports = ["--import", "claude-desktop", "--import", "cursor", "--import", "vscode"]

/** The true cause of each broken server, as a pattern for the text beside its name. */
const causes = {
  ghost: new RegExp(`${missingPackage}|no such package|E404`),
  down: /ECONNREFUSED|nobody listens|nothing listens|refused/,
  tokened: /NEWCOMER_TOKEN/,
  asks: /api-key/
}

/** The lines that begin with a server's name, with those below that are indented. */
const said = (text, server) => {
  const lines = text.split("\n")
  return lines.flatMap((line, at) => {
    if (!new RegExp(`(^|[ :])${server}\\b`).test(line)) return []
    const rest = lines.slice(at + 1)
    const end = rest.findIndex((one) => !/^\s/.test(one))
    return [line, ...rest.slice(0, end < 0 ? undefined : end)]
  })
}

const namesCauses = (command, text) => {
  for (const [server, cause] of Object.entries(causes)) {
    const first = said(text, server).find((line) => cause.test(line))
    check(`${command}: names the true cause of ${server}`, first !== undefined, text)
  }
  check(
    `${command}: an unset variable is not called a refused header or a login`,
    !/tokened.*(log in|auth login)|Those in its headers are refused/i.test(text),
    text
  )
  check(`${command}: shows no footer of Node or npm as the cause`, !/its stderr: .*(complete log|Node\.js v)/.test(text))
}

try {
  await Programs.install()
  const list = await mcpRuntime("list", ...imports)
  namesCauses("list", list.text)
  for (const server of ["files", "everything", "memory"]) {
    check(`list: ${server} is connected`, new RegExp(`^${server} +stdio +connected`, "m").test(list.text))
  }
  const doctor = await mcpRuntime("doctor", ...imports)
  namesCauses("doctor", doctor.text)
  const call = await mcpRuntime("call", "files/read_text_file", `path=${join(files, "note.txt")}`, ...imports)
  check("call: a tool of a good server answers", call.code === 0 && call.stdout.includes("The newcomer was here."))
  for (const server of ["ghost", "down", "tokened", "asks"]) {
    const failed = await mcpRuntime("call", `${server}/anything`, ...imports)
    check(`call: ${server}/anything fails with the true cause`, failed.code !== 0 && causes[server].test(failed.text))
  }

  const read = { tool: "mcp__files__read_text_file", args: { path: join(files, "note.txt") } }
  const made = join(files, "made.txt")
  const change = { tool: "mcp__files__write_file", args: { path: made, content: "made" } }

  /** Starts `serve` like a client with its command line in a configuration. */
  const withSdk = async (more, use) => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [bin, "serve", ...imports, ...more],
      env,
      cwd: workspace,
      stderr: "pipe"
    })
    const heard = { banner: "" }
    transport.stderr.setEncoding("utf8").on("data", (text) => {
      heard.banner += text
    })
    const client = new Client({ name: "newcomer", version: "1.0.0" })
    await client.connect(transport)
    try {
      return await use(client, heard)
    } finally {
      await client.close()
    }
  }
  const textOf = ({ content }) => content.map(({ text }) => text).join("\n")

  console.log("\n$ mcp-runtime serve   (SDK client over stdio, which cannot ask a person)")
  const flags = await withSdk([], async (client, heard) => {
    const { tools } = await client.listTools()
    check("serve: lists the tools of the three good servers", ["files", "everything", "memory"].every((server) =>
      tools.some(({ name }) => name.startsWith(`mcp__${server}__`))
    ))
    const answer = await client.callTool({ name: read.tool, arguments: read.args })
    check("serve: a read-only tool is called", textOf(answer).includes("The newcomer was here."), textOf(answer))
    const refused = await client.callTool({ name: change.tool, arguments: change.args })
    console.log(`${indented(shown(heard.banner))}\n  | (the refusal)\n${indented(shown(textOf(refused)))}`)
    check("serve: another tool is refused", refused.isError === true)
    const [, pattern] = /--allow ["']?([^\s"'`,;]+)/.exec(textOf(refused)) ?? []
    check("serve: the refusal names the flag that allows it", pattern !== undefined, textOf(refused))
    check("serve: the banner says what is allowed", /read-only/.test(heard.banner) && /--allow/.test(heard.banner), heard.banner)
    return pattern === undefined ? [] : ["--allow", pattern]
  })
  console.log(`\n$ mcp-runtime serve ${flags.join(" ")}   (SDK client)`)
  await withSdk(flags, async (client) => {
    const answer = await client.callTool({ name: change.tool, arguments: change.args })
    console.log(indented(shown(textOf(answer))))
    check("serve: with that flag the tool is called", answer.isError !== true, textOf(answer))
  })

  const serving = { command: process.execPath, args: [bin, "serve", ...imports, ...flags], env }
  const config = write(join(folder, "clients.json"), { mcpServers: { gateway: serving } })
  const viaMcporter = ["--config", config, "call", `gateway.${change.tool}`, `path=${made}`, "content=by mcporter"]
  console.log(`\n$ mcporter ${shown(viaMcporter.join(" "))}`)
  const porter = await run(process.execPath, [Programs.mcporter, ...viaMcporter], folder)
  console.log(indented(shown(porter.text)))
  check("mcporter calls a tool with what the banner says", porter.code === 0 && /wrote|success/i.test(porter.stdout))

  const viaInspector = ["--cli", "--config", config, "--server", "gateway", "--format", "json", "--quiet", "--method"]
  const asked = ["tools/call", "--tool-name", read.tool, "--tool-args-json", JSON.stringify(read.args)]
  console.log(`\n$ inspector ${shown([...viaInspector, ...asked].join(" "))}`)
  const inspector = await run(process.execPath, [Programs.inspector, ...viaInspector, ...asked], folder)
  console.log(indented(shown(inspector.text)))
  check("the inspector calls a tool with what the banner says", inspector.stdout.includes("The newcomer was here."))
} finally {
  guarded.close()
  rmSync(folder, { recursive: true, force: true })
}
console.log(failures.length === 0 ? "\nnewcomer: everything passed" : `\nnewcomer: ${failures.length} failed`)
process.exitCode = failures.length === 0 ? 0 : 1
