/** Each view names a variable without a value as the first cause, with the next step. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, LogLevel } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeMcpRuntime from "../../src/node/NodeMcpRuntime.ts"
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

const authorization = { Authorization: "Bearer ${env:UNSET_TOKEN}" }

/** The name stands before the words of the failure. */
const namesFirst = (text: string, name: string, failure: string | RegExp, about: string): void => {
  const at = text.indexOf(name)
  assert.isAtLeast(at, 0, `${about}: ${text}`)
  const rest = typeof failure === "string" ? text.indexOf(failure) : text.search(failure)
  assert.isAtLeast(rest, at, `${about}: ${text}`)
}

describe("a server that answers 401, with a header of a variable that is not set", () => {
  it.scopedLive("has that variable as its first cause in each view", () =>
    Effect.gen(function*() {
      const at = yield* place
      const { url } = yield* web(() => true)
      at.write(own, { mcpServers: { web: { url, headers: authorization } } })
      for (const argv of [["list"], ["tools"], ["tools", "web"], ["status"], ["call", "web/look"], ["doctor"]]) {
        const { err, out } = yield* run(at, argv, { columns: 500 })
        namesFirst(out + err, "UNSET_TOKEN", "(401)", argv.join(" "))
        assert.match(out + err, /UNSET_TOKEN.*set it before .*\$\{UNSET_TOKEN:-…\}/, argv.join(" "))
        // a login is at most the second thing to try
        if (err.includes("auth login")) namesFirst(err, "UNSET_TOKEN", "auth login", argv.join(" "))
      }
      const list = yield* run(at, ["list"], { columns: 500 })
      assert.notInclude(list.err, "auth login")
      const events = yield* run(at, ["events", "--for", "1s"], { columns: 500 })
      for (const event of ["ConfigurationWarning", "ConnectFailed"]) {
        assert.match(events.out, new RegExp(`${event} web: .*UNSET_TOKEN.* is not set`), event)
      }
    }))

  it.scopedLive("has that variable as its first cause in each document", () =>
    Effect.gen(function*() {
      const at = yield* place
      const { url } = yield* web(() => true)
      at.write(own, { mcpServers: { web: { url, headers: authorization } } })
      const document = (argv: ReadonlyArray<string>) =>
        Effect.map(run(at, [...argv, "--json"]), ({ out }) => JSON.parse(out))
      const [list, tools, status, call] = yield* Effect.forEach(
        [["list"], ["tools"], ["status"], ["call", "web/look"]],
        document
      )
      const errors = [list.servers[0].error, tools.missing[0], status.servers[0].error, call.error]
      for (const { message } of errors) namesFirst(message, "UNSET_TOKEN", "(401)", message)
      const [problem] = (yield* document(["doctor"])).servers[0].problems
      assert.include(problem.cause, "UNSET_TOKEN")
      assert.include(problem.hint, "UNSET_TOKEN")
      const issues = (yield* document(["config"])).issues as ReadonlyArray<
        { readonly kind: string; readonly at: string }
      >
      assert.deepStrictEqual(issues.map(({ at, kind }) => [kind, at]), [["variable-unset", "headers.Authorization"]])
    }))

  it.scopedLive("names it in the status and the errors of the library", () =>
    Effect.gen(function*() {
      const at = yield* place
      const { url } = yield* web(() => true)
      at.write(own, { mcpServers: { web: { url, headers: authorization } } })
      yield* Effect.gen(function*() {
        const mcp = yield* McpRuntime.McpRuntime
        const error = yield* Effect.flip(mcp.servers.connect("web"))
        const [info] = yield* mcp.servers.list
        for (const one of [error, info?.error]) {
          assert.deepInclude(one, { _tag: "AuthorizationFailed", reason: "unauthorized" })
          const { unset } = one as { readonly unset?: ReadonlyArray<{ readonly at: string; readonly name: string }> }
          assert.deepStrictEqual(unset?.map(({ at, name }) => [at, name]), [["headers.Authorization", "UNSET_TOKEN"]])
        }
      }).pipe(
        Effect.provide(NodeMcpRuntime.layerConfigured({
          config: { root: at.root, directory: at.root },
          cacheDirectory: "memory",
          follow: false,
          lazy: true,
          logs: false
        })),
        Effect.provideService(HostEnvironment.HostEnvironment, {
          platform: "linux",
          variables: () => ({ HOME: at.home }),
          uid: process.getuid?.()
        }),
        Logger.withMinimumLogLevel(LogLevel.None)
      )
    }))

  it.scopedLive("names it also if only a call is refused", () =>
    Effect.gen(function*() {
      const at = yield* place
      const { url } = yield* web(({ method, token }) => method === "tools/call" && token === undefined)
      at.write(own, { mcpServers: { web: { url, headers: authorization } } })
      const called = yield* run(at, ["call", "web/look", "--json"])
      namesFirst(JSON.parse(called.out).error.message, "UNSET_TOKEN", "(401)", "call")
      const list = yield* run(at, ["list"], { columns: 500 })
      assert.match(list.out, /^web +streamable-http +connected/m)
      assert.match(list.err, /warning: .*UNSET_TOKEN.* is not set/)
      const doctor = JSON.parse((yield* run(at, ["doctor", "--json"])).out).servers[0]
      assert.strictEqual(doctor.health, "well")
      assert.include(JSON.stringify(doctor.problems), "UNSET_TOKEN")
      const set = yield* run(at, ["call", "web/look"], { variables: { UNSET_TOKEN: "t" } })
      assert.strictEqual(set.code, 0)
      assert.notInclude(set.out + set.err, "UNSET_TOKEN")
    }))
})

describe("a variable that is not set, anywhere else in an entry", () => {
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
          fallback: { ...program, env: { A: "${env:UNSET_DEFAULT:-a}" } }
        }
      })
      const names = ["UNSET_ENV", "UNSET_ARGS", "UNSET_CWD", "UNSET_URL"]
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
          ["url", "url", "variable-unset", "error"]
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
        assert.match(out + err, /"MCP_INPUT_API_KEY" is not set/, argv.join(" "))
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
