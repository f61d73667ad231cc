import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Duration, Effect, Exit, Fiber, Layer, type Scope, Stream, TestClock } from "effect"
import * as AgentTools from "../../src/agent/AgentTools.ts"
import * as ToolHandler from "../../src/agent/ToolHandler.ts"
import * as Credentials from "../../src/auth/Credentials.ts"
import * as McpError from "../../src/McpError.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeConnector from "../../src/node/NodeConnector.ts"
import * as RuntimeMetrics from "../../src/observability/RuntimeMetrics.ts"
import * as Bulkhead from "../../src/resilience/Bulkhead.ts"
import * as CircuitBreaker from "../../src/resilience/CircuitBreaker.ts"
import * as HealthCheck from "../../src/resilience/HealthCheck.ts"
import * as ReconnectPolicy from "../../src/resilience/ReconnectPolicy.ts"
import * as Approval from "../../src/safety/Approval.ts"
import * as OutputGuard from "../../src/safety/OutputGuard.ts"
import * as Permissions from "../../src/safety/Permissions.ts"
import * as Redaction from "../../src/safety/Redaction.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as UntrustedText from "../../src/text/UntrustedText.ts"
import * as ToolCache from "../../src/tools/ToolCache.ts"
import * as ToolCatalog from "../../src/tools/ToolCatalog.ts"
import * as ToolPins from "../../src/tools/ToolPins.ts"
import * as Journal from "../faults/journal.ts"
import * as Agent from "../support/agent.ts"
import { assertNoLeak } from "../support/leaks.ts"
import * as NodeRuntime from "../support/nodeRuntime.ts"
import * as Pool from "../support/pool.ts"

const handler = ToolHandler.ToolHandler

const tool = (name: string, more: Partial<MemoryServer.Tool> = {}): MemoryServer.Tool => ({
  name,
  call: () => Effect.succeed(name),
  ...more
})

type Offers = Readonly<Record<string, ReadonlyArray<MemoryServer.Tool>>>
type Peers = Readonly<Record<string, MemoryServer.Server>>

const run = <A, E>(
  offers: Offers,
  body: (
    peers: Peers,
    handler: ToolHandler.ToolHandler["Type"]
  ) => Effect.Effect<A, E, Layer.Layer.Success<ReturnType<typeof Agent.layer>> | Scope.Scope>,
  { before, ...options }: Partial<Agent.Options> & { readonly before?: (peers: Peers) => Effect.Effect<void> } = {}
) =>
  Effect.gen(function*() {
    const peers: Peers = Object.fromEntries(
      yield* Effect.forEach(Object.entries(offers), ([name, tools]) =>
        Effect.map(MemoryServer.make({ era: "session", tools }), (server) => [name, server] as const))
    )
    yield* before?.(peers) ?? Effect.void
    return yield* Effect.provide(
      Effect.flatMap(handler, (service) =>
        body(peers, service)),
      Agent.layer(peers, { servers: Object.keys(offers).map((name) => Pool.remote(name)), ...options })
    )
  })

const call = (name: string, args: unknown = {}, id = "call-of-model"): ToolHandler.Call => ({
  id,
  name,
  arguments: args
})

/** The events of the call of the model, once it has ended; other calls are made until the subscription has begun. */
const listen = (service: ToolHandler.ToolHandler["Type"]) =>
  Effect.gen(function*() {
    const listening = yield* Deferred.make<void>()
    const events = yield* service.events.pipe(
      Stream.tap(() => Deferred.succeed(listening, undefined)),
      Stream.filter(({ callId }) => callId === "call-of-model"),
      Stream.takeUntil(({ _tag }) => _tag === "Ended"),
      Stream.runCollect,
      Effect.fork
    )
    yield* service.handle(call("no_tool", {}, "before")).pipe(
      Effect.repeat({ until: () => Deferred.isDone(listening) })
    )
    return events
  })

const names = (definitions: ToolHandler.Definitions) =>
  definitions.tools.filter(({ server }) => server !== undefined).map(({ name }) => name)

const askAll = { permissions: { otherwise: { model: "ask", program: "allow", person: "allow" } } } as const

