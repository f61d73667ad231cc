import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, TestClock } from "effect"
import * as Connector from "../../src/client/Connector.ts"
import type * as McpClient from "../../src/client/McpClient.ts"
import type * as Tasks from "../../src/client/tasks.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as OverMemory from "../support/overMemory.ts"

type State = { status: string; statusMessage?: string; pollInterval?: number }

/** A server whose one task has the given state, and a client of it. */
const served = (state: State, methods: NonNullable<Parameters<typeof MemoryServer.make>[0]>["methods"] = {}) =>
  Effect.gen(function*() {
    const task = () => ({ taskId: "t1", ttl: null, createdAt: "", lastUpdatedAt: "", ...state })
    const peer = yield* MemoryServer.make({
      era: "session",
      capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
      methods: {
        "tools/call": () => Effect.succeed({ task: task() }),
        "tasks/get": () => Effect.succeed(task()),
        "tasks/result": () => Effect.succeed({ content: [{ type: "text", text: "done" }] }),
        "tasks/cancel": () =>
          Effect.sync(() => {
            state.status = "cancelled"
            return task()
          }),
        "tasks/list": () => Effect.succeed({ tasks: [task(), { odd: true }] }),
        ...methods
      }
    })
    const client = yield* Effect.provide(
      Effect.flatMap(Connector.Connector, (connector) => connector.connect(MemoryTransport.config("peer"))),
      OverMemory.client({ peer })
    )
    return { peer, client, tasks: client.tasks! }
  })

const params = { name: "slow", arguments: { a: 1 } }

const done: JsonRpc.JsonObject = { content: [{ type: "text", text: "done" }] }

/** Moves the clock on until the fiber has ended. */
const ending = <A, E>(fiber: Fiber.RuntimeFiber<A, E>) =>
  Effect.zipRight(
    Effect.repeat(TestClock.adjust("1 second"), { until: () => fiber.unsafePoll() !== null, times: 100 }),
    Fiber.join(fiber)
  )

