import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Cell, era, type It, jsonOf, Opened, remembers, textOf } from "./cell.ts"

const poem = JSON.stringify([{ role: "user", content: { type: "text", text: "a poem" } }])

/** What a server asks of the application. */
export const input = (it: It, cell: Cell): void => {
  if (!remembers(cell)) {
    it.effect("survives a server that cannot ask", () =>
      Effect.gen(function*() {
        const { session } = yield* Opened
        const result = yield* session.callTool("elicit", { question: "anybody there?" })
        assert.isTrue(result.isError)
        assert.strictEqual(textOf(yield* session.callTool("echo", { value: "fine" })), "fine")
      }))
    return
  }

  it.effect("sends the server the user's answer", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const answer = jsonOf(yield* session.callTool("elicit", { question: "what now?" }))
      assert.deepStrictEqual(answer, { action: "accept", content: { answer: "answer to what now?" } })
    }))

  it.effect("sends the server the refusal of the user", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      assert.deepStrictEqual(jsonOf(yield* session.callTool("elicit", { question: "decline" })), { action: "decline" })
    }))

  it.effect("sends the server the cancellation of the user", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      assert.deepStrictEqual(jsonOf(yield* session.callTool("elicit", { question: "cancel" })), { action: "cancel" })
    }))

  it.effect("keeps the answers to questions at once apart", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const questions = Array.from({ length: 10 }, (_, n) => `question ${n}`)
      const answers = yield* Effect.forEach(
        questions,
        (question) => Effect.map(session.callTool("elicit", { question }), jsonOf),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        answers,
        questions.map((question) => ({ action: "accept", content: { answer: `answer to ${question}` } }))
      )
    }))

  it.effect("sends the server the model's answer", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const said = jsonOf(yield* session.callTool("sample", { prompt: "a poem" }))
      assert.deepInclude(said, {
        role: "assistant",
        model: "a model",
        content: { type: "text", text: poem }
      })
    }))

  it.effect("sends the server the application's roots", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      assert.deepStrictEqual(jsonOf(yield* session.callTool("roots")), {
        roots: [{ uri: "file:///workspace", name: "workspace" }]
      })
    }))

  if (era(cell) === "session") {
    it.effect("notifies the server of changed roots", () =>
      Effect.gen(function*() {
        const { session } = yield* Opened
        yield* session.rootsChanged
        assert.strictEqual(textOf(yield* session.callTool("roots_changes")), "changed")
      }))
  }
}