describe("definitions", () => {
  it.scoped("are stable: tools of the runtime first, then those of servers by name", () =>
    run({ b: [tool("two"), tool("one")], a: [tool("one")] }, (_, service) =>
      Effect.gen(function*() {
        const first = yield* service.definitions()
        assert.deepStrictEqual(first.tools.map(({ name }) => name), [
          "list_mcp_resources",
          "read_mcp_resource",
          "mcp_read_output",
          "mcp__a__one",
          "mcp__b__one",
          "mcp__b__two"
        ])
        assert.deepStrictEqual(first.tools.map(({ server }) => server), [
          undefined,
          undefined,
          undefined,
          "a",
          "b",
          "b"
        ])
        assert.isFalse(first.searching)
        assert.deepStrictEqual(yield* service.definitions(), first)
      })))

  it.scoped("follow changes of the servers", () =>
    run({ a: [tool("one")] }, (peers, service) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(names(yield* service.definitions()), ["mcp__a__one"])
        const events = yield* (yield* McpRuntime.McpRuntime).subscribe
        yield* peers["a"]!.update({ tools: [tool("two")] })
        yield* events.take.pipe(Effect.repeat({ until: ({ _tag }) => _tag === "ToolsRefreshed" }))
        assert.deepStrictEqual(names(yield* service.definitions()), ["mcp__a__two"])
      })))

  it.scoped("omit denied tools, and mark those that need approval", () =>
    run({ a: [tool("read"), tool("wipe"), tool("write")] }, (_, service) =>
      Effect.gen(function*() {
        const { tools } = yield* service.definitions()
        const approvals = tools.filter(({ server }) => server === "a")
          .map(({ name, requiresApproval }) => [name, requiresApproval])
        assert.deepStrictEqual(approvals, [["mcp__a__read", false], ["mcp__a__write", true]])
        const own = tools.find(({ name }) => name === "read_mcp_resource")
        assert.isTrue(own?.requiresApproval)
        const output = yield* service.handle(call("mcp__a__wipe"))
        assert.strictEqual(output.error?._tag, "PermissionDenied")
        const near = yield* service.handle(call("mcp__a__wipes"))
        assert.isTrue(near.error?._tag === "NotFound" && !near.text.includes("mcp__a__wipe\""))
      }), {
      permissions: {
        rules: [{ decision: "deny", tool: "a/wipe" }, { decision: "allow", tool: "a/read" }]
      }
    }))

  it.scoped("contain no hidden text, and descriptions of bounded length", () => {
    const hidden = "\u{e0049}\u{e0067}\u{e006e}\u{200b}\u202e"
    return run({
      a: [tool("one", {
        title: `One${hidden}`,
        description: `Does one thing.${hidden}${"x".repeat(10_000)}`,
        annotations: { title: `Uno${hidden}`, readOnlyHint: true },
        inputSchema: {
          type: "object",
          properties: {
            [`path${hidden}`]: { type: "string", description: `Where${hidden}`, enum: [`a${hidden}`, "b"] }
          },
          required: [`path${hidden}`]
        }
      })]
    }, (_, service) =>
      Effect.gen(function*() {
        const one = (yield* service.definitions()).tools.find(({ server }) => server === "a")
        assert.notMatch(JSON.stringify(one), /[\u{e0000}-\u{e007f}]|\u200b|\u202e/u)
        assert.strictEqual(one?.title, "One")
        assert.isBelow(one!.description.length, 4200)
        assert.include(one!.description, "cut from")
        assert.strictEqual(one?.annotations.readOnlyHint, true)
        assert.deepStrictEqual(one?.inputSchema, {
          type: "object",
          properties: { path: { type: "string", description: "Where", enum: ["a", "b"] } },
          required: ["path"]
        })
      }))
  })

  it.scoped("become a search if there are too many, whose results are offered in the session", () =>
    run({
      a: [
        tool("create_event", { description: "Creates an event in a calendar" }),
        tool("send_mail", { description: "Sends a mail to somebody" }),
        tool("wipe_calendar", { description: "Removes a calendar and all its events" })
      ]
    }, (_, service) =>
      Effect.gen(function*() {
        const model = { contextWindow: 100_000, toolCalling: true }
        const before = yield* service.definitions({ session: "s", model })
        assert.isTrue(before.searching)
        assert.deepStrictEqual(before.tools.slice(3).map(({ name }) => name), ["mcp_search"])
        const output = yield* service.handle({
          ...call("mcp_search", "{\"query\":\"calendar event\"}"),
          session: "s"
        })
        assert.isFalse(output.isError)
        assert.include(output.text, "mcp__a__create_event")
        assert.notInclude(output.text, "mcp__a__wipe_calendar")
        assert.include(output.text, "trust=\"untrusted\"")
        const after = yield* service.definitions({ session: "s", model })
        assert.include(after.tools.map(({ name }) => name), "mcp__a__create_event")
        const other = yield* service.definitions({ session: "t", model })
        assert.notInclude(other.tools.map(({ name }) => name), "mcp__a__create_event")
        const wrong = yield* service.handle({ ...call("mcp_search", {}), session: "s" })
        assert.strictEqual(wrong.error?._tag, "InvalidArguments")
      }), {
      search: { mode: "always" },
      permissions: {
        otherwise: { model: "allow", program: "allow", person: "allow" },
        rules: [{ decision: "deny", tool: "a/wipe_calendar" }]
      }
    }))

  it.scoped("wait up to the limit, and name missing servers", () =>
    run({ good: [tool("one")], slow: [tool("two")] }, (_, service) =>
      Effect.gen(function*() {
        yield* Pool.until("good", "Connected")
        yield* (yield* ToolCatalog.ToolCatalog).refresh("good")
        const asked = yield* Effect.fork(service.definitions({ wait: "2 seconds" }))
        yield* TestClock.adjust("2 seconds")
        const { missing, tools } = yield* Fiber.join(asked)
        assert.include(tools.map(({ name }) => name), "mcp__good__one")
        assert.deepStrictEqual(missing.map(({ server, status }) => [server, status._tag]), [["slow", "Connecting"]])
      }), { before: (peers) => peers["slow"]!.slowConnect("1 hour") }))
})

