import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import * as Redaction from "../../src/safety/Redaction.ts"
import * as Secrets from "../fixtures/safety/secrets.ts"

const { text } = Redaction.make()

const json = (value: string): string => JSON.stringify(value).slice(1, -1)

const html = (value: string): string =>
  value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\"", "&quot;").replaceAll("'", "&#39;")

/** What becomes of a text on its way into an error or a log, and of the secret in it. */
const ways: Readonly<Record<string, (value: string) => string>> = {
  plain: (value) => value,
  "in a sentence": (value) => `the request failed: ${value} was refused`,
  "among lines": (value) => `one\n${value}\ntwo`,
  "in colour": (value) => `\u001b[31m${value}\u001b[0m`,
  "escaped for JSON": json,
  "in JSON in JSON": (value) => JSON.stringify({ error: JSON.stringify({ message: `a\n${value}\nb` }) }),
  "escaped for HTML": html
}

const encodedAsAWhole: Readonly<Record<string, (value: string) => string>> = {
  base64: (value) => Buffer.from(value).toString("base64"),
  base64url: (value) => Buffer.from(value).toString("base64url"),
  hex: (value) => Buffer.from(value).toString("hex")
}

/** However it was written. */
const shows = (told: string, secret: string): boolean =>
  [secret, json(secret), json(json(secret)), html(secret)].some((written) => told.includes(written))

const errorAround = (message: string): Error => {
  const inner = new Error(message)
  inner.stack = `Error: ${message}\n    at nowhere`
  return new Error("outer", { cause: new Error("middle", { cause: inner }) })
}

const texts = (error: unknown): string =>
  error instanceof Error ? `${error.message} ${error.stack} ${texts(error.cause)}` : ""

describe("Redaction of the formats of the shared corpus", () => {
  for (const [name, way] of Object.entries(ways)) {
    it(`hides each ${name}`, () => {
      const shown = Secrets.known.filter((sample) => shows(text(way(sample.text)), sample.secret))
      assert.deepStrictEqual(shown.map(({ id }) => id), [])
    })
  }

  for (const [name, encode] of Object.entries(encodedAsAWhole)) {
    it(`hides the ${name} of a text with each`, () => {
      const shown = Secrets.known.filter((sample) => text(`got ${encode(sample.text)}.`).includes(encode(sample.text)))
      assert.deepStrictEqual(shown.map(({ id }) => id), [])
    })
  }

  it("hides each in the causes of an error", () => {
    const shown = Secrets.known.filter((sample) =>
      shows(texts(Redaction.make().json(errorAround(sample.text))), sample.secret)
    )
    assert.deepStrictEqual(shown.map(({ id }) => id), [])
  })

  it("hides 95 of 100 secrets in texts by another author", () => {
    const shown = Secrets.unseen.filter((sample) => text(sample.text).includes(sample.secret))
    assert.isAtMost(shown.length / Secrets.unseen.length, 0.05, shown.map((sample) => sample.text).join("\n"))
  })

  it("hides a token and nothing beside it", () => {
    const sample = Secrets.known.find(({ id }) => id === "github-pat")!
    assert.strictEqual(text(`use ${sample.text}, please`), "use [redacted], please")
  })

  it("does not hide again what is hidden", () => {
    for (const sample of Secrets.known) {
      const told = text(sample.text)
      assert.strictEqual(text(told), told, sample.id)
    }
  })
})

