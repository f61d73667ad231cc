import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import * as Trust from "../../src/config/Trust.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import type * as FileStore from "../../src/node/FileStore.ts"
import * as NodeTrust from "../../src/node/NodeTrust.ts"

const candidate = (server: string, fingerprint = `sha256:${server}`): Trust.Candidate => ({
  root: "/work",
  server,
  fingerprint,
  entry: { transport: "stdio", name: server, enabled: true, command: "node", args: [] },
  provenance: {
    provider: "native",
    scope: "project",
    origin: "workspace",
    path: "/work/.mcp.json",
    pointer: ["mcpServers", server],
    line: 1
  },
  variables: [],
  hazards: []
})

interface Process {
  readonly trust: Trust.Trust["Type"]
  /** What it has said about what is kept. */
  readonly said: ReadonlyArray<string>
}

/** What a process of its own has over the decisions in a folder. */
const processOver = (
  directory: string,
  { key, uid = process.getuid?.() }: { readonly uid?: number | undefined; readonly key?: FileStore.Key } = {}
): Effect.Effect<Process, never, Scope.Scope> =>
  Effect.gen(function*() {
    const said: Array<string> = []
    const events: McpEvent.McpEvents["Type"] = {
      ...yield* McpEvent.make(),
      publish: (event) => {
        if (event._tag === "TrustIssue") said.push(event.detail)
      }
    }
    const host = { platform: process.platform, variables: () => ({ HOME: directory }), uid }
    const context = yield* Layer.build(Layer.provide(
      NodeTrust.layer({ directory, key }),
      Layer.merge(Layer.succeed(McpEvent.McpEvents, events), Layer.succeed(HostEnvironment.HostEnvironment, host))
    ))
    return { trust: Context.get(context, Trust.Trust), said }
  })

const status = ({ trust }: Process, server = "docs") =>
  Effect.map(
    trust.review([candidate(server)]),
    ([given]) => given?.status._tag === "Pending" ? given.status.why : "approved"
  )

const approved = (directory: string, server = "docs") =>
  Effect.gen(function*() {
    const one = yield* processOver(directory)
    yield* status(one, server)
    yield* one.trust.approve(server)
    assert.strictEqual(yield* status(one, server), "approved")
  })

/** What the next process makes of it. */
const next = (directory: string) => Effect.flatMap(processOver(directory), (one) => status(one))

interface Place {
  /** Where decisions are kept: not there yet. */
  readonly directory: string
  readonly away: string
  /** The file that holds the one approval, and not the key. */
  readonly approval: () => string
}

const place: Effect.Effect<Place, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "mcp-store-")))),
    (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => {
    const directory = join(folder, "state/trust")
    fs.mkdirSync(join(folder, "away"))
    return {
      directory,
      away: join(folder, "away"),
      approval: () => {
        const found = fs.readdirSync(directory).map((name) => join(directory, name))
          .find((path) => fs.readFileSync(path, "utf8").includes("fingerprint"))
        assert.isDefined(found)
        return found!
      }
    }
  }
)

const isWindows = process.platform === "win32"

