import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as Era from "../../src/client/era.ts"
import * as McpError from "../../src/McpError.ts"

const server = "s"
const remote = (code: number, data?: unknown) =>
  Either.left(new McpError.RemoteError({ server, code, detail: "", data }))
const status = (status: number) =>
  Either.left(new McpError.HttpError({ server, reason: "status", status, detail: "", outcome: "executed" }))
const decided = (answer: Parameters<typeof Era.decide>[1]) => Era.decide(server, answer)._tag

describe("the era of a server", () => {
  it("is stateless if it says that it speaks a version of it", () => {
    assert.strictEqual(decided(Either.right({ supportedVersions: ["2025-11-25", "2026-07-28"] })), "Stateless")
  })

  it("is the session era if it knows only older versions, or does not know the question", () => {
    assert.strictEqual(decided(Either.right({ supportedVersions: ["2025-11-25"] })), "Session")
    assert.strictEqual(decided(Either.right({})), "Session")
    assert.strictEqual(decided(remote(-32601)), "Session")
    assert.strictEqual(decided(remote(-32000)), "Session")
    assert.strictEqual(decided(remote(-32022, { supported: ["2025-11-25"] })), "Session")
    assert.strictEqual(decided(remote(-32022)), "Session")
    for (const code of [400, 404, 405, 406, 500, 502]) assert.strictEqual(decided(status(code)), "Session")
  })

  it("is asked for again in a version that it names when it refuses the first, once", () => {
    const refused = Era.decide(server, remote(-32022, { supported: ["2025-11-25", "2026-07-28"] }))
    assert.deepStrictEqual(refused, { _tag: "Again", protocolVersion: "2026-07-28" })
    const decision = Era.final(server, refused)
    assert.strictEqual(decision._tag, "Impossible")
    if (decision._tag === "Impossible") {
      assert.deepInclude(decision.error, { _tag: "HandshakeFailed", reason: "version" })
    }
    const stateless = Era.decide(server, Either.right({ supportedVersions: ["2026-07-28"] }))
    assert.strictEqual(Era.final(server, stateless), stateless)
  })

  it("is foreign if it speaks only versions that we do not", () => {
    const decision = Era.decide(server, remote(-32022, { supported: ["2027-01-01"] }))
    assert.strictEqual(decision._tag, "Impossible")
    if (decision._tag === "Impossible") {
      assert.deepInclude(decision.error, { _tag: "HandshakeFailed", reason: "version" })
    }
  })

  it("is not decided by what says nothing of it", () => {
    const network = new McpError.NetworkError({ server, code: "ECONNREFUSED", detail: "", outcome: "not-sent" })
    for (
      const error of [
        network,
        new McpError.AuthorizationFailed({ server, reason: "unauthorized" }),
        new McpError.HttpError({ server, reason: "forbidden", outcome: "not-sent" })
      ]
    ) {
      const decision = Era.decide(server, Either.left(error))
      assert.deepStrictEqual(decision, { _tag: "Impossible", error })
    }
  })

  it.prop("is decided for any answer whatever", [FastCheck.jsonValue()], ([value]) => {
    decided(remote(-32022, value))
    const answer = typeof value === "object" && value !== null && !Array.isArray(value) ? value : { value }
    // the cast: any JSON may arrive
    const tag = decided(Either.right(answer as never))
    assert.include(["Stateless", "Session", "Impossible", "Again"], tag)
  })
})