describe("Redaction of a private key that is no block of text", () => {
  const secret = "Zq8xW3v7Lm-".repeat(4)
  const jwk = { kty: "EC", crv: "P-256", d: secret, x: "public-x-public-x", y: "public-y-public-y" }

  it("hides the private parts of a JWK in any order and escaping", () => {
    for (const written of [JSON.stringify(jwk), JSON.stringify(jwk, null, 2), JSON.stringify(JSON.stringify(jwk))]) {
      const told = text(`the key ${written} is refused`)
      assert.notInclude(told, secret)
      assert.include(told, "public-x-public-x")
    }
    assert.notInclude(text(JSON.stringify({ d: secret, kty: "OKP" })), secret)
    assert.notInclude(text(JSON.stringify({ keys: [jwk, { kty: "oct", k: secret }] })), secret)
    // of what is no key, one letter says nothing
    const plot = JSON.stringify({ d: secret, kind: "path" })
    assert.strictEqual(text(plot), plot)
  })

  it("hides the private lines of PuTTY", () => {
    const lines = `${"Zq8xW3v7Lm".repeat(6)}\n${"Zq8xW3v7Lm".repeat(3)}=`
    const told = text(`Public-Lines: 1\nAAAAB3NzaC1yc2E\nPrivate-Lines: 2\n${lines}\nPrivate-MAC: 00ff`)
    assert.notInclude(told, "Zq8x")
    assert.include(told, "Public-Lines: 1\nAAAAB3NzaC1yc2E\nPrivate-Lines: 2\n")
    assert.include(told, "\nPrivate-MAC: 00ff")
  })
})

describe("Redaction of secrets by other authors", () => {
  it("hides 95 of 100", () => {
    assert.isAbove(Secrets.fresh.length, 150)
    const told = Secrets.fresh.filter((sample) => shows(text(sample.text), sample.secret))
    assert.isAtMost(told.length, Secrets.fresh.length * 0.05, told.map((sample) => sample.text).join("\n"))
  })

  it("hides a value that follows its name in YAML, JSON, XML and programs", () => {
    for (
      const around of [
        (value: string) => `- name: DB_PASSWORD\n  value: ${value}`,
        (value: string) => `{"name":"API_TOKEN","value":"${value}"}`,
        (value: string) => `<add key="ApiSecret" value="${value}" />`,
        (value: string) => `machine api.example login bob password ${value}`,
        (value: string) => `<Password>${value}</Password>`,
        (value: string) => `<wsse:Token>${value}</wsse:Token>`,
        (value: string) => `os.environ["DB_SECRET"] = "${value}"`,
        (value: string) => `config['apiKey']: '${value}'`,
        (value: string) => `Passwort: ${value}`,
        (value: string) => `DD-APPLICATION-KEY: ${value}`
      ]
    ) {
      const value = ["Zq8x", "W3v7Lm"].join("")
      assert.notInclude(text(around(value)), value)
    }
    const port = "- name: API_TOKEN_TTL\n  value: 3600"
    assert.strictEqual(text(port), port)
  })
})

describe("Redaction of texts that only look like secrets", () => {
  it("returns the same text", () => {
    for (const { id, negatives } of Secrets.known) for (const one of negatives) assert.strictEqual(text(one), one, id)
    for (const one of Secrets.benign) assert.strictEqual(text(one), one)
  })

  it("leaves what people and servers write", () => {
    const { cases } = JSON.parse(
      readFileSync(new URL("../fixtures/safety/injection-benign.json", import.meta.url), "utf8")
    ) as { readonly cases: ReadonlyArray<{ readonly text: string }> }
    assert.isAbove(cases.length, 50)
    for (const one of cases) assert.strictEqual(text(one.text), one.text)
  })

  it("leaves programs, minified programs and lock files", () => {
    const file = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")
    for (
      const path of [
        "effect/dist/cjs/Config.js",
        "@modelcontextprotocol/sdk/dist/esm/client/auth.js",
        "@effect/platform/dist/cjs/HttpApiSecurity.js",
        "ws/lib/websocket.js"
      ]
    ) {
      const program = file(`node_modules/${path}`)
      assert.isTrue(text(program) === program, path)
    }
    const lock = file("package-lock.json")
    assert.isTrue(text(lock) === lock)
  })

  it("leaves images", () => {
    const bytes = Buffer.from(Array.from({ length: 60_000 }, (_, at) => (at * 7919 + at * at * 31) % 251))
    const image = `data:image/png;base64,${bytes.toString("base64")}`
    assert.strictEqual(text(image), image)
  })
})
