import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type * as McpClient from "../../src/client/McpClient.ts"
import * as HttpServer from "../fixtures/faults/httpServer.ts"
import { echoes, fails, run, succeeds, test, textOf } from "./harness.ts"
import { processFor, stdio } from "./stdio.ts"

const soon = "2 seconds"

const names = (session: McpClient.McpClient) =>
  Effect.map(succeeds("tools", session.tools), ({ tools }) => tools.map((tool) => tool.name))

describe("lists of tools", () => {
  stdio("pages-50", "a thousand tools on fifty pages", (peer) =>
    Effect.gen(function*() {
      const found = yield* names(yield* succeeds("open", peer.open))
      assert.strictEqual(found.length, 1000)
      assert.strictEqual(new Set(found).size, 1000)
    }))

  stdio(
    "cursor-empty",
    "an empty cursor that repeats is the end, without duplicates",
    (peer, journal) =>
      Effect.gen(function*() {
        const found = yield* names(yield* succeeds("open", peer.open))
        assert.deepStrictEqual(found, ["echo"])
        assert.isAtMost(journal.count("tools/list"), 3)
      })
  )

  stdio("cursor-empty-then-more", "an empty cursor is followed", (peer) =>
    Effect.gen(function*() {
      const found = yield* names(yield* succeeds("open", peer.open))
      assert.deepStrictEqual(found, ["echo", "second"])
    }))

  stdio(
    "cursor-endless",
    "a list without end is given up with ProtocolViolation/pagination",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("tools", session.tools, "ProtocolViolation", {
          reason: "pagination",
          exceeds: "pages",
          limit: 100,
          countsForBreaker: false
        })
        assert.isAtMost(journal.count("tools/list"), 101)
        yield* echoes(session)
      })
  )

  stdio(
    "page-fails",
    "a page that fails fails the list; there is no silent half of it",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("tools", session.tools, "RemoteError", { code: -32603 }, soon)
        yield* echoes(session)
      })
  )

  stdio("dup-tools", "of one name there is one tool: the first", (peer) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      const { rejected, tools } = yield* succeeds("tools", session.tools)
      assert.deepStrictEqual(tools.map(({ description, name }) => [name, description]), [
        ["echo", "first"],
        ["other", undefined]
      ])
      assert.deepStrictEqual(rejected.map(({ reason }) => reason), ["duplicate", "duplicate"])
    }))

  stdio(
    "odd-tool-names",
    "odd names are set apart one by one, the good tools stay and can be called",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        const { rejected, tools } = yield* succeeds("tools", session.tools)
        assert.deepStrictEqual(tools.map((tool) => tool.name), ["echo", "toString"])
        assert.strictEqual(rejected.length, 12)
        for (const { detail, name, reason } of rejected) {
          // oxlint-disable-next-line no-control-regex
          assert.notMatch(name + detail, /[\u0000-\u001f\u202e]/)
          assert.isBelow(name.length, 1024)
          assert.isNotEmpty(reason)
        }
        for (const name of ["__proto__", "constructor", "toString", ""]) {
          yield* fails(`call of ${name}`, session.callTool(name), "RemoteError", { code: -32602 }, soon)
        }
        yield* echoes(session)
      })
  )

  stdio(
    "huge-schema",
    "a tool with a schema of four megabytes is set apart, and costs no other",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        const { rejected, tools } = yield* succeeds("tools", session.tools)
        assert.deepStrictEqual(tools.map((tool) => tool.name), ["echo"])
        assert.deepStrictEqual(rejected.map(({ name, reason }) => [name, reason]), [["huge", "schema-too-large"]])
        yield* echoes(session)
      }),
    { memory: 200, lag: 1000 }
  )

  stdio(
    "ref-loop-schema",
    "references in a circle cost no other tool and overflow nothing",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        assert.include(yield* names(session), "echo")
        const looped = yield* succeeds("looped", session.callTool("looped"), soon)
        assert.deepStrictEqual(looped.structuredContent, { value: { a: 1 } })
        yield* echoes(session)
      }),
    { lag: 1000 }
  )

  test(
    "remote-ref-schema",
    "a reference to the network is never followed, and costs no other tool",
    run(
      Effect.gen(function*() {
        const witness = yield* HttpServer.serve({ post: ({ status }) => status(200), get: ({ status }) => status(200) })
        const { config, remains, server } = yield* processFor("remote-ref-schema", {
          config: { env: { WITNESS_URL: `${witness.origin}/schema.json` } }
        })
        return { config, remains, server: { journal: server, witness } }
      }),
      (peer, { witness }) =>
        Effect.gen(function*() {
          const session = yield* succeeds("open", peer.open)
          assert.include(yield* names(session), "echo")
          assert.strictEqual(textOf(yield* succeeds("remote", session.callTool("remote"), soon)), "x")
          assert.strictEqual(witness.most(), 0)
        })
    )
  )
})

describe("results of tools", () => {
  stdio("regex-dos-schema", "a catastrophic pattern never stops the event loop", (peer) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      assert.include(yield* names(session), "redos")
      yield* fails("redos", session.callTool("redos"), "ProtocolViolation", {
        reason: "tool-result",
        path: (path: string) => path.includes("value")
      }, soon)
      yield* echoes(session)
    }), { lag: 1000 })

  for (const listed of [true, false]) {
    const [mode, when] = listed ? ["output-mismatch", "listed"] : ["output-mismatch-unlisted", "never listed"]
    stdio(
      mode,
      `structured content that breaks its schema is ProtocolViolation/tool-result, the tool being ${when}`,
      (peer) =>
        Effect.gen(function*() {
          const session = yield* succeeds("open", peer.open)
          if (listed) yield* names(session)
          yield* fails("add", session.callTool("add"), "ProtocolViolation", {
            reason: "tool-result",
            tool: "add",
            path: (path: string) => path.includes("sum"),
            outcome: "executed",
            countsForBreaker: false
          }, soon)
          const kept = yield* succeeds("add", session.callTool("add", {}, { outputMismatch: "keep" }))
          assert.deepStrictEqual(kept.structuredContent, { sum: "three" })
          yield* echoes(session)
        }),
      { mode: "output-mismatch" }
    )
  }

  stdio(
    "output-missing",
    "a tool with an output schema that gives no structured content is ProtocolViolation/tool-result",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* names(session)
        yield* fails("add", session.callTool("add"), "ProtocolViolation", {
          reason: "tool-result",
          tool: "add",
          outcome: "executed"
        }, soon)
        yield* echoes(session)
      })
  )

  stdio("is-error", "a tool that reports failure gives a value that says so", (peer) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      const result = yield* succeeds("bad", session.callTool("bad"))
      assert.isTrue(result.isError)
      assert.strictEqual(textOf(result), "no such file")
    }))

  stdio("unknown-content", "content of an unknown kind is kept beside the known", (peer) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      const result = yield* succeeds("bad", session.callTool("bad"))
      assert.strictEqual(textOf(result), "<Unknown>kept")
      assert.deepStrictEqual(result.content[0]?.raw, { type: "hologram", beams: 3 })
    }))

  stdio("content-missing", "a result without content is a result with none", (peer) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      assert.deepStrictEqual((yield* succeeds("bad", session.callTool("bad"))).content, [])
    }))

  stdio(
    "content-not-array",
    "content that is no array is ProtocolViolation/tool-result",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("bad", session.callTool("bad"), "ProtocolViolation", {
          reason: "tool-result",
          path: (path: string) => path.includes("content"),
          outcome: "executed"
        }, soon)
        yield* echoes(session)
      })
  )
})
