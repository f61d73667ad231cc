/** Each view names a variable without a value as the first cause, with the next step. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { own, place, run, server } from "./inProcess.ts"

interface Request {
  readonly id?: number
  readonly method: string
  readonly token: string | undefined
}

const unauthorized = (response: ServerResponse) => {
  response.writeHead(401, { "www-authenticate": "Bearer" })
  response.end()
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const chunk of request) text += String(chunk)
  return text
}

const results: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "web", version: "1.0.0" }
  },
  "tools/list": { tools: [{ name: "look", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "seen" }] },
  ping: {}
}

/** An HTTP server that answers refused requests with 401. */
const web = (refuses: (request: Request) => boolean) =>
  Effect.acquireRelease(
    Effect.async<{ readonly url: string; readonly close: () => void }>((resume) => {
      const http = createServer((request, response) => {
        void bodyOf(request).then((body) => {
          const message = body === "" ? { method: "" } : JSON.parse(body) as { id?: number; method: string }
          if (refuses({ ...message, token: request.headers.authorization })) return unauthorized(response)
          if (message.id === undefined) return response.writeHead(request.method === "POST" ? 202 : 405).end()
          const result = results[message.method]
          const answer = result === undefined ? { error: { code: -32601, message: "no such method" } } : { result }
          response.writeHead(200, { "content-type": "application/json" })
          response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answer }))
        })
      })
      http.listen(0, "127.0.0.1", () => {
        const { port } = http.address() as AddressInfo
        resume(Effect.succeed({
          url: `http://127.0.0.1:${port}/mcp`,
          close: () => {
            http.close()
            http.closeAllConnections()
          }
        }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

describe("a variable that is not set", () => {
  it.scopedLive("is an error of that entry in each view, and its siblings are used", () =>
    Effect.gen(function*() {
      const at = yield* place
      const program = server("cli/asks.mjs")
      at.write(own, {
        mcpServers: {
          env: { ...program, env: { A: "${env:UNSET_ENV}", B: "${env:UNSET_TOO}" } },
          args: { command: program.command, args: ["${UNSET_ARGS}"] },
          cwd: { ...program, cwd: "${env:UNSET_CWD}" },
          url: { url: "http://127.0.0.1:9/${env:UNSET_URL}" },
          header: { url: "http://127.0.0.1:9/", headers: { Authorization: "Bearer ${env:UNSET_TOKEN}" } },
          fallback: { ...program, env: { A: "${env:UNSET_DEFAULT:-a}" } }
        }
      })
      const names = ["UNSET_ENV", "UNSET_ARGS", "UNSET_CWD", "UNSET_URL", "UNSET_TOKEN"]
      for (const argv of [["list"], ["tools"], ["status"], ["doctor"], ["config"]]) {
        const { err, out } = yield* run(at, argv, { columns: 500 })
        for (const name of names) {
          assert.match(out + err, new RegExp(`"${name}" is not set`), `${argv.join(" ")} ${name}`)
        }
        assert.notInclude(out + err, "UNSET_DEFAULT")
      }
      const { issues } = JSON.parse((yield* run(at, ["config", "--json"])).out)
      assert.deepStrictEqual(
        (issues as ReadonlyArray<{ at: string; kind: string; server: string; severity: string }>)
          .map(({ at, kind, server, severity }) => [server, at, kind, severity]),
        [
          ["env", "env.A", "variable-unset", "error"],
          ["env", "env.B", "variable-unset", "error"],
          ["args", "args.0", "variable-unset", "error"],
          ["cwd", "cwd", "variable-unset", "error"],
          ["url", "url", "variable-unset", "error"],
          ["header", "headers.Authorization", "variable-unset", "error"]
        ]
      )
      const doctor = JSON.parse((yield* run(at, ["doctor", "env", "--json"])).out).servers[0]
      const problems = doctor.problems as ReadonlyArray<{ readonly message: string }>
      assert.deepStrictEqual(problems.map(({ message }) => /UNSET_\w+/.exec(message)?.[0]), ["UNSET_ENV", "UNSET_TOO"])
    }))

  it.scopedLive("makes no file invalid", () =>
    Effect.gen(function*() {
      const at = yield* place
      const file = at.write("work/mcp-client.json", { mcpServers: { a: { command: "${env:UNSET_PROGRAM}" } } })
      const { code, out } = yield* run(at, ["config", "validate", file, "--json"])
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(JSON.parse(out).issues, [])
    }))
})

describe("a variable that is set to an empty text", () => {
  it.scopedLive("is set, and an optional header is not sent without a value", () =>
    Effect.gen(function*() {
      const at = yield* place
      const { url } = yield* web(({ method, token }) => method === "tools/call" && token !== undefined)
      at.write(own, { mcpServers: { web: { url, headers: { Authorization: "Bearer ${env:EMPTY_TOKEN}" } } } })
      const called = yield* run(at, ["call", "web/look"], { variables: { EMPTY_TOKEN: "" } })
      assert.strictEqual(called.out, "seen\n")
      assert.strictEqual(called.err, "")
    }))
})

describe("an ${input:…} of a VS Code file", () => {
  const user = "home/.config/Code/User/mcp.json"
  const content = (url: string) => ({
    inputs: [{ id: "api-key", type: "promptString", password: true }],
    servers: { web: { type: "http", url, headers: { Authorization: "Bearer ${input:api-key}" } } }
  })
  const options = ["--import", "vscode"]
  const wantsToken = web(({ token }) => token !== "Bearer t0ken")

  it.scopedLive("names the variable that answers it, and takes its answer from there", () =>
    Effect.gen(function*() {
      const at = yield* place
      const { url } = yield* wantsToken
      at.write(user, content(url))
      for (const argv of [["list"], ["tools"], ["call", "web/look"], ["doctor"]]) {
        const { err, out } = yield* run(at, [...argv, ...options], { columns: 500 })
        assert.match(out + err, /unanswered input "api-key"/, argv.join(" "))
      }
      const called = yield* run(at, ["call", "web/look", ...options], { variables: { MCP_INPUT_API_KEY: "t0ken" } })
      assert.strictEqual(called.out, "seen\n")
      assert.strictEqual(called.code, 0)
    }))

  it.scopedLive("of a workspace gets that answer only after a person has granted it", () =>
    Effect.gen(function*() {
      const at = yield* place
      const { url } = yield* wantsToken
      at.write("work/.vscode/mcp.json", content(url))
      const variables = { MCP_INPUT_API_KEY: "t0ken" }
      const waiting = JSON.parse((yield* run(at, ["approve", "--json", ...options])).out).servers[0]
      assert.deepStrictEqual(waiting.variables, [{ name: "MCP_INPUT_API_KEY", credential: true }])
      yield* run(at, ["approve", waiting.fingerprint, ...options])
      const refused = yield* run(at, ["call", "web/look", ...options], { columns: 500, variables })
      assert.strictEqual(refused.code, 3)
      assert.include(refused.err, "\"MCP_INPUT_API_KEY\" may not be read")
      yield* run(at, ["revoke", "web", ...options])
      yield* run(at, ["approve", waiting.fingerprint, "--variable", "MCP_INPUT_API_KEY", ...options])
      const called = yield* run(at, ["call", "web/look", ...options], { variables })
      assert.strictEqual(called.out, "seen\n")
    }))
})
