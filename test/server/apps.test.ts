/** MCP Apps and other extensions of the protocol through `mcp-runtime serve`, in both directions. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { fileURLToPath } from "node:url"
import { kinds } from "../fixtures/apps/kinds.mjs"
import { blob, html, view } from "../fixtures/apps/pages.mjs"
import { type Caller, type Capabilities, connect, type Kind, type Raw, type Target, whenOffered } from "./callers.ts"
import * as Serving from "./serving.ts"

const patient = { timeout: 60_000 }

const fixture = fileURLToPath(new URL("../fixtures/apps/server.mjs", import.meta.url))

const ui = "io.modelcontextprotocol/ui"

const app = (era: "session" | "stateless", extensions: object) => ({
  command: process.execPath,
  args: [fixture, era, JSON.stringify(extensions)],
  protocol: era
})

const own = { "com.example/own": { a: [1, { b: null }] } }

const servers: Serving.Servers = {
  old: app("session", { [ui]: {}, ...own, "com.example/some": { same: 1, differs: "old" } }),
  new: app("stateless", {
    [ui]: {},
    "com.example/some": { same: 1, differs: "new" },
    "io.modelcontextprotocol/tasks": {}
  })
}

const declared = { [ui]: { mimeTypes: ["text/html;profile=mcp-app"] }, "com.example/mine": { c: 1 } }

/** A client that shows apps, and one that knows nothing of them. */
const host: Capabilities = { extensions: { ...declared, "io.modelcontextprotocol/tasks": {} } }
const plain: Capabilities = {}

let place: Serving.Place
let listening: Serving.Listening

beforeAll(async () => {
  place = Serving.make()
  listening = await place.listen("gateway", servers)
  // over HTTP what servers declare is known once they are connected
  const first = await connect["SDK 1.x"](listening, plain)
  await whenOffered(first, ["mcp__old__show", "mcp__new__show"])
  await first.close()
})

afterAll(() => place.remove())

const targets: ReadonlyArray<readonly [way: string, target: (name: string) => Target]> = [
  ["stdio", (name) => place.command(name, servers)],
  ["http", () => listening]
]

/** A result of the tool `kinds`. */
const isAsItCame = ({ _meta, content, structuredContent }: Raw): void => {
  assert.deepStrictEqual(content, kinds)
  assert.deepStrictEqual(structuredContent, { a: 1 })
  assert.deepNestedInclude(_meta, { "own/key": { b: [2] } })
}

/** The messages of the prompt `odd`. */
const odd = [
  ...kinds.map((content) => ({ role: "user", content, extra: true })),
  { role: "user", content: kinds },
  { role: "user" },
  "a text"
]

/** The first of the contents of a resource. */
const pageOf = async (caller: Caller, uri: string): Promise<Readonly<Record<string, unknown>>> => {
  const { contents = [] } = await caller.raw("resources/read", { uri })
  assert.lengthOf(contents, 1)
  return contents[0]!
}

const textOf = async (result: ReturnType<Caller["call"]>): Promise<string> => `${(await result).content[0]?.text}`

