import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { type Cell, type It, Opened, remembers } from "./cell.ts"

/** Resources, prompts and completions. */
export const content = (it: It, cell: Cell): void => {
  it.effect("lists the resources of all pages", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const { items, malformed } = yield* session.resources
      const names = items.map(({ name }) => name ?? "").filter((name) => !name.startsWith("added_"))
      assert.deepStrictEqual(names, ["notes", "pixel", ...Array.from({ length: 6 }, (_, n) => `page ${n}`)])
      assert.deepInclude(items[0], {
        uri: "memory://notes",
        title: "Notes",
        description: "Some notes",
        mimeType: "text/plain"
      })
      assert.strictEqual(malformed, 0)
    }))

  it.effect("lists the templates of resources", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const { items } = yield* session.resourceTemplates
      assert.deepStrictEqual(items.map(({ uriTemplate }) => uriTemplate), ["memory://items/{id}"])
    }))

  it.effect("reads a text", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      assert.deepStrictEqual(yield* session.readResource("memory://notes"), [
        { _tag: "Text", uri: "memory://notes", mimeType: "text/plain", text: "some notes" }
      ])
    }))

  it.effect("reads a blob", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      assert.deepStrictEqual(yield* session.readResource("memory://pixel"), [
        { _tag: "Blob", uri: "memory://pixel", mimeType: "image/png", blob: "AQID" }
      ])
    }))

  it.effect("reads a resource that a template describes", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const [item] = yield* session.readResource("memory://items/7")
      assert.deepInclude(item, { _tag: "Text", text: "{\"id\":\"7\"}" })
    }))

  it.effect("fails to read a missing resource with the server's answer", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const error = yield* Effect.flip(session.readResource("memory://nothing"))
      assert.deepInclude(error, { _tag: "RemoteError", code: -32_602, outcome: "executed" })
    }))

  if (remembers(cell)) {
    it.effect("signals changes of a resource it has subscribed to", () =>
      Effect.gen(function*() {
        const { session } = yield* Opened
        const uri = "memory://items/subscribed"
        const signal = yield* Effect.fork(Stream.runHead(session.subscribeResource(uri)))
        // Nothing tells when the server has begun to listen, so the resource is touched until it is noticed.
        const touches = session.callTool("touch", { uri }).pipe(
          Effect.zipRight(Effect.sleep("50 millis")),
          Effect.forever
        )
        yield* Effect.raceFirst(Fiber.join(signal), touches)
      }))
  }

  it.effect("lists the prompts with their arguments", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const { items } = yield* session.prompts
      const greet = items.find(({ name }) => name === "greet")
      assert.deepInclude(greet, { title: "Greet", description: "Greets somebody" })
      assert.deepStrictEqual(greet?.arguments, [
        { name: "name", description: "Whom", required: true },
        { name: "tone", description: undefined, required: false }
      ])
    }))

  it.effect("gets a prompt", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const { description, messages } = yield* session.getPrompt("greet", { name: "Ada", tone: "frank" })
      assert.strictEqual(description, "A greeting")
      assert.deepStrictEqual(messages.map(({ role }) => role), ["user", "assistant"])
      assert.deepInclude(messages[0]?.content, { _tag: "Text", text: "Greet Ada, frank" })
    }))

  it.effect("fails to get a prompt without its argument with the server's answer", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const error = yield* Effect.flip(session.getPrompt("greet"))
      assert.deepInclude(error, { _tag: "RemoteError", code: -32_602 })
    }))

  it.effect("completes an argument of a prompt", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      assert.deepStrictEqual(yield* session.complete({ prompt: "greet", argument: "tone", value: "fr" }), {
        values: ["frank", "friendly"],
        hasMore: false
      })
    }))

  it.effect("completes an argument of a template in the context of the others", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const ref = { template: "memory://items/{id}", argument: "id", value: "1" }
      assert.deepStrictEqual(yield* session.complete(ref, { kind: "book" }), {
        values: ["book-11", "book-12"],
        hasMore: true
      })
    }))
}
