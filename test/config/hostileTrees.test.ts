import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as ChildProcess from "node:child_process"
import * as dns from "node:dns"
import { once } from "node:events"
import * as fs from "node:fs"
import * as net from "node:net"
import type * as ConfigDiscovery from "../../src/config/ConfigDiscovery.ts"
import * as Trust from "../../src/config/Trust.ts"
import { configs, type HostileConfig, live, mutations } from "../fixtures/hostile/configs.ts"
import * as HostileTree from "../support/hostileTree.ts"
import * as Witness from "../support/witness.ts"

const configOf = (id: string): HostileConfig => {
  const found = configs.find((one) => one.id === id)
  assert.isDefined(found, id)
  return found!
}

const find = (name: string, { servers }: ConfigDiscovery.Discovery): ConfigDiscovery.Found => {
  const found = servers.find((server) => server.name === name)
  assert.isDefined(found, name)
  return found!
}

describe("whoever watches", () => {
  it.scopedLive("sees programs, sockets and names that are looked up", () =>
    Effect.gen(function*() {
      const witness = yield* Witness.watch
      ChildProcess.spawnSync("true")
      assert.deepStrictEqual(witness.seen(), ["spawnSync"])
      yield* Effect.promise(async () => {
        await once(ChildProcess.spawn("true"), "exit")
        await new Promise((closed) => net.connect(9, "127.0.0.1").on("error", () => {}).on("close", closed))
        await dns.promises.lookup("localhost")
      })
      for (const one of ["PROCESSWRAP", "TCPWRAP", "GETADDRINFOREQWRAP"]) assert.include(witness.seen(), one)
    }))
})

describe("what is planted in a workspace or a home", () => {
  for (const hostile of [...configs, ...live]) {
    it.scopedLive(`comes to nothing before somebody agrees: ${hostile.id}, ${hostile.why}`, () =>
      Effect.gen(function*() {
        const laid = yield* HostileTree.lay(hostile)
        const before = { ...process.env }
        const witness = yield* Witness.watch
        yield* HostileTree.discovered(laid, ({ discover }, trust) =>
          Effect.gen(function*() {
            const found = yield* discover
            assert.deepStrictEqual(
              Array.from(HostileTree.states(found)).toSorted(),
              Object.entries(hostile.states).toSorted()
            )
            const kinds = [...HostileTree.kinds(found)]
            for (const issue of hostile.issues ?? []) {
              assert.include(kinds, issue)
              kinds.splice(kinds.indexOf(issue), 1)
            }
            // all that a person is shown, and all that a program can take out of it
            for (const one of yield* trust.pending) {
              assert.notInclude(JSON.stringify(Trust.consent(one)), HostileTree.secret)
            }
            assert.notInclude(JSON.stringify(found), HostileTree.secret)
            for (const { blocked, required } of found.configs) {
              assert.strictEqual(blocked, "untrusted")
              assert.isNotTrue(required)
            }
          }))
        assert.deepStrictEqual(witness.seen(), [])
        assert.isFalse(laid.wasRun())
        assert.deepStrictEqual(process.env, before)
        assert.isUndefined(Reflect.get({}, "command"))
      }))
  }

  it.scopedLive("has no variable read for it, but for those that say where files are", () =>
    Effect.gen(function*() {
      for (const hostile of [...configs, ...live]) {
        const laid = yield* HostileTree.lay(hostile)
        const read = new Set<string>()
        // what an administrator's rules may name is what there was at the start
        let isStarted = false
        const watched = new Proxy(HostileTree.variables(laid), {
          get: (variables, name) => {
            if (isStarted) read.add(String(name))
            return Reflect.get(variables, name)
          }
        })
        const look = ({ discover }: ConfigDiscovery.ConfigDiscovery["Type"]) =>
          Effect.suspend(() => {
            isStarted = true
            return discover
          })
        yield* HostileTree.discovered(laid, look, { home: undefined }, { variables: () => watched })
        assert.deepStrictEqual(Array.from(read), ["HOME"], hostile.id)
      }
    }), 30_000)
})

