import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Connector from "../../src/connection/Connector.ts"
import { unsent } from "../../src/connection/internal/unsent.ts"
import * as McpError from "../../src/McpError.ts"
import * as MemoryTransport from "../../src/transport/MemoryTransport.ts"
import * as OverMemory from "../support/overMemory.ts"

const server = "peer"

describe("a failed connect", () => {
  it("means that nothing was sent, whatever its error", () => {
    const outcome = "unknown"
    const phase = "ready"
    const errors: ReadonlyArray<McpError.ConnectError> = [
      new McpError.ConnectionLost({ server, reason: "reset", detail: "", outcome }),
      new McpError.HttpStatus({ server, status: 502, excerpt: "", outcome }),
      new McpError.MessageTooLarge({ server, limit: 5, direction: "received" }),
      new McpError.NetworkError({ server, code: "ECONNRESET", detail: "", outcome }),
      new McpError.ProcessExited({ server, code: 1, signal: null, outcome, phase, stderrTail: "x" }),
      new McpError.ProtocolViolation({ server, what: "w", excerpt: "", outcome: "executed", phase }),
      new McpError.StreamInterrupted({ server, detail: "", outcome }),
      new McpError.UnexpectedContentType({ server, got: "text/html", excerpt: "" })
    ]
    for (const error of errors) {
      assert.notStrictEqual(error.outcome, "not-sent")
      const told = unsent(error)
      assert.strictEqual(told.outcome, "not-sent")
      assert.strictEqual(told._tag, error._tag)
      assert.strictEqual(told.message, error.message)
    }
  })

  it.scoped("says so to its caller", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryTransport.peer(() => Effect.void)
      yield* peer.refuseConnect((server) => new McpError.MessageTooLarge({ server, limit: 5, direction: "received" }))
      const error = yield* Effect.flip(
        Effect.provide(
          Effect.flatMap(Connector.Connector, (connector) => connector.connect(MemoryTransport.config(server))),
          OverMemory.client({ peer })
        )
      )
      assert.deepInclude(error, { _tag: "MessageTooLarge", limit: 5, direction: "received" })
      assert.strictEqual(error.outcome, "not-sent")
    }))
})
