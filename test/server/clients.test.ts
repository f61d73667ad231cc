/** The gateway, as clients use it that nobody here wrote. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Caller, connect, type Kind, whenOffered } from "./callers.ts"
import * as Serving from "./serving.ts"

/** The clients that differ most; `MCP_CLIENTS=all` runs all of them. */
const kinds: ReadonlyArray<Kind> = process.env["MCP_CLIENTS"] === "all"
  ? ["SDK 1.x", "SDK 2.x", "SDK 2.x, which looks for itself", "SDK 2.x, stateless", "AI SDK"]
  : ["SDK 1.x", "SDK 2.x, which looks for itself"]

const patient = { timeout: 30_000 }

let place: Serving.Place
let listening: Serving.Listening

beforeAll(async () => {
  place = Serving.make()
  listening = await place.listen("gateway", Serving.peers)
  const first = await connect["SDK 1.x"](listening)
  await whenOffered(first, ["mcp__old__echo", "mcp__new__echo"])
  await first.close()
})

afterAll(() => place.remove())

const textOf = async (result: ReturnType<Caller["call"]>): Promise<string | undefined> =>
  (await result).content[0]?.text

for (const [at, kind] of kinds.entries()) {
  // the client of the AI SDK hears of nothing, has no model to ask, knows no sounds, and tells nobody that it has given up
  const isWhole = kind !== "AI SDK"

  describe(`a gateway for the ${kind}`, patient, () => {
    let caller: Caller
    beforeAll(async () => {
      caller = await connect[kind](listening)
    })
    afterAll(() => caller.close())

    it("negotiates the newest era of both", () => {
      assert.strictEqual(caller.isStateless, kind.includes(", "))
    })

    it("lists tools of one name from two servers under different names", async () => {
      const names = await caller.tools()
      assert.includeMembers([...names], ["mcp__old__client", "mcp__new__client"])
    })

    it("calls the tool of the named server", async () => {
      assert.strictEqual(await textOf(caller.call("mcp__new__echo", { value: "a" })), "a")
      assert.strictEqual(await textOf(caller.call("mcp__old__echo", { value: "b" })), "b")
    })

    if (isWhole) {
      it("passes contents of every kind", async () => {
        const { content } = await caller.call("mcp__new__kinds")
        assert.deepStrictEqual(content.map(({ type }) => type), ["text", "image", "audio", "resource", "resource_link"])
      })
    }

    it("passes a failure of a tool as an error result", async () => {
      const { content, isError } = await caller.call("mcp__old__fail", { why: "because" })
      assert.isTrue(isError)
      assert.strictEqual(content[0]?.text, "because")
    })

    if (isWhole) {
      it("cancels a call at its server", async () => {
        const stop = new AbortController()
        const call = caller.call("mcp__new__slow", { token: kind }, { signal: stop.signal })
        const ended = call.then(() => "answered", () => "given up")
        assert.strictEqual(await textOf(caller.call("mcp__new__started", { token: kind })), "started")
        stop.abort()
        assert.strictEqual(await ended, "given up")
        assert.strictEqual(await textOf(caller.call("mcp__new__cancelled", { token: kind })), "cancelled")
      })
    }

    it.each(["old", "new"])("asks the caller's person what the server %s asks", async (server) => {
      const answer = await textOf(caller.call(`mcp__${server}__elicit`, { question: "why" }))
      assert.include(answer, "to ")
      assert.include(answer, "why")
    })

    if (isWhole) {
      it.each(["old", "new"])("asks the caller's model what the server %s asks", async (server) => {
        assert.include(await textOf(caller.call(`mcp__${server}__sample`, { prompt: "why" })), "a sample")
      })
    }

    if (isWhole) {
      it.each(["old", "new"])("tells how far a call of the server %s is", async (server) => {
        const steps: Array<number> = []
        await caller.call(`mcp__${server}__progress`, { steps: 3 }, {
          onprogress: ({ progress }) => steps.push(progress)
        })
        assert.deepStrictEqual(steps, [1, 2, 3])
      })
    }

    if (isWhole) {
      it.each(["old", "new"])("tells what the server %s logs, if it is important", async (server) => {
        await caller.setLevel("warning")
        const meta = caller.isStateless ? { "io.modelcontextprotocol/logLevel": "warning" } : {}
        await caller.call(`mcp__${server}__chatter`, { token: kind }, { meta })
        const note = await caller.heard(({ method, params }) =>
          method === "notifications/message" && params["logger"] === `${server}/peer`
        )
        assert.strictEqual(note.params["level"], "warning")
      })
    }

    if (isWhole) {
      it("notifies of changed tools", async () => {
        await caller.listen()
        await caller.call("mcp__new__add_tool", { name: `more_${at}` })
        assert.include(await whenOffered(caller, [`mcp__new__more_${at}`]), "mcp__old__client")
      })
    }

    it("reads a resource of each server", async () => {
      const uris = await caller.resources()
      const notes = uris.filter((uri) => uri.endsWith("memory://notes"))
      assert.lengthOf(notes, 2)
      for (const uri of notes) assert.include(JSON.stringify(await caller.read(uri)), "some notes")
    })

    it("gets a prompt of each server", async () => {
      assert.includeMembers([...await caller.prompts()], ["mcp__old__greet", "mcp__new__greet"])
      assert.deepStrictEqual(await caller.prompt("mcp__old__greet", { name: "Ann" }), {
        type: "text",
        text: "Greet Ann, friendly"
      })
    })
  })
}

describe("a gateway", patient, () => {
  it.each<Kind>(["SDK 1.x", "SDK 2.x, stateless"])(
    "answers the %s, which asks for everything at once",
    async (kind) => {
      const caller = await connect[kind](listening)
      const words = Array.from({ length: 6 }, (_, at) => `${at}`)
      const answers = words.map((value, at) => textOf(caller.call(`mcp__${at % 2 ? "old" : "new"}__echo`, { value })))
      assert.deepStrictEqual(await Promise.all(answers), words)
      await caller.close()
    }
  )
})

describe("a gateway that a client starts", patient, () => {
  it.each<Kind>(
    process.env["MCP_CLIENTS"] === "all" ? kinds.filter((kind) => kind !== "AI SDK") : ["SDK 2.x, stateless"]
  )("has one process of each server for the %s", async (kind) => {
    const caller = await connect[kind](place.command(kind, Serving.peers))
    await caller.listen()
    await whenOffered(caller, ["mcp__old__add_tool"])
    await caller.call("mcp__old__add_tool", { name: "more" })
    await whenOffered(caller, ["mcp__old__more"])
    assert.strictEqual(await textOf(caller.call("mcp__old__more")), "more")
    await caller.close()
  })
})
