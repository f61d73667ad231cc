import { assert, describe } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Schedule, Stream } from "effect"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as McpError from "../../src/McpError.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeMcpRuntime from "../../src/node/NodeMcpRuntime.ts"
import { alive, journalOfMine } from "../faults/stdio.ts"
import * as Node from "../support/nodeRuntime.ts"

const numbered = <A>(count: number, of: (at: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, at) => of(at))

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "mcp-crowd-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const toolsOfRemote = 4

describe("sixty-four servers at once", () => {
  Node.test(
    "offer what is known of all before the slow and the dead have been heard, and then say which are dead and why",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      const cacheDirectory = yield* folder
      const living = yield* Node.remote(journal)
      const dying = yield* Node.remote(journal)
      const servers = [
        ...numbered(16, (at) => living.config(`mute-${at}`)),
        ...numbered(4, (at) => Node.small(journal, `dead-${at}`)),
        ...numbered(4, (at) => dying.config(`dead-remote-${at}`)),
        ...numbered(24, (at) => Node.small(journal, `good-${at}`)),
        ...numbered(16, (at) => living.config(`good-remote-${at}`))
      ]
      const given = Node.options(servers, {
        cacheDirectory,
        batchSize: 32,
        reconnect: { schedule: Schedule.stop }
      })
      const offered = 28 + 36 * toolsOfRemote

      yield* Node.using(
        given,
        (runtime) =>
          Effect.gen(function*() {
            const { tools } = yield* runtime.tools
            assert.strictEqual(tools.length, offered)
            // on a busy machine the end does not wait for all of them to be written
            const kept = Effect.sync(() => readdirSync(cacheDirectory).filter((name) => name.endsWith(".value")).length)
            yield* Effect.repeat(Effect.zipLeft(kept, Effect.sleep("10 millis")), {
              until: (count) => count === servers.length
            })
          })
      )
      yield* living.kill
      yield* dying.kill
      for (let at = 0; at < 4; at++) writeFileSync(`${journal.file}.dead-${at}`, "")
      yield* Node.remote(journal, living.port, ["mute"])

      yield* Effect.scoped(Effect.gen(function*() {
        const [built, context] = yield* Effect.timed(Layer.build(NodeMcpRuntime.layerTest(given)))
        const runtime = Context.get(context, McpRuntime.McpRuntime)
        const [took, { missing, tools }] = yield* Effect.timed(runtime.tools)
        if (process.env["SHOW_TIMES"] !== undefined) {
          yield* Effect.logInfo(`built in ${Duration.format(built)}, tools in ${Duration.format(took)}`)
        }
        // whoever waited for a server that says nothing would wait for its 40 s
        assert.isBelow(Duration.toMillis(Duration.sum(built, took)), 35_000)
        const isMute = ({ serverName }: { readonly serverName: string }) => serverName.startsWith("mute-")
        assert.deepStrictEqual(tools.filter(isMute).map(({ _tag }) => _tag), Array(16 * toolsOfRemote).fill("Deferred"))
        assert.isTrue(missing.every(({ server }) => server.startsWith("dead-")))

        const isDead = ({ name }: { readonly name: string }) => name.startsWith("dead-")
        const settled = Stream.filter(
          runtime.servers.changes,
          (infos) => infos.filter(isDead).every(({ status }) => status._tag === "Failed")
        )
        yield* Stream.runHead(settled)
        const later = yield* runtime.tools
        assert.deepStrictEqual(
          later.missing.map(({ error, server }) => [server, error && McpError.label(error)]),
          [
            ...numbered(4, (at) => [`dead-${at}`, "ConnectionLost/exited"]),
            ...numbered(4, (at) => [`dead-remote-${at}`, "NetworkError"])
          ]
        )
        const result = yield* runtime.callTool({ server: "good-23", tool: "name" })
        assert.strictEqual(Node.textOf(result), "good-23")
      }))
    })
  )

  Node.test(
    "are called at the same time, each by its own name",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      const names = numbered(64, (at) => `s${at}`)
      yield* Node.using(
        Node.options(names.map((name) => Node.small(journal, name))),
        (runtime) =>
          Effect.gen(function*() {
            const { tools } = yield* runtime.tools
            const results = yield* Effect.forEach(tools, (tool) => tool.call(), { concurrency: "unbounded" })
            assert.deepStrictEqual(results.map(Node.textOf), tools.map(({ serverName }) => serverName))
            assert.sameMembers(results.map(Node.textOf), [...names])
          })
      )
    })
  )

  Node.test(
    "that ignore every request to end take no longer than one of them",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      const grace = Duration.millis(600)
      const teardown = { stdinGrace: grace, termGrace: grace }
      const servers = numbered(16, (at) => Node.small(journal, `s${at}`, { stubborn: true }))
      const { report, since } = yield* Node.using(
        Node.options(servers, { teardown }),
        (runtime) =>
          Effect.gen(function*() {
            yield* runtime.tools
            assert.strictEqual(alive(journal).length, 16)
            return { report: runtime.teardownReport, since: performance.now() }
          })
      )
      const took = performance.now() - since
      assert.deepStrictEqual(alive(journal), [])
      const { servers: ends } = yield* report
      assert.deepStrictEqual(ends.map(({ how }) => how), servers.map(() => "killed"))
      assert.isBelow(took, 2 * 2 * Duration.toMillis(grace))
    })
  )
})
