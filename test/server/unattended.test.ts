/** `mcp-runtime serve` for clients that cannot ask a person, which are most: what is allowed, and how to allow more. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Caller, connect, type Kind, type Target, whenOffered } from "./callers.ts"
import * as Serving from "./serving.ts"

const patient = { timeout: 60_000 }

let place: Serving.Place

beforeAll(() => {
  place = Serving.make()
})

afterAll(() => place.remove())

const { old: demo } = Serving.peers

const servers: Serving.Servers = { demo: demo! }

/** Plain clients without elicitation, as most programs use them. */
const kinds: ReadonlyArray<Kind> = ["SDK 1.x", "SDK 2.x", "SDK 2.x, stateless", "AI SDK"]

const ways = ["stdio", "http"] as const

const reach = (way: typeof ways[number], name: string, flags: ReadonlyArray<string>): Target | Promise<Target> =>
  way === "stdio" ? place.command(name, servers, flags) : place.listen(name, servers, flags)

/** A client that declares no capabilities. */
const using = async <A>(
  target: Target,
  kind: Kind,
  use: (caller: Caller) => Promise<A>,
  capabilities = {}
): Promise<A> => {
  const caller = await connect[kind](target, capabilities)
  try {
    await caller.listen()
    await whenOffered(caller, ["mcp__demo__echo", "mcp__demo__add"])
    return await use(caller)
  } finally {
    await caller.close()
  }
}

const add = (caller: Caller) => caller.call("mcp__demo__add", { a: 1, b: 2 })

const textOf = ({ content }: Awaited<ReturnType<Caller["call"]>>): string => content.map(({ text }) => text).join("")

/** Words of a shell, as they are pasted into it. */
const words = (pasted = ""): ReadonlyArray<string> => pasted.split(" ").map((word) => word.replace(/^'(.*)'$/, "$1"))

for (const way of ways) {
  describe(`serve over ${way}, for clients that cannot ask a person`, patient, () => {
    it.each(kinds)("allows the %s read-only tools, and names the flag that allows another", async (kind) => {
      const refusal = await using(await reach(way, `${way} ${kind}`, []), kind, async (caller) => {
        assert.strictEqual(textOf(await caller.call("mcp__demo__echo", { value: "read" })), "read")
        const refused = await add(caller)
        assert.isTrue(refused.isError)
        return textOf(refused)
      })
      assert.include(refusal, "PermissionDenied")
      assert.include(refusal, "no person can be asked")
      const [flag] = /--allow \S+(?=[ ,])/.exec(refusal) ?? []
      assert.strictEqual(flag, "--allow demo/add")
      assert.include(refusal, "--caller-decides")
      await using(await reach(way, `${way} ${kind}, allowed`, words(flag)), kind, async (caller) => {
        assert.strictEqual(textOf(await add(caller)), "3")
        assert.isTrue((await caller.call("mcp__demo__fail", { why: "x" })).isError)
        assert.include(textOf(await caller.call("mcp__demo__fail", { why: "x" })), "--allow demo/fail")
      })
    })
  })
}

/** The text on stderr of a command that has answered one request. */
const started = async (flags: ReadonlyArray<string>): Promise<string> => {
  const { args, command, env } = place.command("banner", servers, flags)
  const child = spawn(command, [...args], { env, stdio: ["pipe", "pipe", "pipe"] })
  const ended = new Promise((resolve) => child.once("close", resolve))
  let stderr = ""
  let stdout = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => stdout += text)
  child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text)
  const asked = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } }
  const initialize = {
    ...asked,
    params: { ...asked.params, capabilities: {}, clientInfo: { name: "x", version: "1" } }
  }
  child.stdin.write(`${JSON.stringify(initialize)}\n`)
  await new Promise((resolve) => child.stdout.once("data", resolve))
  child.stdin.end()
  await ended
  for (const line of stdout.trim().split("\n")) assert.strictEqual(JSON.parse(line).jsonrpc, "2.0")
  return stderr
}