describe("an approval", () => {
  for (const [id, base, change] of mutations) {
    it.scopedLive(`is for every field as it was: ${id} ${JSON.stringify(change)}`, () =>
      Effect.gen(function*() {
        const text = (entry: object) => JSON.stringify({ mcpServers: { docs: entry } })
        const laid = yield* HostileTree.lay({ files: { "root/.mcp.json": text(base) } })
        const write = (entry: object) => Effect.sync(() => fs.writeFileSync(laid.path("root/.mcp.json"), text(entry)))
        yield* HostileTree.discovered(laid, ({ discover }, trust) =>
          Effect.gen(function*() {
            yield* discover
            yield* trust.approve("docs")
            assert.strictEqual(find("docs", yield* discover).state._tag, "Ready")
            // in another order it is the same
            yield* write(Object.fromEntries(Object.entries(base).toReversed()))
            assert.strictEqual(find("docs", yield* discover).state._tag, "Ready")
            yield* write({ ...base, ...change })
            assert.deepStrictEqual(find("docs", yield* discover).state, { _tag: "Untrusted", why: "changed" })
          }))
        assert.isFalse(laid.wasRun())
      }))
  }

  it.scopedLive("is for the folder that a link leads to, and for no other (cfg-019)", () =>
    Effect.gen(function*() {
      const text = JSON.stringify({ mcpServers: { docs: { command: "canary" } } })
      const laid = yield* HostileTree.lay({
        files: { "root/.mcp.json": text, "away/.mcp.json": text, "alias": { link: "root" }, "evil": { link: "away" } }
      })
      const roots = ["root", "alias", "away", "evil"]
      const candidates: Array<Trust.Candidate> = []
      for (const name of roots) {
        const where = { directory: laid.path(name), root: laid.path(name) }
        yield* HostileTree.discovered(laid, ({ discover }, trust) =>
          Effect.gen(function*() {
            yield* discover
            candidates.push(...yield* trust.pending)
          }), where)
      }
      const [root, alias, away, evil] = candidates
      assert.strictEqual(root?.root, laid.root)
      assert.deepStrictEqual([alias?.root, alias?.fingerprint], [root?.root, root?.fingerprint])
      assert.deepStrictEqual([evil?.root, evil?.fingerprint], [away?.root, away?.fingerprint])
      assert.notStrictEqual(away?.fingerprint, root?.fingerprint)
    }))

  it.scopedLive("is for one file, and for no other with the same text, because it can start a program beside it", () =>
    Effect.gen(function*() {
      const text = JSON.stringify({ mcpServers: { docs: { command: "${var:configDir}/server" } } })
      const laid = yield* HostileTree.lay({
        files: { "root/a/mcp-client.json": text, "root/b/mcp-client.json": text, "root/a/below/.keep": "" }
      })
      const from = (folder: string) => ({ directory: laid.path(folder), root: laid.root })
      const states: Array<ConfigDiscovery.Found["state"]> = []
      const look = ({ discover }: ConfigDiscovery.ConfigDiscovery["Type"]) =>
        Effect.map(discover, (found) => void states.push(find("docs", found).state))
      // one process after another in three folders of the workspace
      const trust = Layer.succeedContext(yield* Layer.build(Trust.layerMemory()))
      const approving = (found: ConfigDiscovery.ConfigDiscovery["Type"], service: Trust.Trust["Type"]) =>
        Effect.zipRight(look(found), service.approve("docs"))
      yield* HostileTree.discovered(laid, approving, from("root/a"), {}, trust)
      yield* HostileTree.discovered(laid, look, from("root/a/below"), {}, trust)
      yield* HostileTree.discovered(laid, look, from("root/b"), {}, trust)
      assert.deepStrictEqual(states, [
        { _tag: "Untrusted", why: "new" },
        { _tag: "Ready" },
        { _tag: "Untrusted", why: "changed" }
      ])
    }))

  it.scopedLive("is given by nobody who is not there (cfg-070)", () =>
    Effect.gen(function*() {
      const laid = yield* HostileTree.lay(configOf("cfg-070"))
      const alone = { CI: "1", GITHUB_ACTIONS: "true", DEBIAN_FRONTEND: "noninteractive", MCP_TRUST: "all", YES: "1" }
      yield* HostileTree.discovered(
        laid,
        ({ discover }, trust) =>
          Effect.gen(function*() {
            assert.strictEqual(find("docs", yield* discover).state._tag, "Untrusted")
            assert.deepStrictEqual((yield* trust.pending).map(({ server }) => server), ["docs"])
          }),
        {},
        { variables: () => ({ ...HostileTree.variables(laid), ...alone }) }
      )
      assert.isFalse(laid.wasRun())
    }))

  it.scopedLive("is for what was read and shown, whatever is in the file by then (fs-028)", () =>
    Effect.gen(function*() {
      const entry = (args: ReadonlyArray<string>) => JSON.stringify({ mcpServers: { docs: { command: "node", args } } })
      const laid = yield* HostileTree.lay({ files: { "root/.mcp.json": entry(["good"]) } })
      yield* HostileTree.discovered(laid, ({ discover }, trust) =>
        Effect.gen(function*() {
          const shown = find("docs", yield* discover)
          fs.writeFileSync(laid.path("root/.mcp.json"), entry(["evil"]))
          yield* trust.approve(shown.fingerprint)
          const changed = find("docs", yield* discover)
          assert.deepStrictEqual(changed.state, { _tag: "Untrusted", why: "changed" })
          fs.writeFileSync(laid.path("root/.mcp.json"), entry(["good"]))
          // it was something else meanwhile
          assert.deepStrictEqual(find("docs", yield* discover).state, { _tag: "Untrusted", why: "changed" })
        }))
    }))

  it.scopedLive("is not for another repository in the same place, and outlasts one that is gone (fs-026, fs-027)", () =>
    Effect.gen(function*() {
      const entry = (command: string) => JSON.stringify({ mcpServers: { docs: { command } } })
      const laid = yield* HostileTree.lay({ files: { "root/.mcp.json": entry("node") } })
      yield* HostileTree.discovered(laid, ({ discover }, trust) =>
        Effect.gen(function*() {
          yield* discover
          yield* trust.approve("docs")
          fs.renameSync(laid.root, laid.path("moved"))
          assert.deepStrictEqual(HostileTree.states(yield* discover), new Map())
          fs.renameSync(laid.path("moved"), laid.root)
          assert.strictEqual(find("docs", yield* discover).state._tag, "Ready")
          fs.rmSync(laid.root, { recursive: true })
          fs.mkdirSync(laid.root)
          fs.writeFileSync(laid.path("root/.mcp.json"), entry("canary"))
          assert.deepStrictEqual(find("docs", yield* discover).state, { _tag: "Untrusted", why: "changed" })
        }))
    }))
})

