import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, FastCheck, Redacted, Scope } from "effect"
import { inspect } from "node:util"
import * as McpError from "../../src/McpError.ts"
import * as Redaction from "../../src/safety/Redaction.ts"

const hidden = "[redacted]"

/** Knows the secrets for as long as `use` runs. */
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

describe("a known value", () => {
  it.effect("is hidden as it is and in every encoding that is usual", () =>
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

  it.effect("is hidden within the base64 of something larger", () =>
    knowing([secret], ({ text }) => {
      for (const before of ["", "a", "ab", "abc", "user:"]) {
        const told = text(Buffer.from(`${before}${secret}${before}`).toString("base64"))
        for (let at = 0; at + 12 <= told.length; at++) {
          const part = Buffer.from(told.slice(at), "base64").toString()
          assert.notInclude(part, secret.slice(4, 20))
        }
      }
    }))

  it.effect("is hidden where a text was cut in the middle of it", () =>
    knowing(["correct-horse-battery-staple"], ({ text }) => {
      assert.strictEqual(text("attery-staple is wrong"), `${hidden} is wrong`)
      assert.strictEqual(text("wrong: correct-hors"), `wrong: ${hidden}`)
      assert.strictEqual(text("wrong: correct-hors… (17 more characters)"), `wrong: ${hidden}… (17 more characters)`)
      assert.strictEqual(text("correct-hors is a beginning"), "correct-hors is a beginning")
    }))

  it.effect("is hidden by its lines, where it has several", () =>
    knowing(["first-line-of-a-long-key\nsecond-line-of-a-long-key"], ({ text }) => {
      assert.strictEqual(text("> second-line-of-a-long-key"), `> ${hidden}`)
    }))

  it.effect("is hidden only where it stands alone, if it is short, and not at all if it is shorter", () =>
    knowing(["pass1", "abc", "  "], ({ text }) => {
      assert.strictEqual(text("pass1, xpass1 and pass12"), `${hidden}, xpass1 and pass12`)
      assert.strictEqual(text("abc and   more"), "abc and   more")
    }))

  it.effect("is known until all who know it have let go", () =>
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

  it("is let go of once by each", () => {
    const redaction = Redaction.make()
    const letGo = redaction.unsafeKnow(Redacted.make("some-secret-word"))
    redaction.unsafeKnow(Redacted.make("some-secret-word"))
    letGo()
    letGo()
    assert.strictEqual(redaction.text("some-secret-word"), hidden)
  })

  it("is hidden alone where what only looks like a secret must be seen", () => {
    const redaction = Redaction.make()
    const release = redaction.unsafeKnow(Redacted.make("plumorchard-lantern"))
    const text = "token=plumorchard-lantern password=Xk29vLq8Zt4Rw7Yb1Nc5"
    assert.strictEqual(redaction.known(text), `token=${hidden} password=Xk29vLq8Zt4Rw7Yb1Nc5`)
    assert.notInclude(redaction.text(text), "Xk29vLq8Zt4Rw7Yb1Nc5")
    release()
    assert.strictEqual(redaction.known(text), text)
  })

  it.effect("is found with its place, and before what it looks like", () =>
    knowing(["token=abcdefgh1234"], ({ found }) => {
      assert.deepStrictEqual(found("a token=abcdefgh1234"), [{ id: "known", at: 2, length: 18 }])
    }))

  it.effect.prop(
    "is never told, whatever it is and wherever it stands",
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

describe("a text without secrets", () => {
  it.effect.prop(
    "is the same text",
    { text: FastCheck.string() },
    ({ text }) =>
      knowing(["correct-horse-battery-staple"], (redaction) => {
        assert.strictEqual(redaction.text(text), text)
        assert.deepStrictEqual(redaction.found(text), [])
      })
  )

  it("is told as it is with layerNone, even what is known", () => {
    const program = Effect.gen(function*() {
      const redaction = yield* Redaction.Redaction
      yield* redaction.know(Redacted.make("some-secret-word"))
      return [redaction.text("some-secret-word"), redaction.url("http://a:b@c"), redaction.json({ token: "x" })]
    })
    return Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(Redaction.layerNone))).then((told) =>
      assert.deepStrictEqual(told, ["some-secret-word", "http://a:b@c", { token: "x" }])
    )
  })
})

describe("data", () => {
  const { json } = Redaction.make({ sensitive: ["X-Tenant"] })

  it("keeps its shape, and is the same where nothing is hidden", () => {
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

  it("keeps the parts in which nothing is hidden, and is not changed itself", () => {
    const data = { same: { a: 1 }, secret: "s" }
    const told = json(data) as typeof data
    assert.strictEqual(told.same, data.same)
    assert.deepStrictEqual(data, { same: { a: 1 }, secret: "s" })
  })

  it("may be keyed by anything, lead back to itself and be nested without end", () => {
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

  it("leads nowhere to what it was: not by what leads back to itself, and not by what is there twice", () => {
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

  it("is hidden as a whole under a telling name, although it stands elsewhere too", () => {
    const shared = { id: "plain" }
    assert.deepStrictEqual(json({ first: shared, credentials: shared, last: [shared] }), {
      first: { id: "plain" },
      credentials: { id: hidden },
      last: [{ id: "plain" }]
    })
  })

  it("may be addresses, and bytes, of which nothing is looked at", () => {
    const bytes = new Uint8Array(4_000_000)
    const plain = new URL("https://a.example/")
    const told = json({ url: new URL("https://me:abcDEF123456@a.example/?token=abcDEF123456"), plain, bytes })
    assert.notInclude(inspect(told), "abcDEF123456")
    assert.strictEqual((told as { readonly plain: unknown }).plain, plain)
    assert.strictEqual((told as { readonly bytes: unknown }).bytes, bytes)
  })

  it("may be maps, sets and errors", () => {
    const told = json({ map: new Map([["token", "x"], ["a", "b"]]), set: new Set(["Bearer abcDEF123456ghijkl789"]) })
    assert.deepStrictEqual(told, { map: new Map([["token", hidden], ["a", "b"]]), set: new Set([`Bearer ${hidden}`]) })
    const error = json(new McpError.RemoteError({ server: "s", code: 1, detail: "password=hunter2hunter2" }))
    assert.instanceOf(error, McpError.RemoteError)
    assert.include(String(error), `password=${hidden}`)
  })
})

describe("headers and addresses", () => {
  const { headers, url } = Redaction.make()

  it("lose what only those may know who send them", () => {
    assert.deepStrictEqual(headers({ Authorization: "Bearer x", "X-Api-Key": "k", accept: "text/plain", cookie: "" }), {
      Authorization: hidden,
      "X-Api-Key": hidden,
      accept: "text/plain",
      cookie: ""
    })
    assert.strictEqual(
      url("https://me:pw@host.test:1/p?x=1&access_token=abc&code=9#id_token=t"),
      `https://${hidden}@host.test:1/p?x=1&access_token=${hidden}&code=${hidden}#id_token=${hidden}`
    )
    for (const plain of ["https://host.test/a@b?c=d&page=2#e", "no address", "", "/a?b", "https://host"]) {
      assert.strictEqual(url(plain), plain)
    }
  })
})