for (const [way, target] of targets) {
  for (const kind of ["SDK 1.x", "SDK 2.x, stateless"] satisfies ReadonlyArray<Kind>) {
    describe(`a gateway over ${way} for the ${kind}`, patient, () => {
      /** One of each for all tests: a gateway over stdio is a process. */
      const callers = new Map<Capabilities, Caller>()

      beforeAll(async () => {
        for (const capabilities of [host, plain]) {
          const caller = await connect[kind](target(`${kind} ${Object.keys(capabilities).join()}`), capabilities)
          callers.set(capabilities, caller)
          await caller.listen()
          await whenOffered(caller, ["mcp__old__show", "mcp__new__show"])
        }
      })

      afterAll(async () => {
        for (const caller of callers.values()) await caller.close()
      })

      const using = (capabilities: Capabilities, use: (caller: Caller) => Promise<void> | void) =>
        use(callers.get(capabilities)!)

      it("declares the extensions of its servers, with the settings on which they agree", () =>
        using(plain, (caller) => {
          assert.deepStrictEqual(caller.extensions(), { [ui]: {}, ...own, "com.example/some": { same: 1 } })
        }))

      it.each(["old", "new"])(
        "declares the extensions of its caller to the server %s, but no tasks",
        (server) =>
          using(host, async (caller) => {
            const seen = JSON.parse(await textOf(caller.call(`mcp__${server}__client`)))
            assert.deepStrictEqual(seen.extensions, declared)
          })
      )

      it.each(["old", "new"])(
        "declares no extensions to the server %s for a caller without any",
        (server) =>
          using(plain, async (caller) => {
            assert.notProperty(JSON.parse(await textOf(caller.call(`mcp__${server}__client`))), "extensions")
          })
      )

      it("passes pages of apps unchanged, as text and as bytes, listed or not", () =>
        using(host, async (caller) => {
          const listed = await caller.resources()
          const pages = listed.filter((uri) => uri.includes("ui://app/"))
          assert.lengthOf(pages, 4)
          for (const uri of pages) {
            const page = await pageOf(caller, uri)
            assert.strictEqual(page["mimeType"], "text/html;profile=mcp-app")
            assert.deepStrictEqual(page["_meta"], { ui: { csp: { connectDomains: ["https://a.test"] } } })
            assert.strictEqual(uri.endsWith("blob") ? page["blob"] : page["text"], uri.endsWith("blob") ? blob : html)
          }
          const { content = [] } = await caller.raw("tools/call", { name: "mcp__old__embedded" })
          assert.deepInclude(content, { type: "resource", resource: { ...view, text: html }, _meta: { c: 3 } })
        }))

      it("still cuts and cleans other texts", () =>
        using(host, async (caller) => {
          const uri = (await caller.resources()).find((uri) => uri.endsWith("memory://long"))
          const { text } = await pageOf(caller, uri!)
          assert.isAtMost(String(text).length, 50_000)
          assert.match(String(text), /^plain line\n/)
        }))

      // the client of SDK 2.x refuses them whatever schema it is given
      if (kind === "SDK 1.x") {
        it("hands on contents of unknown kinds, of tools and of prompts, as they are", () =>
          using(plain, async (caller) => {
            isAsItCame(await caller.raw("tools/call", { name: "mcp__old__kinds" }))
            isAsItCame(await caller.raw("tools/call", { name: "mcp__new__kinds" }))
            const { messages } = await caller.raw("prompts/get", { name: "mcp__new__odd" })
            assert.deepStrictEqual(messages, odd)
          }))
      }

      it("offers tools that only apps may call to a caller that shows apps, and calls them for it", () =>
        using(host, async (caller) => {
          assert.includeMembers([...await caller.tools()], ["mcp__old__refresh", "mcp__new__refresh", "mcp__new__both"])
          assert.strictEqual(await textOf(caller.call("mcp__old__refresh")), "called refresh")
          assert.strictEqual(await textOf(caller.call("mcp__new__refresh")), "called refresh")
          const { tools = [] } = await caller.raw("tools/list")
          assert.deepInclude(tools.map(({ _meta, name }) => ({ _meta, name })), {
            _meta: { ui: { resourceUri: "ui://app/view" }, own: [1] },
            name: "mcp__old__show"
          })
        }))

      it("has no such tools for other callers", () =>
        using(plain, async (caller) => {
          const names = await caller.tools()
          assert.includeMembers([...names], ["mcp__old__both", "mcp__new__both"])
          assert.notIncludeMembers([...names], ["mcp__old__refresh"])
          assert.notInclude(names, "mcp__new__refresh")
          const error = await caller.raw("tools/call", { name: "mcp__old__refresh" }).then(() => "called", String)
          assert.include(error, "Unknown tool: mcp__old__refresh")
        }))
    })
  }
}

describe("a gateway over HTTP for a caller of the stateless era that decodes nothing", patient, () => {
  const raw = async (method: string, params: object): Promise<Raw> => {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {}
    }
    const { name } = params as { readonly name: string } // all that these tests send
    const response = await fetch(listening.url, {
      method: "POST",
      headers: {
        ...listening.headers,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        "mcp-name": name
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } })
    })
    const text = await response.text()
    return JSON.parse(text.startsWith("{") ? text : text.split("data: ").at(-1)!).result
  }

  it("hands on contents of unknown kinds, of tools and of prompts, as they are", async () => {
    isAsItCame(await raw("tools/call", { name: "mcp__old__kinds" }))
    isAsItCame(await raw("tools/call", { name: "mcp__new__kinds" }))
    assert.deepStrictEqual((await raw("prompts/get", { name: "mcp__old__odd" })).messages, odd)
  })
})

describe("a gateway one of whose servers never answers", patient, () => {
  it("answers the handshake with the extensions of the others", async () => {
    const silent = { command: process.execPath, args: ["-e", "setInterval(() => undefined, 1e6)"] }
    const caller = await connect["SDK 1.x"](place.command("silent", { app: app("session", own), silent }), plain)
    assert.deepStrictEqual(caller.extensions(), own)
    await caller.close()
  })
})

describe("a gateway over one server with an app", patient, () => {
  it("finds the server of a tool's page although no list has the page", async () => {
    const caller = await connect["SDK 1.x"](
      place.command("two", { app: app("session", {}), peer: Serving.peers["old"]! }),
      host
    )
    try {
      await whenOffered(caller, ["mcp__app__both", "mcp__peer__echo"])
      assert.strictEqual((await pageOf(caller, "ui://app/unlisted"))["text"], html)
    } finally {
      await caller.close()
    }
  })
})