describe("a call", () => {
  it.scoped("returns guarded text, and the raw result for the application", () =>
    run(
      { a: [tool("echo", { call: (args) => Effect.succeed(`said ${JSON.stringify(args)}`) })] },
      (_, service) =>
        Effect.gen(function*() {
          const output = yield* service.handle(call("mcp__a__echo", { x: 1 }))
          assert.include(output.text, "said {\"x\":1}")
          assert.include(output.text, "server=\"a\" tool=\"echo\" trust=\"untrusted\"")
          assert.deepStrictEqual([output.callId, output.name, output.isError], ["call-of-model", "mcp__a__echo", false])
          assert.isUndefined(output.error)
          assert.strictEqual(output.result?.metadata.callId, "call-of-model")
        })
    ))

  it.scoped("is shortened to the limit in the configuration of the server", () =>
    run(
      { a: [tool("long", { call: () => Effect.succeed("word ".repeat(10_000)) })] },
      (_, service) =>
        Effect.gen(function*() {
          const { result, text } = yield* service.handle(call("mcp__a__long"))
          assert.isBelow(text.length, 4_500)
          assert.isAbove(text.length, 3_000)
          assert.strictEqual(result?.metadata.maxResultChars, 4_000)
        }),
      { servers: [Pool.remote("a", { maxResultChars: 4_000 })] }
    ))

  it.scoped("accepts the argument formats of APIs, and explains invalid arguments", () =>
    run(
      { a: [tool("echo", { call: (args) => Effect.succeed(JSON.stringify(args)) })] },
      (peers, service) =>
        Effect.gen(function*() {
          for (const none of [undefined, null, "", "  ", "null", "{}"]) {
            const output = yield* service.handle(call("mcp__a__echo", none))
            assert.isFalse(output.isError)
            assert.include(output.text, "{}")
          }
          assert.include((yield* service.handle(call("mcp__a__echo", "{\"x\":[1]}"))).text, "{\"x\":[1]}")
          const sent = peers["a"]!.executions("echo")
          for (const wrong of ["{", "[]", "1", [], 7, true, "\"{}\"", `"${"x".repeat(5_000_000)}"`]) {
            const output = yield* service.handle(call("mcp__a__echo", wrong))
            assert.isTrue(output.isError)
            assert.strictEqual(output.error?._tag, "InvalidArguments")
            assert.isBelow(output.text.length, 600)
          }
          assert.strictEqual(peers["a"]!.executions("echo"), sent)
        })
    ))

  it.scoped("reports tool errors and server errors to the model", () =>
    run({
      a: [
        tool("fails", {
          call: () => Effect.succeed({ content: [{ type: "text", text: "disk full" }], isError: true })
        }),
        tool("refuses", {
          call: () => Effect.fail(new MemoryServer.Refused({ code: -32602, message: "x is required" }))
        })
      ]
    }, (_, service) =>
      Effect.gen(function*() {
        const fails = yield* service.handle(call("mcp__a__fails"))
        assert.isTrue(fails.isError && fails.error === undefined)
        assert.match(fails.text, /^The tool reported an error:\n<mcp_tool_output [^]*disk full/)
        const refuses = yield* service.handle(call("mcp__a__refuses"))
        assert.isTrue(refuses.isError)
        assert.strictEqual(refuses.error?._tag, "RemoteError")
        assert.match(
          refuses.text,
          /^Error \(RemoteError\): .*Correct the arguments[^]*<mcp_tool_output [^]*x is required/
        )
      })))

  it.scoped("of an unknown tool suggests similar names", () =>
    run({ a: [tool("list_files")] }, (_, service) =>
      Effect.gen(function*() {
        const output = yield* service.handle(call("mcp__a__list_file"))
        assert.strictEqual(output.error?._tag, "NotFound")
        assert.include(output.text, "Did you mean \"mcp__a__list_files\"?")
        const long = yield* service.handle(call("mcp__a__" + "x".repeat(100_000)))
        assert.strictEqual(long.error?._tag, "NotFound")
        assert.isBelow(long.text.length, 600)
      })))

  it.scoped("returns other content as attachments", () =>
    run({
      a: [tool("see", {
        call: () => Effect.succeed({ content: [{ type: "image", data: "aGVsbG8=", mimeType: "image/png" }] })
      })]
    }, (_, service) =>
      Effect.gen(function*() {
        const { attachments, text } = yield* service.handle(call("mcp__a__see"))
        assert.deepStrictEqual(attachments.map(({ _tag, data }) => [_tag, data]), [["Image", "aGVsbG8="]])
        assert.include(text, attachments[0]!.reference)
        assert.notInclude(text, "aGVsbG8=")
      })))

  it.scoped("to a disconnected server reports that nothing was sent", () =>
    run({ a: [tool("one")] }, (_, service) =>
      Effect.gen(function*() {
        yield* service.definitions()
        yield* (yield* McpRuntime.McpRuntime).servers.disable("a")
        const output = yield* service.handle(call("mcp__a__one"))
        assert.isTrue(output.isError)
        assert.include(["ServerUnavailable", "NotFound"], output.error?._tag)
      })))

  it.scoped("that times out advises to check before a retry", () =>
    run({ a: [tool("hang", { call: () => Effect.never })] }, (peers, service) =>
      Effect.gen(function*() {
        yield* service.definitions()
        const asked = yield* Effect.fork(service.handle(call("mcp__a__hang"), { totalTimeout: "1 minute" }))
        yield* peers["a"]!.until(() => peers["a"]!.executions("hang") === 1)
        yield* TestClock.adjust("1 minute")
        const output = yield* Fiber.join(asked)
        assert.strictEqual(output.error?._tag, "RequestTimeout")
        assert.include(output.text, "before you repeat it")
      })))

  it.scoped("that is interrupted is cancelled at the server, without an output", () =>
    Effect.gen(function*() {
      const cancelled = yield* Deferred.make<void>()
      const hang = tool("hang", {
        call: (_, context) =>
          Effect.zipRight(context.cancelled, Effect.zipRight(Deferred.succeed(cancelled, undefined), Effect.never))
      })
      yield* run({ a: [hang] }, (peers, service) =>
        Effect.gen(function*() {
          yield* service.definitions()
          const events = yield* listen(service)
          const asked = yield* Effect.fork(service.handle(call("mcp__a__hang")))
          yield* peers["a"]!.until(() => peers["a"]!.executions("hang") === 1)
          const exit = yield* Fiber.interrupt(asked)
          assert.isTrue(Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause))
          yield* Deferred.await(cancelled)
          const told = Array.from(yield* Fiber.join(events))
          assert.deepStrictEqual(told.map(({ _tag }) => _tag), ["Began", "Ended"])
          assert.isTrue(told[1]?._tag === "Ended" && told[1].outcome === "Interrupted")
        }))
    }))

  it.scoped("publishes its start, progress and end, with escaped text of the server", () =>
    run({
      a: [tool("works", {
        call: (_, { progress }) => Effect.as(progress(1, 2, "half\u001b[2J"), "done")
      })]
    }, (_, service) =>
      Effect.gen(function*() {
        yield* service.definitions()
        const events = yield* listen(service)
        yield* service.handle(call("mcp__a__works"))
        const told = Array.from(yield* Fiber.join(events))
        assert.deepStrictEqual(told.map(({ _tag }) => _tag), ["Began", "Progress", "Ended"])
        const messages = told.flatMap((event) => event._tag === "Progress" ? [event.progress.message] : [])
        assert.deepStrictEqual(messages, [UntrustedText.excerpt("half\u001b[2J")])
        assert.notInclude(messages[0]!, "\u001b")
        assert.isTrue(told[2]?._tag === "Ended" && told[2].outcome === "Success")
      })))

  it.scoped("fails with the defects of the application", () =>
    Effect.gen(function*() {
      const broken = Layer.effect(
        OutputGuard.OutputGuard,
        Effect.map(OutputGuard.OutputGuard, (guard) => ({ ...guard, render: () => Effect.die("a defect") }))
      )
      const server = yield* MemoryServer.make({ era: "session", tools: [tool("one")] })
      const options: Agent.Options = { servers: [Pool.remote("a")] }
      const [exit, told] = yield* Effect.flatMap(handler, (service) =>
        Effect.flatMap(listen(service), (events) =>
          Effect.zip(
            Effect.exit(service.handle(call("mcp__a__one"))),
            Effect.map(Fiber.join(events), (told) =>
              Array.from(told))
          ))).pipe(
          Effect.provide(
            ToolHandler.layer().pipe(
              Layer.provide(broken),
              Layer.provide(Agent.layer({ a: server }, {
                ...options,
                permissions: { otherwise: { model: "allow", program: "allow", person: "allow" } }
              }))
            )
          )
        )
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
      assert.isTrue(told[1]?._tag === "Ended" && told[1].outcome === "Defect")
    }))
})

