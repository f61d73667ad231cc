import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, FastCheck, Redacted, Scope } from "effect"
import { inspect } from "node:util"
import * as McpError from "../../src/McpError.ts"
import * as Redaction from "../../src/safety/Redaction.ts"

const hidden = "[redacted]"

/** Knows the secrets while `use` runs. */
const knowing = (secrets: ReadonlyArray<string>, use: (redaction: Redaction.Redactor) => void) => {
  const redaction = Redaction.make({ formats: false })
  return Effect.scoped(
    Effect.zipRight(
      Effect.forEach(secrets, (secret) => redaction.know(Redacted.make(secret))),
      Effect.sync(() => use(redaction))
    )
  )
}

const secret = "tr0ub4dor & \"three\" <horses>/äö"

describe("Redaction of a known value", () => {
  it.effect("hides it in every usual encoding", () =>
    knowing([secret], ({ text }) => {
      const written = [
        secret,
        JSON.stringify(secret).slice(1, -1),
        JSON.stringify(JSON.stringify(secret)).slice(3, -3),
        encodeURIComponent(secret),
        encodeURIComponent(secret).toLowerCase(),
        new URLSearchParams({ a: secret }).toString().slice(2),
        Buffer.from(secret).toString("base64"),
        Buffer.from(secret).toString("base64url"),
        Buffer.from(secret).toString("hex"),
        Buffer.from(secret).toString("hex").toUpperCase(),
        secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;")
      ]
      for (const one of written) {
        const told = text(`before ${one} after`)
        assert.include(told, hidden)
        assert.notInclude(told, one)
      }
    }))

  it.effect("hides it within the base64 of a longer text", () =>
    knowing([secret], ({ text }) => {
      for (const before of ["", "a", "ab", "abc", "user:"]) {
        const told = text(Buffer.from(`${before}${secret}${before}`).toString("base64"))
        for (let at = 0; at + 12 <= told.length; at++) {
          const part = Buffer.from(told.slice(at), "base64").toString()
          assert.notInclude(part, secret.slice(4, 20))
        }
      }
    }))

  it.effect("hides the part of it at which a text was cut", () =>
    knowing(["correct-horse-battery-staple"], ({ text }) => {
      assert.strictEqual(text("attery-staple is wrong"), `${hidden} is wrong`)
      assert.strictEqual(text("wrong: correct-hors"), `wrong: ${hidden}`)
      assert.strictEqual(text("wrong: correct-hors… (17 more characters)"), `wrong: ${hidden}… (17 more characters)`)
      assert.strictEqual(text("correct-hors is a beginning"), "correct-hors is a beginning")
    }))

  it.effect("hides each line of a value of several lines", () =>
    knowing(["first-line-of-a-long-key\nsecond-line-of-a-long-key"], ({ text }) => {
      assert.strictEqual(text("> second-line-of-a-long-key"), `> ${hidden}`)
    }))

  it.effect("hides a short value only where no word goes on around it, and one under four characters nowhere", () =>
    knowing(["pass1", "abc", "  "], ({ text }) => {
      assert.strictEqual(text("pass1, xpass1 and pass12"), `${hidden}, xpass1 and pass12`)
      assert.strictEqual(text("abc and   more"), "abc and   more")
    }))

  it.effect("hides it until the last scope closes", () =>
    Effect.gen(function*() {
      const redaction = Redaction.make()
      const [one, other] = yield* Effect.all([Scope.make(), Scope.make()])
      yield* Scope.extend(redaction.know(Redacted.make("some-secret-word")), one)
      yield* Scope.extend(redaction.know(Redacted.make("some-secret-word")), other)
      yield* Scope.close(one, Exit.void)
      assert.strictEqual(redaction.text("a some-secret-word"), `a ${hidden}`)
      yield* Scope.close(other, Exit.void)
      assert.strictEqual(redaction.text("a some-secret-word"), "a some-secret-word")
    }))

  it("counts each release once", () => {
    const redaction = Redaction.make()
    const letGo = redaction.unsafeKnow(Redacted.make("some-secret-word"))
    redaction.unsafeKnow(Redacted.make("some-secret-word"))
    letGo()
    letGo()
    assert.strictEqual(redaction.text("some-secret-word"), hidden)
  })

  it("known hides it and leaves what only looks like a secret", () => {
    const redaction = Redaction.make()
    const release = redaction.unsafeKnow(Redacted.make("plumorchard-lantern"))
    const text = "token=plumorchard-lantern password=Xk29vLq8Zt4Rw7Yb1Nc5"
    assert.strictEqual(redaction.known(text), `token=${hidden} password=Xk29vLq8Zt4Rw7Yb1Nc5`)
    assert.notInclude(redaction.text(text), "Xk29vLq8Zt4Rw7Yb1Nc5")
    release()
    assert.strictEqual(redaction.known(text), text)
  })

  it.effect("hides all of a value that holds the name of a credential", () =>
    knowing(["token=abcdefgh1234"], ({ text }) => {
      assert.strictEqual(text("a token=abcdefgh1234"), `a ${hidden}`)
    }))

  it.effect.prop(
    "hides any values in any text",
    {
      secrets: FastCheck.array(FastCheck.string({ minLength: 8, maxLength: 24 }), { minLength: 1, maxLength: 4 }),
      around: FastCheck.array(FastCheck.string({ maxLength: 12 }), { minLength: 5, maxLength: 5 })
    },
    ({ around, secrets }) =>
      knowing(secrets, ({ text }) => {
        const given = secrets.reduce((all, one, at) => `${all}${one}${around[at]}`, "")
        const told = text(given)
        for (const one of secrets) if (one.trim().length >= 4 && !hidden.includes(one)) assert.notInclude(told, one)
      })
  )
})

