import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import * as McpEvent from "../../src/McpEvent.ts"
import * as OutputGuard from "../../src/safety/OutputGuard.ts"
import * as Spill from "../../src/safety/Spill.ts"
import * as Tokens from "../../src/safety/Tokens.ts"
import * as DecodeResult from "../../src/tools/decodeResult.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"

interface Case {
  readonly id: string
  readonly text: string
  readonly tier?: string
  readonly channel?: string
}

const cases = (name: string): ReadonlyArray<Case> =>
  JSON.parse(readFileSync(new URL(`../fixtures/safety/${name}.json`, import.meta.url), "utf8")).cases

const source = { server: "s", tool: "t" }

const guarding = Effect.gen(function*() {
  const events: Array<McpEvent.McpEvent> = []
  const context = yield* Layer.build(Layer.provideMerge(
    OutputGuard.layer(),
    Layer.mergeAll(Spill.layerMemory(), Tokens.layerEstimate, McpEvent.layer)
  ))
  Context.get(context, McpEvent.McpEvents).onEvent((event) => events.push(event))
  return { events, guard: Context.get(context, OutputGuard.OutputGuard) }
})

const result = (content: JsonRpc.Json, structuredContent?: JsonRpc.Json) => ({
  content: [DecodeResult.decodeContent(content)],
  structuredContent,
  isError: false
})

/** Every place of a result where a server can put its words. */
const channels: Readonly<Record<string, (words: string) => ReturnType<typeof result>>> = {
  text: (text) => result({ type: "text", text }),
  "an error": (text) => ({ ...result({ type: "text", text }), isError: true }),
  "a structured value": (words) => ({ ...result(null, { note: words }), content: [] }),
  "a structured key": (words) => ({ ...result(null, { [words]: 1 }), content: [] }),
  "embedded text": (text) => result({ type: "resource", resource: { uri: "file:///a", text } }),
  "the URI of embedded text": (uri) => result({ type: "resource", resource: { uri, text: "x" } }),
  "the title of a link": (title) => result({ type: "resource_link", uri: "file:///a", name: "a", title }),
  "an unknown kind": (caption) => result({ type: "hologram", caption })
}

describe("the hostile cases of the corpus in a result", () => {
  // what asks a person for something is an attack in a dialog only
  const seeds = cases("injection-positive").filter(({ channel, tier }) => tier === "seed" && channel !== "elicitation")

  for (const [channel, make] of Object.entries(channels)) {
    it.scoped(`are flagged in ${channel}`, () =>
      Effect.gen(function*() {
        const { events, guard } = yield* guarding
        assert.isAbove(seeds.length, 10)
        for (const { id, text } of seeds) {
          events.length = 0
          const { signals } = yield* guard.render(make(text), source)
          assert.isAbove(signals.length, 0, `${id} in ${channel}`)
          assert.deepStrictEqual(events.map(({ _tag }) => _tag), ["OutputFlagged"], id)
        }
      }))
  }

  it.scoped("are never held back, and no benign one is altered", () =>
    Effect.gen(function*() {
      const { guard } = yield* guarding
      const benign = cases("injection-benign").map(({ text }) => text)
      assert.isAbove(benign.length, 10)
      for (const text of benign) {
        assert.strictEqual((yield* guard.render(channels["text"]!(text), source)).body, text)
      }
      for (const { text } of cases("injection-positive")) {
        assert.isAbove((yield* guard.render(channels["text"]!(text), source)).body.length, 0)
      }
    }))

  it.scoped("leave nothing a terminal obeys, in any place", () =>
    Effect.gen(function*() {
      const { guard } = yield* guarding
      for (const { id, text } of cases("terminal-escapes")) {
        for (const [channel, make] of Object.entries(channels)) {
          const { text: shown } = yield* guard.render(make(text), source)
          // the end of a line is one, also where it is written with two characters
          assert.notMatch(shown, /(?!\r\n)[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/, `${id} in ${channel}`)
        }
      }
    }))

  it.scoped("do not close the wrapper with any end they have seen", () =>
    Effect.gen(function*() {
      const { guard } = yield* guarding
      const before = yield* guard.renderText("x", source)
      const { body, text } = yield* guard.renderText(before.text, source)
      assert.include(body, "[mcp-tool-output")
      assert.include(body, "[/mcp-tool-output>")
      assert.lengthOf(text.split("<mcp_tool_output"), 2)
      assert.lengthOf(text.split("</mcp_tool_output"), 2)
    }))
})