describe("McpClient.tasks", () => {
  it.scoped("creates a task, polls at its interval and returns its result", () =>
    Effect.gen(function*() {
      const state: State = { status: "working", pollInterval: 5_000 }
      const { peer, tasks } = yield* served(state)
      const updates: Array<Tasks.TaskUpdate> = []
      const call = yield* Effect.fork(tasks.callTool(params, { onTask: (update) => updates.push(update) }))
      yield* peer.until(() => peer.received("tools/call").length === 1)
      assert.deepInclude(peer.received("tools/call")[0]?.["params"], { ...params, task: {} })
      yield* TestClock.adjust("4999 millis")
      assert.strictEqual(peer.received("tasks/get").length, 0)
      state.statusMessage = "half"
      yield* TestClock.adjust("1 millis")
      yield* peer.until(() => peer.received("tasks/get").length === 1)
      state.status = "completed"
      assert.deepStrictEqual(yield* ending(call), done)
      assert.deepStrictEqual(updates, [
        { _tag: "Created", taskId: "t1", status: "working" },
        { _tag: "Status", taskId: "t1", status: "working", message: "half" },
        { _tag: "Status", taskId: "t1", status: "completed", message: "half" }
      ])
    }))

  it.scoped("polls at once when the server notifies of a status", () =>
    Effect.gen(function*() {
      const state: State = { status: "working", pollInterval: 60_000 }
      const { client, peer, tasks } = yield* served(state)
      const call = yield* Effect.fork(tasks.callTool(params, { onTask: () => undefined }))
      yield* peer.until(() => peer.received("tools/call").length === 1)
      yield* client.health
      state.status = "completed"
      yield* peer.notify("notifications/tasks/status", { taskId: "other", status: "completed" })
      yield* peer.notify("notifications/tasks/status", { taskId: "t1", status: "completed" })
      assert.deepStrictEqual(yield* Fiber.join(call), done)
      assert.strictEqual(peer.received("tasks/get").length, 1)
    }))

  it.scoped("receives progress after the task was created", () =>
    Effect.gen(function*() {
      const state: State = { status: "working", pollInterval: 60_000 }
      const { client, peer, tasks } = yield* served(state)
      const seen: Array<McpClient.Progress> = []
      const call = yield* Effect.fork(tasks.callTool(params, { onProgress: (progress) => seen.push(progress) }))
      yield* peer.until(() => peer.received("tools/call").length === 1)
      yield* client.health
      // the cast: the request as it was sent
      const sent = peer.received("tools/call")[0]?.["params"] as { readonly _meta: { readonly progressToken: string } }
      const { progressToken } = sent._meta
      yield* peer.notify("notifications/progress", { progressToken, progress: 1, total: 2 })
      yield* peer.notify("notifications/progress", { progressToken: "other", progress: 9 })
      state.status = "completed"
      yield* peer.notify("notifications/tasks/status", { taskId: "t1" })
      yield* Fiber.join(call)
      assert.deepStrictEqual(seen, [{ progress: 1, total: 2, message: undefined }])
    }))

  it.scoped("asks for the result at once when the task needs input, because the server asks while that is waited for", () =>
    Effect.gen(function*() {
      const { peer, tasks } = yield* served({ status: "input_required" })
      assert.deepStrictEqual(yield* tasks.callTool(params), done)
      assert.strictEqual(peer.received("tasks/get").length, 0)
    }))

  it.scoped("cancels the task when the caller is interrupted", () =>
    Effect.gen(function*() {
      const { client, peer, tasks } = yield* served({ status: "working" })
      const call = yield* Effect.fork(tasks.callTool(params))
      yield* peer.until(() => peer.received("tools/call").length === 1)
      yield* client.health
      yield* Fiber.interrupt(call)
      assert.deepStrictEqual(peer.received("tasks/cancel").map((message) => message["params"]), [{ taskId: "t1" }])
    }))

  it.scoped("cancels the task at the total limit", () =>
    Effect.gen(function*() {
      const { peer, tasks } = yield* served({ status: "working" })
      const call = yield* Effect.fork(Effect.flip(tasks.callTool(params, { totalTimeout: Duration.seconds(20) })))
      const error = yield* ending(call)
      assert.deepInclude(error, { _tag: "RequestTimeout", kind: "total", outcome: "unknown" })
      assert.strictEqual(peer.received("tasks/cancel").length, 1)
    }))

  it.scoped("fails with Cancelled when the server has cancelled the task", () =>
    Effect.gen(function*() {
      const { tasks } = yield* served({ status: "cancelled", statusMessage: "shutting down" })
      const error = yield* Effect.flip(tasks.callTool(params))
      assert.deepInclude(error, { _tag: "Cancelled", detail: "shutting down", outcome: "unknown" })
    }))

  it.scoped("returns the result of a server that runs the call at once", () =>
    Effect.gen(function*() {
      const { tasks } = yield* served({ status: "working" }, { "tools/call": () => Effect.succeed(done) })
      assert.deepStrictEqual(yield* tasks.callTool(params), done)
    }))

  it.scoped("gets, lists, cancels, and waits for results", () =>
    Effect.gen(function*() {
      const { tasks } = yield* served({ status: "working" })
      assert.deepInclude(yield* tasks.get("t1"), { taskId: "t1", status: "working" })
      assert.deepStrictEqual((yield* tasks.list).map(({ taskId }) => taskId), ["t1"])
      assert.deepInclude(yield* tasks.cancel("t1"), { status: "cancelled" })
      assert.deepStrictEqual(yield* tasks.result("t1"), done)
    }))

  it.scoped("is absent for a server that declares no tasks", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({ era: "session" })
      const client = yield* Effect.provide(
        Effect.flatMap(Connector.Connector, (connector) => connector.connect(MemoryTransport.config("peer"))),
        OverMemory.client({ peer })
      )
      assert.isUndefined(client.tasks)
    }))
})
