/** Rules as an application gives them to a runtime, and their effect on the calls of a model. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer } from "effect"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeMcpRuntime from "../../src/node/NodeMcpRuntime.ts"
import * as Approval from "../../src/safety/Approval.ts"
import type * as PermissionRule from "../../src/safety/PermissionRule.ts"
import type * as Permissions from "../../src/safety/Permissions.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"

const rules = (...given: ReadonlyArray<readonly [PermissionRule.Decision, string]>): Partial<Permissions.Options> => ({
  rules: given.map(([decision, tool]) => ({ decision, tool }))
})

const done = { call: () => Effect.succeed("done") }

/** A runtime with the servers `Shop` and `docs`; gives the outcome of a model's calls, and what the servers executed. */
const outcomes = (permissions: Partial<Permissions.Options>, calls: ReadonlyArray<readonly [string, string]>) =>
  Effect.gen(function*() {
    const shop = yield* MemoryServer.make({
      tools: ["delete", "Delete", "DELETE_ALL", "look"].map((name) => ({ name, ...done })),
      resources: [{ uri: "mem://Secret/a", name: "a", read: () => Effect.succeed("secret") }],
      prompts: [{ name: "Review", get: () => Effect.succeed("hello") }]
    })
    const docs = yield* MemoryServer.make({ tools: [{ name: "search", ...done }] })
    const call = ([server, tool]: readonly [string, string]) =>
      Effect.flatMap(McpRuntime.McpRuntime, (mcp) => mcp.callTool({ server, tool }, {}, { origin: "model" })).pipe(
        Effect.either,
        Effect.map((either) => Either.isRight(either) ? "done" : either.left._tag)
      )
    const results = yield* Effect.forEach(calls, call).pipe(
      Effect.provide(
        NodeMcpRuntime.layerTest({
          servers: [MemoryTransport.config("Shop"), MemoryTransport.config("docs")],
          permissions
        }).pipe(NodeMcpRuntime.using(MemoryTransport.layer({ Shop: shop, docs })))
      ),
      Effect.catchTag("ConfigurationError", ({ detail }) => Effect.succeed([detail]))
    )
    return { results, deleted: ["delete", "Delete", "DELETE_ALL"].filter((name) => shop.executions(name) > 0) }
  })

const deletes = [["Shop", "delete"], ["Shop", "Delete"], ["Shop", "DELETE_ALL"]] as const

const denied = "PermissionDenied"

describe("a deny rule", () => {
  it.scoped("covers a tool whose name differs only in case, and overrides every allow", () =>
    Effect.gen(function*() {
      for (const deny of ["Shop/DELETE*", "shop/delete*", "mcp__SHOP__delete*", "shop.Delete*", "*/dElEtE*"]) {
        const { deleted, results } = yield* outcomes(rules(["allow", "Shop/*"], ["deny", deny]), [
          ...deletes,
          ["Shop", "look"]
        ])
        assert.deepStrictEqual(results, [denied, denied, denied, "done"], deny)
        assert.deepStrictEqual(deleted, [], deny)
      }
      const named = yield* outcomes({
        rules: [{ decision: "allow", tool: "Shop/*" }, { decision: "deny", server: "SHOP", tool: "dELETE" }]
      }, deletes)
      assert.deepStrictEqual(named.results, [denied, denied, "done"])
    }))

  it.scoped("does not make an allow or an ask ignore case", () =>
    Effect.gen(function*() {
      const allowed = yield* outcomes(rules(["allow", "Shop/delete"]), deletes)
      assert.deepStrictEqual(allowed.results, ["done", denied, denied])
      const asked = yield* outcomes(rules(["allow", "Shop/*"], ["ask", "Shop/delete"]), deletes)
      assert.deepStrictEqual(asked.results, [denied, "done", "done"])
    }))
})

describe("an approval", () => {
  it.scoped("shows the arguments that are sent, also for getters and toJSON", () =>
    Effect.gen(function*() {
      let reads = 0
      const sent: Array<string> = []
      const shown: Array<string> = []
      const shop = yield* MemoryServer.make({
        tools: [{ name: "buy", call: (args) => Effect.sync(() => `${sent.push(JSON.stringify(args))}`) }]
      })
      const approval = Approval.layer(({ subject }) =>
        Effect.sync(() => {
          shown.push(JSON.stringify(subject.args))
          return { _tag: "Once" } as const
        })
      )
      const given = [
        { at: new Date(0) },
        { of: { toJSON: () => "text" } },
        { of: { toJSON: () => ({ reads: ++reads }) } },
        Object.defineProperty({}, "reads", { enumerable: true, get: () => ++reads })
      ]
      yield* Effect.forEach(given, (args) =>
        Effect.flatMap(McpRuntime.McpRuntime, ({ callTool }) =>
          // the cast: what a compiler would refuse reaches this from a library all the same
          callTool({ server: "Shop", tool: "buy" }, args as JsonRpc.JsonObject, { origin: "model" }))).pipe(
          Effect.provide(
            NodeMcpRuntime.layerTest({
              servers: [MemoryTransport.config("Shop")]
            }).pipe(NodeMcpRuntime.using(Layer.merge(MemoryTransport.layer({ Shop: shop }), approval)))
          )
        )
      assert.deepStrictEqual(shown, sent)
      // how often a getter is read is left open
      assert.deepStrictEqual(sent.slice(0, 3), [
        `{"at":"1970-01-01T00:00:00.000Z"}`,
        `{"of":"text"}`,
        `{"of":{"reads":1}}`
      ])
      assert.match(sent[3] ?? "", /^\{"reads":\d\}$/)
    }))
})

describe("allow mcp__*", () => {
  it.scoped("lets a model call every tool of all servers but those that another rule denies", () =>
    Effect.gen(function*() {
      const { deleted, results } = yield* outcomes(rules(["allow", "mcp__*"], ["deny", "Shop/Delete"]), [
        ["Shop", "look"],
        ["docs", "search"],
        ...deletes
      ])
      assert.deepStrictEqual(results, ["done", "done", denied, denied, "done"])
      assert.deepStrictEqual(deleted, ["DELETE_ALL"])
    }))

  it.scoped("is suggested by the error of an allow over several servers", () =>
    Effect.gen(function*() {
      for (const pattern of ["*", "*/look", "mcp__Sh*__look"]) {
        const { results } = yield* outcomes(rules(["allow", pattern]), [["Shop", "look"]])
        assert.include(results[0], "`mcp__*` allows every tool of all servers", pattern)
      }
    }))
})