describe("permissions of a model", () => {
  it.scoped("are requested, and a call without approval is not sent", () =>
    run({ a: [tool("one")] }, (peers, service) =>
      Effect.gen(function*() {
        yield* service.definitions()
        const output = yield* service.handle(call("mcp__a__one"))
        assert.strictEqual(output.error?._tag, "PermissionDenied")
        assert.include(output.text, "the user cannot be asked")
        assert.include(output.text, "the rule allow \"a/one\" permits it")
        assert.strictEqual(peers["a"]!.executions("one"), 0)
      }), askAll))

  it.scoped("are decided separately for ten concurrent calls", () => {
    const approval = Approval.layer(({ subject }) =>
      Effect.as(Effect.yieldNow(), { _tag: Number(subject.args?.["n"]) % 2 === 0 ? "Once" : "Deny" })
    )
    return run(
      { a: [tool("echo", { call: (args) => Effect.succeed(`n=${String(args["n"])}`) })] },
      (peers, service) =>
        Effect.gen(function*() {
          yield* service.definitions()
          const outputs = yield* Effect.forEach(
            Array.from({ length: 10 }, (_, n) => n),
            (n) => service.handle(call("mcp__a__echo", { n }, `c${n}`)),
            { concurrency: "unbounded" }
          )
          for (const [n, output] of outputs.entries()) {
            assert.strictEqual(output.callId, `c${n}`)
            if (n % 2 === 0) assert.include(output.text, `n=${n}`)
            else assert.include(output.text, "was asked and refused")
          }
          assert.strictEqual(peers["a"]!.executions("echo"), 5)
        }),
      { ...askAll, approval }
    )
  })
})

