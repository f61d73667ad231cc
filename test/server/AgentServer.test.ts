import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as TestClock from "effect/TestClock"
import * as AgentServer from "../../src/server/AgentServer.ts"
import * as PipedCaller from "../support/pipedCaller.ts"

const { open, stateless } = PipedCaller

/** An agent that repeats what it is told, and does as it is told. */
const agent = Effect.sync(() => {
  const gates = new Map<string, Deferred.Deferred<void>>()
  const events: Array<string> = []
  const log = (event: string) => Effect.sync(() => events.push(event))
  const answer = ({ progress, tell, text }: AgentServer.Turn) =>
    Effect.gen(function*() {
      yield* log(`turn ${text}`)
      progress({ progress: 1 })
      tell({ type: "heard", text })
      if (text === "fail") return yield* new AgentServer.AgentFailed({ reason: "I will not" })
      if (text === "die") return yield* Effect.die("secret")
      const gate = gates.get(text)
      if (gate !== undefined) yield* Effect.onInterrupt(Deferred.await(gate), () => log(`stopped ${text}`))
      return `you said ${text}`
    })
  return {
    events,
    gate: (text: string): void => {
      gates.set(text, Deferred.unsafeMake<void>(FiberId.none))
    },
    release: (text: string) => Effect.suspend(() => Deferred.succeed(gates.get(text)!, undefined)),
    service: {
      start: (turn) => Effect.zipRight(Effect.addFinalizer(() => log("released")), answer(turn)),
      reply: answer
    } satisfies AgentServer.Agent["Type"]
  }
})

const options = { name: "cocode", version: "2.0.0", description: "Gives a task to the agent." }

const served = Effect.fnUntraced(function*(more: Partial<AgentServer.Options> = {}) {
  const made = yield* agent
  const offer = yield* Effect.provideService(AgentServer.make({ ...options, ...more }), AgentServer.Agent, made.service)
  return { ...made, offer }
})

const talking = Effect.fnUntraced(function*(more?: Partial<AgentServer.Options>) {
  const made = yield* served(more)
  const caller = yield* PipedCaller.initialized(made.offer)
  // what it tells as log messages is another matter
  caller.request("level", "logging/setLevel", { level: "emergency" })
  yield* caller.next
  let ids = 0
  const send = (name: string, args: object): number => {
    caller.request(++ids, "tools/call", { name, arguments: args })
    return ids
  }
  const call = (name: string, args: object) =>
    Effect.suspend(() => {
      const id = send(name, args)
      return Effect.tap(caller.next, (answer) => Effect.sync(() => assert.strictEqual(answer.id, id)))
    })
  const start = (prompt: string) => call("cocode", { prompt })
  const reply = (sessionId: string, message: string) => call("cocode-reply", { session_id: sessionId, message })
  return { ...made, caller, send, call, start, reply }
})

const sessionOf = ({ result }: PipedCaller.Message): string => {
  const structured = result?.["structuredContent"]
  assert.isObject(structured)
  return String(Object.entries(structured!).find(([key]) => key === "session_id")?.[1])
}

const textOf = ({ result }: PipedCaller.Message): string => JSON.stringify(result?.["content"])

const isFailed = (message: PipedCaller.Message): boolean => message.result?.["isError"] === true

const passed = (events: ReadonlyArray<string>, event: string): Effect.Effect<void> =>
  Effect.suspend(() => events.includes(event) ? Effect.void : Effect.zipRight(Effect.yieldNow(), passed(events, event)))

