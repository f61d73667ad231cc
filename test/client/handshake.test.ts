import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as Handshake from "../../src/client/handshake.ts"
import * as McpError from "../../src/McpError.ts"

const server = "s"
const remote = (code: number, data?: unknown) =>
  Either.left(new McpError.RemoteError({ server, code, detail: "", data }))
const status = (status: number) =>
  Either.left(new McpError.HttpError({ server, reason: "status", status, detail: "", outcome: "executed" }))
const decided = (answer: Parameters<typeof Handshake.decide>[1]) =>
  Either.match(Handshake.decide(server, answer), { onLeft: () => "Impossible", onRight: ({ _tag }) => _tag })

describe("Handshake.decide", () => {
  it("is stateless for a server that lists a stateless version", () => {
    assert.strictEqual(decided(Either.right({ supportedVersions: ["2025-11-25", "2026-07-28"] })), "Stateless")
  })

  it("is the session era for a server that lists only older versions, or does not know server/discover", () => {
    assert.strictEqual(decided(Either.right({ supportedVersions: ["2025-11-25"] })), "Session")
    assert.strictEqual(decided(Either.right({})), "Session")
    assert.strictEqual(decided(remote(-32601)), "Session")
    assert.strictEqual(decided(remote(-32000)), "Session")
    assert.strictEqual(decided(remote(-32022, { supported: ["2025-11-25"] })), "Session")
    assert.strictEqual(decided(remote(-32022)), "Session")
    for (const code of [400, 404, 405, 406, 500, 502]) assert.strictEqual(decided(status(code)), "Session")
  })

  it("asks again in the version that a refusal names", () => {
    assert.deepStrictEqual(
      Handshake.decide(server, remote(-32022, { supported: ["2025-11-25", "2026-07-28"] })),
      Either.right({ _tag: "Again", protocolVersion: "2026-07-28" } as const)
    )
  })

  it("fails for a server that lists only versions that the client does not speak", () => {
    const decision = Handshake.decide(server, remote(-32022, { supported: ["2027-01-01"] }))
    assert(Either.isLeft(decision))
    assert.deepInclude(decision.left, { _tag: "HandshakeFailed", reason: "version" })
  })

  it("fails with the error of an answer that says nothing about versions", () => {
    const network = new McpError.NetworkError({ server, code: "ECONNREFUSED", detail: "", outcome: "not-sent" })
    for (
      const error of [
        network,
        new McpError.AuthorizationFailed({ server, reason: "unauthorized" }),
        new McpError.HttpError({ server, reason: "forbidden", outcome: "not-sent" })
      ]
    ) {
      assert.deepStrictEqual(Handshake.decide(server, Either.left(error)), Either.left(error))
    }
  })

  it.prop("decides on any answer", [FastCheck.jsonValue()], ([value]) => {
    decided(remote(-32022, value))
    const answer = typeof value === "object" && value !== null && !Array.isArray(value) ? value : { value }
    // the cast: any JSON may arrive
    const tag = decided(Either.right(answer as never))
    assert.include(["Stateless", "Session", "Impossible", "Again"], tag)
  })
})