describe("canHandle", () => {
  it.scoped("is true for qualified names, even of unknown tools", () =>
    run({ a: [tool("one")] }, (_, service) =>
      Effect.sync(() => {
        for (const name of ["mcp__a__one", "mcp__gone__tool", "mcp_search", "list_mcp_resources"]) {
          assert.isTrue(service.canHandle(name), name)
        }
        for (const name of ["read_file", "mcp", "", "mcp_a_one"]) assert.isFalse(service.canHandle(name), name)
      })))

  it.scoped("remembers offered plain names, even of removed tools", () =>
    run({ a: [tool("one")] }, (_, service) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(names(yield* service.definitions()), ["mcp_a_one"])
        yield* (yield* McpRuntime.McpRuntime).servers.reload([])
        assert.isTrue(service.canHandle("mcp_a_one"))
        assert.strictEqual((yield* service.handle(call("mcp_a_one"))).error?._tag, "NotFound")
      }), { catalog: { style: "single" } }))

  it.scoped("prefers tools of the runtime over server tools with the same name", () =>
    run({ read: [tool("output", { description: "not ours" })] }, (peers, service) =>
      Effect.gen(function*() {
        const { tools } = yield* service.definitions()
        assert.deepStrictEqual(tools.filter(({ name }) => name === "mcp_read_output").map(({ server }) => server), [
          undefined
        ])
        yield* service.handle(call("mcp_read_output", { handle: "x" }))
        assert.strictEqual(peers["read"]!.executions("output"), 0)
      }), { catalog: { style: "single" } }))
})