describe("a person who is asked", () => {
  it.scopedLive("sees the whole line, word by word (cfg-056, cfg-037)", () =>
    Effect.gen(function*() {
      for (
        const [id, server, words] of [
          ["cfg-056", "x", ["node", "a".repeat(4000), "--eval", "evil()"]],
          ["cfg-037", "a", ["canary"]]
        ] as const
      ) {
        const laid = yield* HostileTree.lay(configOf(id))
        yield* HostileTree.discovered(laid, ({ discover }, trust) =>
          Effect.gen(function*() {
            yield* discover
            const lines = (yield* trust.pending).filter((one) => one.server === server).flatMap(Trust.consent)
            const shown = lines.filter(({ label }) => label === "program" || label.startsWith("argument"))
            assert.deepStrictEqual(shown.map(({ text }) => text), words.map((word) => `"${word}"`))
            // what is parsed, and not the comments between
            assert.notInclude(JSON.stringify(lines), "end")
          }))
      }
    }))

  it.scopedLive("is warned of what is hazardous (cfg-051, cfg-052, cfg-053, cfg-055)", () =>
    Effect.gen(function*() {
      for (
        const [id, kind, names] of [
          ["cfg-051", "unpinned-package", /some-mcp/],
          ["cfg-052", "near-name", /server-filesystem/],
          ["cfg-053", "remote-code", /attacker\/x/],
          ["cfg-055", "privileged-container", /privileged/]
        ] as const
      ) {
        const laid = yield* HostileTree.lay(configOf(id))
        yield* HostileTree.discovered(laid, ({ discover }, trust) =>
          Effect.gen(function*() {
            yield* discover
            const lines = (yield* trust.pending).flatMap(Trust.consent)
            assert.isTrue(lines.some(({ label, level }) => label === kind && level === "warning"), id)
            assert.isTrue(lines.some(({ text }) => names.test(text)), id)
          }))
      }
    }))

  it.scopedLive("sees that the program is decided by a variable (cfg-045)", () =>
    Effect.gen(function*() {
      const laid = yield* HostileTree.lay(configOf("cfg-045"))
      yield* HostileTree.discovered(laid, ({ discover }, trust) =>
        Effect.gen(function*() {
          yield* discover
          const lines = (yield* trust.pending).flatMap(Trust.consent)
          assert.include(lines.find(({ label }) => label === "program")?.text, "${env:SHELL}")
          assert.include(lines.filter(({ label }) => label === "asks for").map(({ text }) => text), "\"SHELL\"")
        }))
    }))
})

describe("a file that starts servers without being asked for", () => {
  it.scopedLive("is none of somebody else's (cfg-026)", () =>
    Effect.gen(function*() {
      const user = "home/.config/ours/mcp-client.json"
      const laid = yield* HostileTree.lay({
        files: { [user]: JSON.stringify({ mcpServers: { x: { command: "x" } } }) }
      })
      // whoever runs this: a file of root's is given away, one of a user's is looked at as somebody else
      const isRoot = process.getuid?.() === 0
      if (isRoot) fs.chownSync(laid.path(user), 12_345, 12_345)
      const found = yield* HostileTree.discovered(laid, ({ discover }) => discover, {}, isRoot ? {} : { uid: 54_321 })
      assert.deepStrictEqual(HostileTree.states(found), new Map())
      assert.deepStrictEqual(HostileTree.kinds(found), ["insecure-file"])
      // and is the person's own otherwise
      const own = yield* HostileTree.discovered(laid, ({ discover }) => discover, {}, isRoot ? { uid: 12_345 } : {})
      assert.deepStrictEqual(HostileTree.states(own), new Map([["x", "Ready"]]))
    }))
})
