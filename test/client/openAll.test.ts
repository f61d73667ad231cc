import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Either, Exit, Scope } from "effect"
import { devNull } from "node:os"
import { fileURLToPath } from "node:url"
import * as Connector from "../../src/client/Connector.ts"
import * as NodeConnector from "../../src/node/NodeConnector.ts"
import * as Teardown from "../../src/resilience/Teardown.ts"
import * as Configs from "../support/configs.ts"

const server = fileURLToPath(new URL("../fixtures/faults/server.mjs", import.meta.url))

const grace = 400

describe("several servers in one scope", () => {
  it.live("open and fail independently, and end together even if they are stubborn", () =>
    Effect.gen(function*() {
      const stubborn = Array.from({ length: 4 }, (_, index) =>
        Configs.stdio({ name: `s${index}`, command: process.execPath, args: [server, "ignore-term", devNull] }))
      const missing = Configs.stdio({ name: "missing", command: "there-is-no-such-command" })
      const scope = yield* Scope.make()
      const opened = yield* Scope.extend(Connector.openAll([...stubborn, missing], { batchSize: 4 }), scope)
      assert.deepStrictEqual(opened.map(Either.isRight), [true, true, true, true, false])
      const [took] = yield* Effect.timed(Scope.close(scope, Exit.void))
      const { servers } = yield* Effect.flatMap(Teardown.Teardown, (teardown) =>
        teardown.report)
      const ended = servers.filter((end) =>
        end.server !== "missing"
      )
      assert.strictEqual(ended.length, 4)
      for (const end of ended) {
        assert.strictEqual(end.how, "killed")
        for (const pid of end.killed) assert.throws(() => process.kill(pid, 0))
      }
      // one after another they would take as long as all of them
      assert.isBelow(
        Duration.toMillis(took),
        ended.reduce((sum, end) => sum + Duration.toMillis(end.took), 0)
      )
    }).pipe(Effect.provide(NodeConnector.layer({ teardown: { stdinGrace: grace, termGrace: grace } }))))
})