const secret = "sk-canary-0123456789abcdefghijklmnopqrstuvwxyzABCD"
const secretly = `Authorization: Bearer ${secret}\n    at Object.<anonymous> (/srv/app.js:1:1)`

const common = { server: "a", outcome: "unknown", detail: secretly, stderrTail: secretly } as const

const errors: Readonly<Record<string, McpError.RuntimeError>> = {
  Cancelled: new McpError.Cancelled({ ...common, operation: "tools/call", detail: secretly }),
  CapabilityMissing: new McpError.CapabilityMissing({ server: "a", capability: "tools", operation: "tools/call" }),
  CircuitOpen: new McpError.CircuitOpen({ server: "a", retryAfter: Duration.minutes(2) }),
  Closed: new McpError.Closed({ ...common, operation: "tools/call" }),
  ConfigurationError: new McpError.ConfigurationError({ server: "a", path: "env.TOKEN", detail: secretly }),
  ConnectTimeout: new McpError.ConnectTimeout({
    server: "a",
    phase: "initialize",
    limit: Duration.minutes(1),
    stderrTail: secretly
  }),
  ConnectionLost: new McpError.ConnectionLost({ ...common, reason: "reset" }),
  "SpawnFailed/docker": new McpError.SpawnFailed({ server: "a", reason: "docker-daemon-down", detail: secretly }),
  "HttpError/forbidden": new McpError.HttpError({
    server: "a",
    reason: "forbidden",
    outcome: "not-sent",
    challenge: secretly
  }),
  "HttpError": new McpError.HttpError({
    server: "a",
    reason: "status",
    status: 500,
    detail: secretly,
    outcome: "unknown"
  }),
  "HandshakeFailed/rejected": new McpError.HandshakeFailed({
    server: "a",
    reason: "rejected",
    code: 1,
    detail: secretly,
    stderrTail: secretly
  }),
  "ProtocolViolation/input-rounds": new McpError.ProtocolViolation({
    server: "a",
    reason: "input-rounds",
    outcome: "unknown",
    operation: "tools/call",
    rounds: 9
  }),
  InvalidArguments: new McpError.InvalidArguments({
    server: "a",
    operation: "tools/call",
    path: "x",
    detail: "no JSON"
  }),
  "ProtocolViolation/tool-result": new McpError.ProtocolViolation({
    server: "a",
    reason: "tool-result",
    outcome: "executed",
    tool: "t",
    path: "/x",
    what: secretly
  }),
  MessageTooLarge: new McpError.MessageTooLarge({ server: "a", limit: 10, direction: "received" }),
  NetworkError: new McpError.NetworkError({ ...common, code: "ECONNRESET" }),
  NotFound: new McpError.NotFound({ server: "", kind: "tool", name: "x", suggestions: ["mcp__a__y"] }),
  "HttpError/origin": new McpError.HttpError({
    server: "a",
    reason: "origin",
    outcome: "not-sent",
    to: `https://x.test/?token=${secret}`
  }),
  Overloaded: new McpError.Overloaded({ server: "a", queue: "calls", queued: 9, limit: 9 }),
  "ProtocolViolation/pagination": new McpError.ProtocolViolation({
    server: "a",
    reason: "pagination",
    outcome: "executed",
    operation: "tools/list",
    exceeds: "pages",
    pages: 9,
    limit: 9
  }),
  PermissionDenied: new McpError.PermissionDenied({
    server: "a",
    kind: "tool",
    name: "t",
    why: "rule",
    rule: `deny a/t(token=${secret})`
  }),
  "PermissionDenied/policy": new McpError.PermissionDenied({
    server: "a",
    why: "policy",
    kind: "server",
    name: "a",
    decision: "denied"
  }),
  "ConnectionLost/exited": new McpError.ConnectionLost({
    ...common,
    reason: "exited",
    code: 1,
    signal: null,
    phase: "ready"
  }),
  ProtocolViolation: new McpError.ProtocolViolation({
    server: "a",
    what: secretly,
    excerpt: secretly,
    outcome: "unknown",
    phase: "ready"
  }),
  "HttpError/rate-limited": new McpError.HttpError({
    server: "a",
    reason: "rate-limited",
    outcome: "not-sent",
    retryAfter: Duration.seconds(30),
    detail: secretly
  }),
  "HttpError/redirect": new McpError.HttpError({
    server: "a",
    reason: "redirect",
    outcome: "not-sent",
    to: `https://x.test/?token=${secret}`,
    redirect: "other-origin"
  }),
  RemoteError: new McpError.RemoteError({ server: "a", code: -32000, detail: secretly, data: { secret } }),
  RequestTimeout: new McpError.RequestTimeout({
    server: "a",
    kind: "idle",
    operation: "tools/call",
    limit: Duration.minutes(5),
    outcome: "unknown"
  }),
  ServerUnavailable: new McpError.ServerUnavailable({ server: "a", why: "untrusted", detail: secretly }),
  SessionExpired: new McpError.SessionExpired({ server: "a", detail: secretly }),
  SpawnFailed: new McpError.SpawnFailed({
    server: "a",
    errno: "ENOENT",
    command: `x --token ${secret}`,
    detail: secretly
  }),
  "ConnectionLost/stream-interrupted": new McpError.ConnectionLost({ ...common, reason: "stream-interrupted" }),
  "NetworkError/tls": new McpError.NetworkError({
    server: "a",
    reason: "tls",
    outcome: "not-sent",
    code: "CERT",
    detail: secretly
  }),
  AuthorizationFailed: new McpError.AuthorizationFailed({ server: "a", reason: "refused", detail: secretly }),
  "PermissionDenied/quarantined": new McpError.PermissionDenied({
    server: "a",
    why: "quarantined",
    kind: "tool",
    name: "t",
    changed: ["/description"]
  }),
  "AuthorizationFailed/unauthorized": new McpError.AuthorizationFailed({
    server: "a",
    reason: "unauthorized",
    challenge: secretly
  }),
  "HttpError/unavailable": new McpError.HttpError({
    server: "a",
    reason: "unavailable",
    outcome: "not-sent",
    detail: secretly
  }),
  "HttpError/content-type": new McpError.HttpError({
    server: "a",
    reason: "content-type",
    got: "text/html",
    detail: secretly,
    outcome: "unknown"
  }),
  "HandshakeFailed/version": new McpError.HandshakeFailed({
    server: "a",
    reason: "version",
    got: "1",
    supported: ["2"]
  })
}