describe("Redaction of a text without secrets", () => {
  it.effect.prop(
    "returns the same text",
    { text: FastCheck.string() },
    ({ text }) =>
      knowing(["correct-horse-battery-staple"], (redaction) => {
        assert.strictEqual(redaction.text(text), text)
      })
  )

  it("layerNone hides nothing, not even known values", () => {
    const program = Effect.gen(function*() {
      const redaction = yield* Redaction.Redaction
      yield* redaction.know(Redacted.make("some-secret-word"))
      return [redaction.text("some-secret-word"), redaction.text("http://a:b123@c"), redaction.json({ token: "x" })]
    })
    return Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(Redaction.layerNone))).then((told) =>
      assert.deepStrictEqual(told, ["some-secret-word", "http://a:b123@c", { token: "x" }])
    )
  })
})

describe("Redaction.json", () => {
  const { json } = Redaction.make({ sensitive: ["X-Tenant"] })

  it("keeps the shape, and returns the same value where nothing is hidden", () => {
    const data = { a: [1, true, null, "x"], b: { c: undefined, maxTokens: 5 }, progressToken: "abc" }
    assert.strictEqual(json(data), data)
    assert.deepStrictEqual(
      json({ password: "x", nested: [{ Authorization: "y", list: { token: { value: "z", n: 1 } } }], "x-tenant": "q" }),
      {
        password: hidden,
        nested: [{ Authorization: hidden, list: { token: { value: hidden, n: 1 } } }],
        "x-tenant": hidden
      }
    )
  })

  it("keeps the parts in which nothing is hidden, and does not change its argument", () => {
    const data = { same: { a: 1 }, secret: "s" }
    const told = json(data) as typeof data
    assert.strictEqual(told.same, data.same)
    assert.deepStrictEqual(data, { same: { a: 1 }, secret: "s" })
  })

  it("takes any keys, references back to the value and any depth", () => {
    const odd = JSON.parse(`{"__proto__": {"token": "x"}, "constructor": "y"}`) as object
    const told = json(odd) as object
    assert.deepStrictEqual(Object.keys(told), ["__proto__", "constructor"])
    assert.strictEqual(JSON.stringify(told), `{"__proto__":{"token":"${hidden}"},"constructor":"y"}`)
    assert.strictEqual(Object.getPrototypeOf(told), Object.prototype)
    const cycle: Record<string, unknown> = { token: "x" }
    cycle["self"] = cycle
    assert.strictEqual((json(cycle) as typeof cycle)["token"], hidden)
    let deep: unknown = "x"
    for (let depth = 0; depth < 10_000; depth++) deep = [deep]
    assert.isDefined(json(deep))
  })

  it("leaves no reference to the original, neither through a cycle nor through a value that occurs twice", () => {
    const secret = "abcDEF123456ghijkl789"
    const table: Record<string, unknown> = { token: secret }
    const list: Array<unknown> = [`Bearer ${secret}`]
    const map = new Map<unknown, unknown>([["token", secret]])
    const set = new Set<unknown>([`Bearer ${secret}`])
    const error = new Error(`Bearer ${secret}`)
    table["self"] = table
    list.push(list)
    map.set("self", map)
    set.add(set)
    error.cause = error
    for (const one of [table, list, map, set, error]) {
      const told = inspect(json([one, { again: one }]), { depth: 9 })
      assert.notInclude(told, secret)
      assert.include(told, hidden)
    }
  })

  it("hides a value that occurs twice only under the name of a credential", () => {
    const shared = { id: "plain" }
    assert.deepStrictEqual(json({ first: shared, credentials: shared, last: [shared] }), {
      first: { id: "plain" },
      credentials: { id: hidden },
      last: [{ id: "plain" }]
    })
  })

  it("hides in URLs, and returns bytes as they are", () => {
    const bytes = new Uint8Array(4_000_000)
    const plain = new URL("https://a.example/")
    const told = json({ url: new URL("https://me:abcDEF123456@a.example/?token=abcDEF123456"), plain, bytes })
    assert.notInclude(inspect(told), "abcDEF123456")
    assert.strictEqual((told as { readonly plain: unknown }).plain, plain)
    assert.strictEqual((told as { readonly bytes: unknown }).bytes, bytes)
  })

  it("hides in maps, sets and errors", () => {
    const told = json({ map: new Map([["token", "x"], ["a", "b"]]), set: new Set(["Bearer abcDEF123456ghijkl789"]) })
    assert.deepStrictEqual(told, { map: new Map([["token", hidden], ["a", "b"]]), set: new Set([`Bearer ${hidden}`]) })
    const error = json(new McpError.RemoteError({ server: "s", code: 1, detail: "password=hunter2hunter2" }))
    assert.instanceOf(error, McpError.RemoteError)
    assert.include(String(error), `password=${hidden}`)
  })
})

describe("Redaction.json of headers", () => {
  it("hides credentials by their names", () => {
    const { json } = Redaction.make()
    assert.deepStrictEqual(json({ Authorization: "Bearer x", "X-Api-Key": "k", accept: "text/plain", cookie: "" }), {
      Authorization: hidden,
      "X-Api-Key": hidden,
      accept: "text/plain",
      cookie: ""
    })
  })
})