describe.skipIf(isWindows)("An approval in a file", () => {
  for (const mask of [0o000, 0o022]) {
    it.scopedLive(`can be read by its user only, with the umask ${mask} (fs-001)`, () =>
      Effect.gen(function*() {
        const { directory } = yield* place
        yield* Effect.acquireUseRelease(
          Effect.sync(() => process.umask(mask)),
          () => approved(directory),
          (before) => Effect.sync(() => process.umask(before))
        )
        assert.strictEqual(fs.statSync(directory).mode & 0o777, 0o700)
        for (const name of fs.readdirSync(directory)) {
          assert.strictEqual(fs.statSync(join(directory, name)).mode & 0o777, 0o600)
        }
      }))
  }

  it.scopedLive("is made private if other users could read it, and still holds", () =>
    Effect.gen(function*() {
      const { approval, directory } = yield* place
      yield* approved(directory)
      fs.chmodSync(directory, 0o755)
      fs.chmodSync(approval(), 0o644)
      assert.strictEqual(yield* next(directory), "approved")
      assert.deepStrictEqual(
        [directory, approval()].map((path) => fs.statSync(path).mode & 0o777),
        [0o700, 0o600]
      )
    }))

  it.scopedLive("does not count if its file belongs to another user (fs-004)", () =>
    Effect.gen(function*() {
      const { approval, directory } = yield* place
      yield* approved(directory)
      // whoever runs this: a file of root's is given away, one of a user's is looked at as somebody else
      const isRoot = process.getuid?.() === 0
      if (isRoot) fs.chownSync(approval(), 12_345, 12_345)
      const one = yield* processOver(directory, { uid: isRoot ? 0 : 54_321 })
      assert.strictEqual(yield* status(one), "unreadable")
      assert.match(
        one.said.join(),
        /\.value\): the file belongs to another user: remove it|trust\): the directory belongs to/
      )
    }))

  it.scopedLive("is not written through a planted link (fs-006, cfg-072)", () =>
    Effect.gen(function*() {
      const { approval, away, directory } = yield* place
      yield* approved(directory)
      const target = join(away, "mcp.json")
      fs.writeFileSync(target, "theirs")
      const file = approval()
      fs.rmSync(file)
      fs.symlinkSync(target, file)
      const one = yield* processOver(directory)
      assert.strictEqual(yield* status(one), "unreadable")
      assert.match(one.said.join(), /a link/)
      assert.strictEqual((yield* Effect.flip(one.trust.approve("docs")))._tag, "TrustNotKept")
      assert.strictEqual(fs.readFileSync(target, "utf8"), "theirs")
      assert.deepStrictEqual(fs.readdirSync(directory).filter((name) => name.endsWith(".tmp")), [])
    }))

  it.scopedLive("is not kept behind a link to a folder that all users may write to (fs-007)", () =>
    Effect.gen(function*() {
      const { away, directory } = yield* place
      fs.chmodSync(away, 0o777)
      for (const [link, first] of [[directory, "unreadable"], [join(directory, ".."), "new"]] as const) {
        fs.rmSync(join(directory, ".."), { recursive: true, force: true })
        fs.mkdirSync(join(link, ".."), { recursive: true })
        fs.symlinkSync(away, link)
        const one = yield* processOver(directory)
        assert.strictEqual(yield* status(one), first)
        assert.strictEqual((yield* Effect.flip(one.trust.approve("docs")))._tag, "TrustNotKept")
        assert.strictEqual(yield* next(directory), "unreadable")
      }
    }))

  it.scopedLive("does not count if its file has two names or is a pipe (fs-008, fs-009)", () =>
    Effect.gen(function*() {
      const { approval, away, directory } = yield* place
      yield* approved(directory)
      const file = approval()
      fs.linkSync(file, join(away, "other"))
      assert.strictEqual(yield* next(directory), "unreadable")
      fs.rmSync(file)
      execFileSync("mkfifo", [file])
      assert.strictEqual(yield* next(directory), "unreadable")
    }))

  it.scopedLive("counts only if it was signed, where the application brings a key (fs-017, fs-018)", () =>
    Effect.gen(function*() {
      const { approval, directory } = yield* place
      const key = Effect.succeed(Redacted.make("from a keyring"))
      const one = yield* processOver(directory, { key })
      yield* status(one)
      yield* one.trust.approve("docs")
      const signed = () => Effect.flatMap(processOver(directory, { key }), (process) => status(process))
      assert.strictEqual(yield* signed(), "approved")
      const file = approval()
      const whole = fs.readFileSync(file, "utf8")
      const [mac = "", text = ""] = whole.split("\n")
      const others = [
        text,
        `\n${text}`,
        `${"0".repeat(64)}\n${text}`,
        `${mac}\n${text.replace("sha256:docs", "sha256:evil")}`,
        `${mac}\n${text.replace("\"grants\":[]", "\"grants\":[\"GITHUB_TOKEN\"]")}`,
        `${mac}\n${text}\n`
      ]
      for (const planted of others) {
        assert.notStrictEqual(planted, whole)
        fs.writeFileSync(file, planted)
        assert.strictEqual(yield* signed(), "unreadable", planted)
      }
      fs.writeFileSync(file, whole)
      assert.strictEqual(yield* signed(), "approved")
      const other = yield* processOver(directory, { key: Effect.succeed(Redacted.make("another key")) })
      assert.strictEqual(yield* status(other), "unreadable")
      assert.match(other.said.join(), /\.value\): the file was not signed with the key of this store/)
      assert.strictEqual(yield* next(directory), "unreadable")
      const locked = yield* processOver(directory, { key: Effect.fail({ message: "the keyring is locked" }) })
      assert.strictEqual(yield* status(locked), "unreadable")
      assert.match(locked.said.join(), /the keyring is locked/)
      assert.strictEqual((yield* Effect.flip(locked.trust.approve("docs")))._tag, "TrustNotKept")
    }))

  it.scopedLive("does not count if its file is torn, which the next approval sets aside (fs-019)", () =>
    Effect.gen(function*() {
      const { approval, directory } = yield* place
      yield* approved(directory)
      const file = approval()
      const whole = fs.readFileSync(file, "utf8")
      for (const length of [0, 1, whole.length / 2, whole.length - 1]) {
        fs.writeFileSync(file, whole.slice(0, length))
        assert.strictEqual(yield* next(directory), "unreadable")
      }
      fs.writeFileSync(file, "torn")
      yield* approved(directory)
      const all = fs.readdirSync(directory).map((name) => fs.readFileSync(join(directory, name), "utf8"))
      assert.include(all, "torn")
      assert.strictEqual(yield* next(directory), "approved")
    }))

  it.scopedLive("survives other decisions at the same time, whatever the names of servers (fs-022, fs-025)", () =>
    Effect.gen(function*() {
      const { directory } = yield* place
      const names = [
        ..."../../x CON a:b NUL.txt . .. a/b".split(" "),
        "x".repeat(300),
        "\u{1f600}",
        ...Array.from({ length: 20 }, (_, at) => `s${at}`)
      ]
      yield* Effect.forEach(names, (name) => approved(directory, name), { concurrency: 20, discard: true })
      const one = yield* processOver(directory)
      for (const name of names) assert.strictEqual(yield* status(one, name), "approved", name)
      for (const name of fs.readdirSync(directory)) assert.match(name, /^[0-9a-f]{64}\.value$/)
      assert.deepStrictEqual(fs.readdirSync(join(directory, "..")), ["trust"])
    }))
})