describe("the error texts", () => {
  it("describe the failure and the next step", () => {
    for (const error of Object.values(errors)) {
      const { next, what } = McpError.forModel(error)
      assert.match(what, /^[A-Z].*\.$/, error._tag)
      assert.match(next, /^[A-Z].*[.?]$/, error._tag)
      assert.match(next, /try|again|repeat|call|wait|ask|tell|use|name|correct/i, error._tag)
      assert.notInclude(`${what} ${next}`, "canary", error._tag)
      assert.notInclude(`${what} ${next}`, "undefined", error._tag)
    }
  })

  it("never advise an immediate retry of a call that may have run", () => {
    const doubtful = Object.values(errors).filter(({ outcome }) => outcome !== "not-sent")
    assert.isAbove(doubtful.length, 8)
    for (const error of doubtful) assert.notMatch(McpError.forModel(error).next, /was not sent/, error._tag)
    for (const outcome of ["not-sent", "unknown", "executed"] as const) {
      const { next } = McpError.forModel(new McpError.NetworkError({ ...common, code: "X", outcome }))
      assert.strictEqual(/retry once/.test(next), outcome === "not-sent")
    }
  })

  it.scoped("contain no secrets and no stack traces, and label the text of the server", () =>
    Effect.gen(function*() {
      const guard = yield* OutputGuard.OutputGuard
      for (const error of Object.values(errors)) {
        const text = yield* ToolHandler.errorText(error, "t", guard, Redaction.make())
        assert.notInclude(text, secret, error._tag)
        const [ours] = text.split("<mcp_tool_output")
        assert.notMatch(ours!, /^ +at /m, error._tag)
        assert.notInclude(ours!, "/srv/app.js", error._tag)
      }
    }).pipe(Effect.provide(Agent.layer({}, { servers: [] }))))
})