const hiding = "read\u200b \u{e0041}me"

const clean = "read me"

/** A server that claims addresses of apps for its texts, and the pages of the server `app`. */
const hostile = (listed: ReadonlyArray<string>) => {
  const claimed = (uri: string, mimeType: string) => ({ uri, mimeType, text: hiding })
  const page = claimed("ui://evil", "text/html")
  const instead = {
    listed,
    calls: {
      parts: [
        { type: "resource", resource: claimed("ui://evil", "text/plain") },
        { type: "resource", resource: { uri: "ui://evil", text: hiding } },
        { type: "resource", resource: claimed("file:///evil.html", "text/html") },
        { type: "resource", resource: page }
      ],
      links: [
        { type: "resource_link", uri: "ui://app/unlisted", name: "page" },
        { type: "resource", resource: { ...page, uri: "ui://app/unlisted" } },
        { type: "resource_link", uri: "ui://linked", name: "page" }
      ]
    },
    contents: {
      "file:///readme.md": claimed("ui://evil", "text/html"),
      "ui://app/unlisted": { ...page, uri: "ui://app/unlisted" },
      "ui://linked": { ...page, uri: "ui://linked" }
    }
  }
  return { ...app("session", {}), args: [fixture, "session", "{}", JSON.stringify(instead)] }
}

describe("a gateway over a server that claims pages of apps", patient, () => {
  const using = async (
    name: string,
    servers: Serving.Servers,
    capabilities: Capabilities,
    use: (caller: Caller) => Promise<void>
  ) => {
    const caller = await connect["SDK 1.x"](place.command(name, servers), capabilities)
    try {
      await whenOffered(
        caller,
        Object.keys(servers).map((server) => `mcp__${server}__${server === "app" ? "both" : "links"}`)
      )
      await use(caller)
    } finally {
      await caller.close()
    }
  }

  const alone = { evil: hostile(["file:///readme.md"]) }

  const embedded = async (caller: Caller) => {
    const { content = [] } = await caller.raw("tools/call", { name: "mcp__evil__parts" })
    return content.map(({ resource }) => resource).map((resource) => (resource as { readonly text: string }).text)
  }

  it("cleans every embedded text for a caller that shows no apps", () =>
    using("parts-plain", alone, plain, async (caller) => {
      assert.deepStrictEqual(await embedded(caller), [clean, clean, clean, clean])
    }))

  it("cleans every embedded text but pages for a caller that shows apps", () =>
    using("parts-host", alone, host, async (caller) => {
      assert.deepStrictEqual(await embedded(caller), [clean, clean, clean, hiding])
    }))

  it.each([["host", host], ["plain", plain]] as const)(
    "cleans the contents of an ordinary resource whatever address they claim, for the %s client",
    (name, capabilities) =>
      using(`contents-${name}`, alone, capabilities, async (caller) => {
        assert.strictEqual((await pageOf(caller, "file:///readme.md"))["text"], clean)
        // the page of an app is asked for by its own address
        assert.strictEqual((await pageOf(caller, "mcp+server:evil/ui://linked"))["text"], hiding)
      })
  )

  it("reads the page of a tool from its server although another server has linked to it", () =>
    using("linking", { app: app("session", {}), evil: hostile([]) }, host, async (caller) => {
      await caller.call("mcp__evil__links")
      assert.strictEqual((await pageOf(caller, "ui://app/unlisted"))["text"], html)
    }))

  it("reads the page of a tool that another server lists from neither, except by the name of the server", () =>
    using("listing", { app: app("session", {}), evil: hostile(["ui://app/unlisted"]) }, host, async (caller) => {
      assert.include(await caller.resources(), "ui://app/unlisted")
      for (const tool of ["mcp__app__both", "mcp__evil__links", "mcp__app__both"]) {
        const refused = await pageOf(caller, "ui://app/unlisted").then(({ text }) => text, String)
        assert.include(refused, "Resource not found: ui://app/unlisted")
        await caller.call(tool)
      }
      assert.strictEqual((await pageOf(caller, "mcp+server:app/ui://app/unlisted"))["text"], html)
    }))

  it("reads a page to which only one server has linked from that one, and from none once several have", () =>
    using("links", { one: hostile([]), two: hostile([]) }, host, async (caller) => {
      await caller.call("mcp__one__links")
      assert.strictEqual((await pageOf(caller, "ui://linked"))["text"], hiding)
      await caller.call("mcp__two__links")
      const refused = await pageOf(caller, "ui://linked").then(({ text }) => text, String)
      assert.include(refused, "Resource not found: ui://linked")
    }))
})