describe("serve says at the start what clients may do", patient, () => {
  it("over stdio on stderr, with a flag that can be pasted", async () => {
    const banner = await started([])
    assert.include(banner, "only these are allowed: read-only tools of demo.")
    const [flag] = /--allow '[^']+'/.exec(banner) ?? []
    assert.strictEqual(flag, "--allow 'demo/*'")
    assert.include(banner, "--caller-decides")
    await using(place.command("pasted", servers, words(flag)), "SDK 1.x", async (caller) => {
      assert.strictEqual(textOf(await add(caller)), "3")
    })
  })

  it("over HTTP on stderr, and in the document of --json", async () => {
    const { stderr, stdout } = await place.listen("document", servers, ["--json"])
    assert.deepNestedInclude(JSON.parse(stdout!), {
      unattended: {
        allows: "read-only",
        trusted: ["demo"],
        allow: [],
        options: ["--allow 'demo/*'", "--caller-decides"]
      }
    })
    const plain = await place.listen("plain", servers, [])
    await using(plain, "SDK 1.x", async (caller) => void await caller.tools())
    assert.include(plain.stderr!(), "--allow 'demo/*'")
    assert.strictEqual(stderr!(), "")
  })

  it("with --caller-decides, that every call is allowed", async () => {
    const banner = await started(["--caller-decides"])
    assert.include(banner, "Calls that no rule covers are allowed")
    await using(place.command("open", servers), "SDK 1.x", async (caller) => {
      assert.strictEqual(textOf(await add(caller)), "3")
    })
  })

  it("refuses a rule that it cannot read, before any server is started", async () => {
    const { args, command, env } = place.command("unreadable", servers, ["--allow", "demo"])
    const child = spawn(command, [...args], { env, stdio: ["ignore", "ignore", "pipe"] })
    let stderr = ""
    child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text)
    const code = await new Promise((resolve) => child.once("close", resolve))
    assert.strictEqual(code, 2)
    assert.include(stderr, "invalid rule \"demo\" for --allow")
  })
})

const runs = async ({ args, command, env }: Serving.Command): Promise<string> => {
  const child = spawn(command, [...args], { env, stdio: ["ignore", "pipe", "ignore"] })
  let stdout = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => stdout += text)
  await new Promise((resolve) => child.once("close", resolve))
  return stdout
}

describe("serve without --allow", patient, () => {
  it("trusts servers of the user's own file, and not those of a workspace, although the user has approved them", async () => {
    const { args: [bin], env, ...rest } = place.command("places", servers)
    const home = env["HOME"]!
    const root = join(home, "workspace")
    const own = join(home, "config", "mcp-runtime")
    mkdirSync(root)
    mkdirSync(own, { recursive: true })
    writeFileSync(join(own, "mcp-client.json"), JSON.stringify({ mcpServers: servers }))
    writeFileSync(join(root, ".mcp.json"), JSON.stringify({ mcpServers: { shop: demo } }))
    const at = (...args: ReadonlyArray<string>): Serving.Command => ({
      ...rest,
      args: [bin!, ...args, "--root", root],
      // decisions are refused below a link whose target has a folder that others may write to, such as /tmp
      env: { ...env, XDG_CONFIG_HOME: join(home, "config"), XDG_STATE_HOME: join(home, "state") }
    })
    const { servers: [waiting] } = JSON.parse(await runs(at("approve", "--json")))
    await runs(at("approve", waiting.fingerprint, "--json"))
    await using(at("serve"), "SDK 1.x", async (caller) => {
      await whenOffered(caller, ["mcp__shop__echo"])
      const refusal = textOf(await caller.call("mcp__shop__echo", { value: "x" }))
      assert.include(refusal, "add --allow shop/echo to mcp-runtime serve")
      assert.include(refusal, `add "shop/echo" to permissions.allow in ${join(own, "mcp-client.json")}`)
      assert.strictEqual(textOf(await caller.call("mcp__demo__echo", { value: "x" })), "x")
    })
  })

  it("asks a person about a read-only tool too, if the client can ask", async () => {
    const target = place.command("asked", servers, [])
    await using(target, "SDK 1.x", async (caller) => {
      // the answer of this client's person is no decision
      assert.include(textOf(await caller.call("mcp__demo__echo", { value: "x" })), "it was not approved")
    }, { elicitation: { form: {} } })
  })

  it("refuses a read-only tool that an ask rule covers, and names the rule", async () => {
    const target = place.command("ruled", servers, [])
    const file = join(target.env["HOME"]!, "rules.json")
    writeFileSync(file, JSON.stringify({ permissions: { ask: ["demo/echo"], deny: ["demo/client"] } }))
    const ruled = { ...target, args: [...target.args, "--config", file] }
    await using(ruled, "SDK 1.x", async (caller) => {
      const refusal = textOf(await caller.call("mcp__demo__echo", { value: "x" }))
      assert.include(refusal, "the rule \"demo/echo\" asks for approval, and no person can be asked; change that rule")
      assert.notInclude(await caller.tools(), "mcp__demo__client")
    })
  })

  it("permits the call after the rule of its refusal was added to the file that the refusal names", async () => {
    const target = place.command("followed", servers, [])
    const refusal = await using(target, "SDK 1.x", async (caller) => textOf(await add(caller)))
    const [, rule, file] = /add "([^"]+)" to permissions\.allow in (\S+?\.json)/.exec(refusal) ?? []
    assert.strictEqual(rule, "demo/add")
    writeFileSync(file!, JSON.stringify({ ...JSON.parse(readFileSync(file!, "utf8")), permissions: { allow: [rule] } }))
    await using(target, "SDK 1.x", async (caller) => assert.strictEqual(textOf(await add(caller)), "3"))
  })
})