describe("over a real process", () => {
  const layer = (server: ReturnType<typeof NodeRuntime.thin>) =>
    Agent.above().pipe(
      Layer.provideMerge(McpRuntime.layer({ servers: [server] })),
      Layer.provideMerge(Layer.mergeAll(
        Credentials.layerNone,
        ToolCache.layer(),
        ToolPins.layerMemory(),
        HealthCheck.layerNone,
        Bulkhead.layer(),
        CircuitBreaker.layer(),
        Permissions.layerNone,
        ReconnectPolicy.layer(NodeRuntime.quick),
        RuntimeMetrics.layer
      )),
      Layer.provideMerge(NodeConnector.layer())
    )

  it.live(
    "lists tools, calls one, and cancels a hanging call",
    () =>
      assertNoLeak(Effect.scoped(Effect.gen(function*() {
        const journal = yield* Journal.make
        yield* Effect.gen(function*() {
          const service = yield* handler
          assert.include(names(yield* service.definitions()), "mcp__thin__echo")
          const output = yield* service.handle(call("mcp__thin__echo", "{\"text\":\"hello\"}"))
          assert.include(output.text, "hello")
          const hanging = yield* Effect.fork(service.handle(call("mcp__thin__hang")))
          yield* journal.until(() => journal.executions("hang") === 1)
          const exit = yield* Fiber.interrupt(hanging)
          assert.isTrue(Exit.isInterrupted(exit))
          const again = yield* service.handle(call("mcp__thin__echo", { text: "still here" }))
          assert.include(again.text, "still here")
          const tools = yield* AgentTools.AgentTools
          assert.strictEqual((yield* tools.instructions).text, "")
        }).pipe(Effect.provide(layer(NodeRuntime.thin(journal))))
      }))),
    60_000
  )
})
