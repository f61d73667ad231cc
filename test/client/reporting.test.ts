import { assert, describe, it } from "@effect/vitest"
import { Cause, Duration, Redacted } from "effect"
import * as Reporting from "../../src/client/reporting.ts"
import * as McpError from "../../src/McpError.ts"
import * as Redaction from "../../src/safety/Redaction.ts"

const hiding = () => {
  const redaction = Redaction.make()
  return {
    hide: Reporting.make({ server: "s", redaction, publish: () => undefined }),
    know: (secret: string) => redaction.unsafeKnow(Redacted.make(secret))
  }
}

describe("an error that leaves a connection", () => {
  it("is the same where it holds no secret", () => {
    const error = new McpError.RequestTimeout({
      server: "s",
      kind: "idle",
      operation: "tools/call",
      limit: Duration.seconds(1),
      outcome: "unknown"
    })
    assert.strictEqual(hiding().hide.error(error), error)
  })

  it("has no secret in its fields, its message and its stack, and keeps its tag", () => {
    const { hide, know } = hiding()
    know("walnut-harbour")
    const told = hide.error(
      new McpError.RemoteError({ server: "s", code: -1, detail: "no walnut-harbour", data: { a: ["walnut-harbour"] } })
    )
    assert.instanceOf(told, McpError.RemoteError)
    assert.deepInclude(told, { server: "s", code: -1, detail: "no [redacted]", data: { a: ["[redacted]"] } })
    const texts = [String(told), told.stack, JSON.stringify(told), Cause.pretty(Cause.fail(told))]
    for (const text of texts) assert.notInclude(text, "walnut-harbour")
  })

  it("keeps the fields that decide, even where a secret is the same word", () => {
    const { hide, know } = hiding()
    for (const word of ["stalled-server", "stalled", "unknown"]) know(word)
    const told = hide.error(
      new McpError.ConnectionLost({
        server: "stalled-server",
        reason: "stalled",
        detail: "stalled-server is stalled",
        outcome: "unknown"
      })
    )
    assert.deepInclude(told, { server: "stalled-server", reason: "stalled", outcome: "unknown" })
    assert.strictEqual(told.detail, "[redacted] is [redacted]")
  })

  it("has no reason in the words of a server", () => {
    const { hide, know } = hiding()
    know("walnut-harbour")
    const error = new McpError.Cancelled({
      server: "s",
      operation: "tools/call",
      detail: "walnut-harbour",
      outcome: "unknown"
    })
    assert.strictEqual(hide.error(error).detail, "[redacted]")
  })
})