describe("an agent as a server", () => {
  it.scoped("offers two tools named after the agent, with output schemas", () =>
    Effect.gen(function*() {
      const { caller } = yield* talking({ name: "helper", title: "Helper" })
      caller.request(1, "tools/list")
      const tools = (yield* caller.next).result?.["tools"]
      assert.isArray(tools)
      const listed = tools as ReadonlyArray<
        { readonly name: string; readonly inputSchema: object; readonly outputSchema: object }
      >
      assert.deepStrictEqual(listed.map(({ name }) => name), ["helper", "helper-reply"])
      assert.deepStrictEqual(
        listed.map(({ inputSchema }) => "required" in inputSchema ? inputSchema.required : undefined),
        [
          ["prompt"],
          ["session_id", "message"]
        ]
      )
      for (const { outputSchema } of listed) {
        assert.deepInclude(outputSchema, { type: "object", required: ["session_id", "response"] })
      }
    }))

  it.scoped("lists no resources and no prompts", () =>
    Effect.gen(function*() {
      const { caller } = yield* talking()
      caller.request(1, "resources/list")
      caller.request(2, "prompts/list")
      assert.deepStrictEqual((yield* caller.next).result, { resources: [] })
      assert.deepStrictEqual((yield* caller.next).result, { prompts: [] })
    }))

  it.scoped("answers `server/discover` without a handshake", () =>
    Effect.gen(function*() {
      const { offer } = yield* served()
      const caller = yield* open(offer)
      caller.request(1, "server/discover", stateless())
      assert.deepInclude((yield* caller.next).result?.["capabilities"], { experimental: { "cocode/event": {} } })
      caller.request(2, "tools/call", stateless({ name: "cocode", arguments: { prompt: "hi" } }))
      const { result } = yield* caller.next
      assert.deepInclude(result, { resultType: "complete", content: [{ type: "text", text: "you said hi" }] })
    }))

  it.scoped("starts a conversation and continues it", () =>
    Effect.gen(function*() {
      const { events, reply, start } = yield* talking()
      const first = yield* start("one")
      const sessionId = sessionOf(first)
      assert.deepStrictEqual(first.result, {
        content: [{ type: "text", text: "you said one" }],
        structuredContent: { session_id: sessionId, response: "you said one" }
      })
      assert.deepInclude((yield* reply(sessionId, "two")).result?.["structuredContent"], {
        session_id: sessionId,
        response: "you said two"
      })
      assert.deepStrictEqual(events, ["turn one", "turn two"])
    }))

  it.scoped("sends events as notifications to a caller that declares them", () =>
    Effect.gen(function*() {
      const { offer } = yield* served()
      const caller = yield* open(offer)
      const capabilities = { experimental: { "cocode/event": {} } }
      caller.request(0, "initialize", { protocolVersion: "2025-11-25", capabilities })
      yield* caller.next
      caller.request(1, "tools/call", { name: "cocode", arguments: { prompt: "hi" }, _meta: { progressToken: 7 } })
      assert.deepInclude(yield* caller.next, { method: "notifications/progress" })
      const told = yield* caller.next
      assert.deepStrictEqual(told, {
        jsonrpc: "2.0",
        method: "cocode/event",
        params: { session_id: sessionOf(yield* caller.next), event: { type: "heard", text: "hi" } }
      })
    }))

  it.scoped("sends events as log messages to other callers", () =>
    Effect.gen(function*() {
      const { offer } = yield* served()
      const caller = yield* PipedCaller.initialized(offer)
      caller.request(1, "tools/call", { name: "cocode", arguments: { prompt: "hi" } })
      const told = yield* caller.next
      assert.deepStrictEqual(told.params, {
        level: "info",
        logger: "cocode",
        data: { session_id: sessionOf(yield* caller.next), event: { type: "heard", text: "hi" } }
      })
    }))

  for (
    const [name, tool, args] of [
      ["no prompt", "cocode", {}],
      ["a prompt that is no text", "cocode", { prompt: 7 }],
      ["a blank prompt", "cocode", { prompt: " " }],
      ["a prompt that is too long", "cocode", { prompt: "x".repeat(101) }],
      ["a conversation that there is not", "cocode-reply", { session_id: "x", message: "hi" }],
      ["no message", "cocode-reply", { session_id: "x" }],
      ["a refusal of the agent", "cocode", { prompt: "fail" }]
    ] as const
  ) {
    it.scoped(`answers ${name} with an error result`, () =>
      Effect.gen(function*() {
        const { call } = yield* talking({ maxText: 100 })
        const answer = yield* call(tool, args)
        assert.isTrue(isFailed(answer))
        assert.notProperty(answer.result, "structuredContent")
      }))
  }

  it.scoped("refuses an unknown tool with invalid params", () =>
    Effect.gen(function*() {
      const { call } = yield* talking()
      assert.strictEqual((yield* call("other", {})).error?.code, -32602)
    }))

  it.scoped("answers a defect of the agent with an internal error without details, and keeps no conversation", () =>
    Effect.gen(function*() {
      const { events, start } = yield* talking({ maxSessions: 1 })
      assert.deepStrictEqual((yield* start("die")).error, { code: -32603, message: "Internal error" })
      assert.include(events, "released")
      assert.isFalse(isFailed(yield* start("hi")))
    }))

  it.scoped("closes the scope of a conversation that fails to start", () =>
    Effect.gen(function*() {
      const { events, start } = yield* talking({ maxSessions: 1 })
      yield* start("fail")
      assert.deepStrictEqual(events, ["turn fail", "released"])
      assert.isFalse(isFailed(yield* start("hi")))
    }))

  it.scoped("closes the scope of a conversation that is cancelled while it starts", () =>
    Effect.gen(function*() {
      const { caller, events, gate, send, start } = yield* talking({ maxSessions: 1 })
      gate("slow")
      const id = send("cocode", { prompt: "slow" })
      yield* passed(events, "turn slow")
      assert.isTrue(isFailed(yield* start("another")))
      caller.notify("notifications/cancelled", { requestId: id })
      yield* passed(events, "released")
      assert.isFalse(isFailed(yield* start("hi")))
    }))

  it.scoped("closes the scope of a conversation that starts uninterruptibly after its cancellation", () =>
    Effect.gen(function*() {
      const begun = yield* Deferred.make<void>()
      const [gate, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const stubborn: AgentServer.Agent["Type"] = {
        start: () =>
          Effect.addFinalizer(() => Deferred.succeed(released, undefined)).pipe(
            Effect.zipRight(Deferred.succeed(begun, undefined)),
            Effect.zipRight(Deferred.await(gate)),
            Effect.as("here"),
            Effect.uninterruptible
          ),
        reply: () => Effect.succeed("here")
      }
      const offer = yield* Effect.provideService(
        AgentServer.make(),
        AgentServer.Agent,
        stubborn
      )
      const caller = yield* PipedCaller.initialized(offer)
      caller.request(1, "tools/call", { name: "agent", arguments: { prompt: "hi" } })
      yield* Deferred.await(begun)
      caller.notify("notifications/cancelled", { requestId: 1 })
      caller.request(2, "ping")
      yield* caller.next
      yield* Deferred.succeed(gate, undefined)
      yield* Deferred.await(released)
    }))

  it.scoped("refuses a conversation over the limit", () =>
    Effect.gen(function*() {
      const { reply, start } = yield* talking({ maxSessions: 1 })
      const first = yield* start("one")
      assert.isTrue(isFailed(yield* start("two")))
      assert.include(textOf(yield* reply(sessionOf(first), "three")), "three")
    }))

  it.scoped("ends a conversation without turns after the timeout, and keeps one that continues", () =>
    Effect.gen(function*() {
      const { events, reply, start } = yield* talking({ sessionTimeout: "10 minutes" })
      const [kept, left] = [sessionOf(yield* start("kept")), sessionOf(yield* start("left"))]
      yield* TestClock.adjust("9 minutes")
      yield* reply(kept, "again")
      yield* TestClock.adjust("2 minutes")
      yield* passed(events, "released")
      assert.isTrue(isFailed(yield* reply(left, "hi")))
      assert.isFalse(isFailed(yield* reply(kept, "hi")))
    }))

  it.scoped("keeps a conversation with a turn in flight", () =>
    Effect.gen(function*() {
      const { caller, events, gate, release, reply, send, start } = yield* talking({ sessionTimeout: "10 minutes" })
      const sessionId = sessionOf(yield* start("one"))
      gate("slow")
      send("cocode-reply", { session_id: sessionId, message: "slow" })
      yield* passed(events, "turn slow")
      yield* TestClock.adjust("30 minutes")
      yield* release("slow")
      assert.include(textOf(yield* caller.next), "slow")
      assert.isFalse(isFailed(yield* reply(sessionId, "hi")))
    }))

  it.scoped("runs the turns of a conversation in order, and refuses them over the limit of waiting ones", () =>
    Effect.gen(function*() {
      const { caller, events, gate, release, send, start } = yield* talking({ maxWaiting: 1 })
      const sessionId = sessionOf(yield* start("one"))
      gate("slow")
      send("cocode-reply", { session_id: sessionId, message: "slow" })
      send("cocode-reply", { session_id: sessionId, message: "next" })
      send("cocode-reply", { session_id: sessionId, message: "much" })
      assert.isTrue(isFailed(yield* caller.next))
      assert.deepStrictEqual(events, ["turn one", "turn slow"])
      yield* release("slow")
      assert.include(textOf(yield* caller.next), "slow")
      assert.include(textOf(yield* caller.next), "next")
    }))

  it.scoped("runs other conversations while one is slow", () =>
    Effect.gen(function*() {
      const { events, gate, reply, send, start } = yield* talking()
      const [slow, quick] = [sessionOf(yield* start("one")), sessionOf(yield* start("two"))]
      gate("slow")
      send("cocode-reply", { session_id: slow, message: "slow" })
      yield* passed(events, "turn slow")
      assert.include(textOf(yield* reply(quick, "hi")), "hi")
    }))

  it.scoped("keeps a conversation whose turn is cancelled", () =>
    Effect.gen(function*() {
      const { caller, events, gate, reply, send, start } = yield* talking()
      const sessionId = sessionOf(yield* start("one"))
      gate("slow")
      const id = send("cocode-reply", { session_id: sessionId, message: "slow" })
      yield* passed(events, "turn slow")
      caller.notify("notifications/cancelled", { requestId: id })
      yield* passed(events, "stopped slow")
      assert.include(textOf(yield* reply(sessionId, "hi")), "hi")
      assert.notInclude(events, "released")
    }))

  it.scoped("hides a conversation from other principals", () =>
    Effect.gen(function*() {
      const { offer } = yield* served()
      const call = Effect.fnUntraced(function*(principal: string, name: string, args: object) {
        const caller = {
          era: "session",
          link: "http",
          protocolVersion: "2025-11-25",
          clientInfo: undefined,
          capabilities: {},
          principal
        } as const
        const peer = { caller, notify: () => undefined, log: () => undefined, ask: () => Effect.never }
        const { handlers } = yield* offer.open(peer)
        const nothing = () => undefined
        const result = yield* handlers.get("tools/call")!({
          ...peer,
          method: "tools/call",
          params: { name, arguments: { ...args } },
          header: nothing,
          progress: nothing
        })
        return { jsonrpc: "2.0", result } satisfies PipedCaller.Message
      })
      const sessionId = sessionOf(yield* call("ann", "cocode", { prompt: "hi" }))
      assert.isTrue(isFailed(yield* call("bob", "cocode-reply", { session_id: sessionId, message: "hi" })))
      assert.isFalse(isFailed(yield* call("ann", "cocode-reply", { session_id: sessionId, message: "hi" })))
    }))

  it.effect("ends all conversations with the server", () =>
    Effect.gen(function*() {
      const { events } = yield* Effect.scoped(
        Effect.tap(talking(), ({ start }) => Effect.zipRight(start("one"), start("two")))
      )
      assert.deepStrictEqual(events.slice(-2), ["released", "released"])
    }))
})
