/** A gateway behind a gateway: whoever calls the outer one reaches what is behind the inner one, and is asked by it. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Caller, connect, type Kind, whenOffered } from "./callers.ts"
import * as Serving from "./serving.ts"

const patient = { timeout: 30_000 }

const isAll = process.env["MCP_CLIENTS"] === "all"

/** A caller without a session, which has the longest way; `MCP_CLIENTS=all` has all that can be asked. */
const kinds: ReadonlyArray<Kind> = isAll
  ? ["SDK 1.x", "SDK 2.x", "SDK 2.x, which looks for itself", "SDK 2.x, stateless"]
  : ["SDK 2.x, which looks for itself"]

let place: Serving.Place
let outer: Serving.Listening

/** The inner gateways: one that the outer one starts, and one that it reaches over HTTP with a token. */
const inner = isAll ? ["near", "far"] : ["near"]

beforeAll(async () => {
  place = Serving.make()
  const far = isAll ? { far: await place.listen("far", Serving.peers) } : {}
  outer = await place.listen("outer", {
    near: { ...place.command("near", Serving.peers), protocol: "stateless" },
    ...far
  })
  const first = await connect["SDK 1.x"](outer)
  await whenOffered(first, inner.flatMap((way) => [`mcp__${way}__mcp__old__client`, `mcp__${way}__mcp__new__client`]))
  await first.close()
}, 30_000)

afterAll(() => place.remove())

const textOf = async (result: ReturnType<Caller["call"]>): Promise<string | undefined> =>
  (await result).content[0]?.text

for (const kind of kinds) {
  describe(`a gateway behind a gateway for the ${kind}`, patient, () => {
    let caller: Caller
    beforeAll(async () => {
      caller = await connect[kind](outer)
    })
    afterAll(() => caller.close())

    it("has names of at most 64 characters", async () => {
      const names = await caller.tools()
      assert.isEmpty(names.filter((name) => !/^[A-Za-z0-9_-]{1,64}$/.test(name)))
      assert.lengthOf(names, new Set(names).size)
    })

    for (const way of inner) {
      const tool = (name: string) => `mcp__${way}__mcp__new__${name}`

      it(`answers calls through ${way}`, async () => {
        assert.strictEqual(await textOf(caller.call(tool("no_type"))), "called")
      })

      it(`passes the progress of a call through ${way}`, async () => {
        const steps: Array<number> = []
        await caller.call(tool("progress"), { steps: 3 }, { onprogress: ({ progress }) => steps.push(progress) })
        assert.deepStrictEqual(steps, [1, 2, 3])
      })

      it(`asks the caller's person for a server through ${way}`, async () => {
        const answer = await textOf(caller.call(tool("elicit"), { question: "why" }))
        assert.match(answer ?? "", /to [^"]*why/)
      })

      it(`asks the caller's model for a server through ${way}`, async () => {
        assert.include(await textOf(caller.call(tool("sample"), { prompt: "why" })), "a sample")
      })

      it(`cancels at a server through ${way}`, async () => {
        const token = `${kind} ${way}`
        const stop = new AbortController()
        const call = caller.call(tool("slow"), { token }, { signal: stop.signal })
        const ended = call.then(() => "answered", () => "given up")
        assert.strictEqual(await textOf(caller.call(tool("started"), { token })), "started")
        stop.abort()
        assert.strictEqual(await ended, "given up")
        assert.strictEqual(await textOf(caller.call(tool("cancelled"), { token })), "cancelled")
      })

      it(`notifies of changed tools through ${way}`, async () => {
        const name = `m${kinds.indexOf(kind)}`
        await caller.listen()
        await caller.call(tool("add_tool"), { name })
        assert.include(await whenOffered(caller, [tool(name)]), tool("client"))
      })
    }

    it("asks the caller's person for a server of the session era behind both", async () => {
      const answer = await textOf(caller.call("mcp__near__mcp__old__elicit", { question: "why" }))
      assert.match(answer ?? "", /to [^"]*old: why/)
    })

    it("reads the resources of two servers through both", async () => {
      const uris = (await caller.resources()).filter((uri) => uri.includes("near") && uri.endsWith("memory://notes"))
      assert.lengthOf(uris, 2)
      for (const uri of uris) assert.include(JSON.stringify(await caller.read(uri)), "some notes")
    })

    it("gets a prompt through both", async () => {
      assert.deepStrictEqual(await caller.prompt("mcp__near__mcp__old__greet", { name: "Ann" }), {
        type: "text",
        text: "Greet Ann, friendly"
      })
    })
  })
}
