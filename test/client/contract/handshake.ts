import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Cell, era, type It, jsonOf, Opened, remembers } from "./cell.ts"

/** What is known of a server once it is connected. */
export const handshake = (it: It, cell: Cell): void => {
  it.effect("settles the era and the protocol version", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      assert.strictEqual(session.era, era(cell))
      assert.strictEqual(session.protocolVersion, era(cell) === "stateless" ? "2026-07-28" : "2025-11-25")
    }))

  it.effect("knows the transport and the server's name for the application", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      assert.strictEqual(session.transport, cell.transport)
      assert.strictEqual(session.server, `peer ${cell.kind}`)
    }))

  it.effect("knows the name and version of the server", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      assert.deepInclude(session.serverInfo, {
        name: `peer-${cell.kind}`,
        version: "1.2.3",
        title: `The peer ${cell.kind}`
      })
    }))

  it.effect("knows the server's capabilities", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      assert.deepInclude(session.capabilities, {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {}
      })
    }))

  it.effect("knows the server's instructions", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      assert.strictEqual(session.instructions, `Ask the peer ${cell.kind} anything.`)
    }))

  it.effect("finds an experimental capability, and nothing where there is none", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      assert.deepStrictEqual(session.experimental("codex/sandbox-state"), { version: "1.0.0" })
      assert.isUndefined(session.experimental("toString"))
    }))

  if (remembers(cell)) {
    it.effect("declares what the application's handlers can do, and no more", () =>
      Effect.gen(function*() {
        const { session } = yield* Opened
        const client = jsonOf(yield* session.callTool("client"))
        assert.hasAllKeys(Object(client).capabilities, ["elicitation", "sampling", "roots", "experimental"])
        assert.deepStrictEqual(Object(client).capabilities.experimental, { "test/extra": { on: true } })
        assert.isString(Object(client).info.name)
      }))
  }

  it.effect("finds a healthy server healthy, by the question of the era", () =>
    Effect.gen(function*() {
      const { peer, session } = yield* Opened
      const probe = era(cell) === "session" ? "ping" : "server/discover"
      const asked = () => peer.http?.events.filter(({ event, rpc }) => event === "request" && rpc === probe).length ?? 0
      const before = asked()
      yield* session.health
      assert.strictEqual(asked() - before, peer.http === undefined ? 0 : 1)
    }))

  it.effect("delivers a notification of the application's own", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      yield* session.notify("codex/sandbox-state/update", { token: "own", sandboxPolicy: { type: "read-only" } })
      const seen = jsonOf(yield* session.callTool("sandbox", { token: "own" }))
      assert.deepInclude(seen, { token: "own", sandboxPolicy: { type: "read-only" } })
    }))
}
