import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"
import * as Redaction from "../../src/safety/Redaction.ts"
import * as RemoteHeaders from "../../src/transport/RemoteHeaders.ts"

const headers = (record: Readonly<Record<string, string>>) =>
  new Map(Object.entries(record).map(([name, value]) => [name, Redacted.make(value)]))

describe("the headers of a connection", () => {
  it.effect("are known when they are asked for, also the later ones, until the connection ends", () =>
    Effect.gen(function*() {
      const redaction = yield* Redaction.Redaction
      const scope = yield* Scope.make()
      let given = headers({ authorization: "Bearer walnut-harbour", accept: "application/json" })
      const source = yield* RemoteHeaders.secret({ current: () => given, refused: () => undefined }).pipe(
        Scope.extend(scope)
      )
      assert.strictEqual(source.current(), given)
      assert.strictEqual(redaction.text("no walnut-harbour"), "no [redacted]")
      assert.strictEqual(redaction.text("application/json"), "application/json")
      given = headers({ authorization: "Bearer saffron-riverbend" })
      assert.strictEqual(source.current(), given)
      assert.strictEqual(redaction.text("walnut-harbour, saffron-riverbend"), "[redacted], [redacted]")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(redaction.text("walnut-harbour, saffron-riverbend"), "walnut-harbour, saffron-riverbend")
    }).pipe(Effect.provide(Redaction.layer({ formats: false }))))

  it.effect("expose neither their password nor a cookie", () =>
    Effect.scoped(Effect.gen(function*() {
      const { text } = yield* Redaction.Redaction
      const basic = Buffer.from("me:walnut-harbour").toString("base64")
      const source = yield* RemoteHeaders.secret({
        current: () => headers({ authorization: `Basic ${basic}`, cookie: "theme=x; sid=saffron-riverbend" }),
        refused: () => undefined
      })
      source.current()
      assert.strictEqual(text("walnut-harbour"), "[redacted]")
      assert.strictEqual(text(`Basic ${basic}`), "Basic [redacted]")
      assert.strictEqual(text("it was saffron-riverbend"), "it was [redacted]")
    })).pipe(Effect.provide(Redaction.layer({ formats: false }))))
})
