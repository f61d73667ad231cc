import * as PlatformError from "@effect/platform/Error"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Context, Deferred, Effect, Exit, Fiber, Layer, Scope, Stream, TestClock } from "effect"
import * as FastCheck from "effect/FastCheck"
import type * as ServerEntry from "../../src/config/serverEntry.ts"
import * as Trust from "../../src/config/Trust.ts"
import * as TrustStore from "../../src/config/TrustStore.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as Texts from "../support/texts.ts"
import { storeOf } from "../support/trustStore.ts"

type Store = TrustStore.TrustStore["Type"]
type TrustEvent = Extract<McpEvent.McpEvent, { readonly _tag: "TrustChanged" | "TrustIssue" }>

const entry: ServerEntry.StdioEntry = {
  transport: "stdio",
  name: "docs",
  enabled: true,
  command: "node",
  args: ["server.mjs"]
}

const candidate = (more: Partial<Trust.Candidate> = {}): Trust.Candidate => ({
  root: "/work",
  server: "docs",
  fingerprint: "sha256:one",
  entry,
  provenance: {
    provider: "native",
    scope: "project",
    origin: "workspace",
    path: "/work/.mcp.json",
    pointer: ["mcpServers", "docs"],
    line: 3
  },
  variables: ["LOG_LEVEL", "GITHUB_TOKEN"],
  hazards: [],
  ...more
})

const one = candidate()
const other = candidate({ fingerprint: "sha256:two" })

interface Process {
  readonly trust: Trust.Trust["Type"]
  readonly events: ReadonlyArray<TrustEvent>
}

/** What a process of its own would have: nothing but the store in common with others. */
const processOver = (store: Store, options?: Partial<Trust.Options>): Effect.Effect<Process, never, Scope.Scope> =>
  Effect.gen(function*() {
    const events: Array<TrustEvent> = []
    const bus: McpEvent.McpEvents["Type"] = {
      ...yield* McpEvent.make(),
      publish: (event) => {
        if (event._tag === "TrustChanged" || event._tag === "TrustIssue") events.push(event)
      }
    }
    const context = yield* Layer.build(
      Layer.scoped(Trust.Trust, Trust.make(options)).pipe(
        Layer.provide(Layer.succeed(TrustStore.TrustStore, store)),
        Layer.provide(Layer.succeed(McpEvent.McpEvents, bus))
      )
    )
    return { trust: Context.get(context, Trust.Trust), events }
  })

const whyOf = (given: Trust.Reviewed | undefined): string =>
  given?.status._tag === "Pending" ? given.status.why : "approved"

const status = ({ trust }: Process, asked: Trust.Candidate = one): Effect.Effect<string> =>
  Effect.map(trust.review([asked]), ([given]) => whyOf(given))

const approvalIn = (values: ReadonlyMap<string, string>) =>
  Array.from(values).find(([key]) => key.startsWith("approval-"))!

const broken = new PlatformError.SystemError({
  reason: "PermissionDenied",
  module: "KeyValueStore",
  method: "set",
  description: "the disk is read-only"
})

describe("trust", () => {
  it.scoped("is asked for, and lasts for the next run", () =>
    Effect.gen(function*() {
      const store = storeOf(new Map())
      const first = yield* processOver(store)
      assert.strictEqual(yield* status(first), "new")
      assert.deepStrictEqual(yield* first.trust.pending, [{ ...one, why: "new" }])
      yield* first.trust.approve("docs")
      assert.deepStrictEqual(yield* first.trust.pending, [])
      const second = yield* processOver(store)
      assert.deepStrictEqual(yield* second.trust.review([one]), [
        { candidate: one, status: { _tag: "Approved", grants: ["LOG_LEVEL"] } }
      ])
    }))

  it.scoped("writes nothing while it only looks", () =>
    Effect.gen(function*() {
      const values = new Map<string, string>()
      const process = yield* processOver(storeOf(values))
      yield* process.trust.review([one, candidate({ server: "b" })])
      assert.strictEqual(values.size, 0)
    }))

  it.scoped("does not use the store if no server needs approval", () =>
    Effect.gen(function*() {
      const process = yield* processOver({ ...storeOf(new Map()), get: () => Effect.dieMessage("read") })
      assert.deepStrictEqual(yield* process.trust.review([]), [])
    }))

  it.scoped("is for one server of one workspace", () =>
    Effect.gen(function*() {
      const process = yield* processOver(storeOf(new Map()))
      yield* process.trust.review([one])
      yield* process.trust.approve("docs")
      assert.strictEqual(yield* status(process, candidate({ root: "/elsewhere" })), "new")
      assert.strictEqual(yield* status(process, candidate({ server: "other" })), "new")
      assert.strictEqual(yield* status(process), "approved")
    }))

  it.scoped("is asked for again when anything has changed, and also when that is changed back", () =>
    Effect.gen(function*() {
      const store = storeOf(new Map())
      const process = yield* processOver(store)
      yield* process.trust.review([one])
      yield* process.trust.approve("docs")
      assert.strictEqual(yield* status(process, other), "changed")
      assert.strictEqual(yield* status(process, one), "changed")
      assert.strictEqual(yield* status(yield* processOver(store), one), "changed")
      yield* process.trust.approve("docs")
      assert.strictEqual(yield* status(yield* processOver(store), one), "approved")
    }))

  it.scoped("is not won back by a change whose end could not be kept", () =>
    Effect.gen(function*() {
      const store = storeOf(new Map())
      let readOnly = false
      const process = yield* processOver({
        ...store,
        set: (key, value) => Effect.suspend(() => readOnly ? Effect.fail(broken) : store.set(key, value))
      })
      yield* process.trust.review([one])
      yield* process.trust.approve("docs")
      readOnly = true
      assert.strictEqual(yield* status(process, other), "changed")
      assert.strictEqual(yield* status(process, one), "changed")
      assert.strictEqual(process.events.filter(({ _tag }) => _tag === "TrustIssue").length, 1)
    }))

  it.scoped("keeps an approval that another process gives while this one finds the change", () =>
    Effect.gen(function*() {
      const values = new Map<string, string>()
      const store = storeOf(values)
      const begun = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      let isSlow = false
      const slow = yield* processOver({
        ...store,
        locked: (key) => (effect) =>
          Effect.suspend(() =>
            isSlow
              ? Deferred.succeed(begun, undefined).pipe(
                Effect.zipRight(Deferred.await(go)),
                Effect.zipRight(store.locked(key)(effect))
              )
              : store.locked(key)(effect)
          )
      })
      const quick = yield* processOver(store)
      yield* slow.trust.review([one])
      yield* slow.trust.approve("docs")
      isSlow = true
      const looking = yield* Effect.fork(status(slow, other))
      yield* Deferred.await(begun)
      yield* quick.trust.review([other])
      yield* quick.trust.approve("docs")
      yield* Deferred.succeed(go, undefined)
      assert.strictEqual(yield* Fiber.join(looking), "changed")
      assert.strictEqual(yield* status(slow, other), "approved")
    }))

  it.scoped("is given to what was shown, and not to what has its name by then", () =>
    Effect.gen(function*() {
      const process = yield* processOver(storeOf(new Map()))
      yield* process.trust.review([one])
      yield* process.trust.review([other])
      const error = yield* Effect.flip(process.trust.approve(one.fingerprint))
      assert.deepInclude(error, { _tag: "NotFound", kind: "server" })
      assert.strictEqual(yield* status(process, other), "new")
    }))

  it.scoped("is given to the fingerprint that was named, even if a server calls itself so", () =>
    Effect.gen(function*() {
      const process = yield* processOver(storeOf(new Map()))
      const liar = candidate({ server: one.fingerprint, fingerprint: "sha256:evil" })
      yield* process.trust.review([liar, one])
      yield* process.trust.approve(one.fingerprint)
      assert.deepStrictEqual((yield* process.trust.pending).map(({ server }) => server), [one.fingerprint])
    }))

  it.scoped("grants the variables that are named, of those that are asked for", () =>
    Effect.gen(function*() {
      const process = yield* processOver(storeOf(new Map()))
      yield* process.trust.review([one])
      yield* process.trust.approve("docs", { variables: ["GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY"] })
      assert.deepStrictEqual(yield* process.trust.review([one]), [
        { candidate: one, status: { _tag: "Approved", grants: ["GITHUB_TOKEN"] } }
      ])
    }))

  it.scoped("is given without a person to fingerprints that are listed, and to nothing else", () =>
    Effect.gen(function*() {
      const process = yield* processOver(storeOf(new Map()), { approved: [" SHA256:ONE ", "docs", "other", "*"] })
      assert.strictEqual(yield* status(process), "approved")
      assert.strictEqual(yield* status(process, other), "new")
      assert.strictEqual(yield* status(process, candidate({ server: "other", fingerprint: "sha256:x" })), "new")
      yield* process.trust.review([one])
      yield* process.trust.revoke("docs")
      assert.strictEqual(yield* status(process), "new")
    }))

  it.scoped("ends when it is revoked, here and everywhere", () =>
    Effect.gen(function*() {
      const store = storeOf(new Map())
      const process = yield* processOver(store)
      yield* process.trust.review([one])
      yield* process.trust.approve("docs")
      yield* process.trust.revoke("docs")
      assert.deepStrictEqual((yield* process.trust.pending).map(({ why }) => why), ["new"])
      assert.strictEqual(yield* status(yield* processOver(store)), "new")
      assert.strictEqual((yield* Effect.flip(process.trust.revoke("nobody")))._tag, "NotFound")
    }))

  it.scoped("tells of each decision, and of each server that somebody has to be asked about once", () =>
    Effect.gen(function*() {
      const process = yield* processOver(storeOf(new Map()))
      yield* process.trust.review([one])
      yield* process.trust.review([one])
      const changes = yield* Effect.fork(Stream.runCollect(Stream.take(process.trust.changes, 2)))
      yield* Effect.yieldNow()
      yield* process.trust.approve("docs")
      yield* process.trust.review([one])
      yield* process.trust.revoke("docs")
      yield* process.trust.review([other])
      assert.strictEqual(Chunk.size(yield* Fiber.join(changes)), 2)
      assert.deepStrictEqual(
        process.events.map((event) =>
          event._tag === "TrustChanged" ? [event.fingerprint, event.status._tag] : [event.detail]
        ),
        [
          ["sha256:one", "Pending"],
          ["sha256:one", "Approved"],
          ["sha256:one", "Pending"],
          ["sha256:two", "Pending"]
        ]
      )
    }))

  it.effect("has no more changes when it is closed, for those who follow and for those who begin to", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const trust = yield* Layer.buildWithScope(Trust.layerMemory(), scope).pipe(
        Effect.map((services) => Context.get(services, Trust.Trust))
      )
      const following = yield* Effect.fork(Stream.runCount(trust.changes))
      yield* Effect.yieldNow()
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* Fiber.join(following), 0)
      assert.strictEqual(yield* Stream.runCount(trust.changes), 0)
    }))

  it.scoped("is not believed where it cannot be kept", () =>
    Effect.gen(function*() {
      const process = yield* processOver({ ...storeOf(new Map()), set: () => Effect.fail(broken) })
      yield* process.trust.review([one])
      const error = yield* Effect.flip(process.trust.approve("docs"))
      assert.strictEqual(error._tag, "TrustNotKept")
      assert.include(error.message, "read-only")
      assert.strictEqual((yield* process.trust.pending).length, 1)
    }))

  it.scoped("waits for no store that does not answer", () =>
    Effect.gen(function*() {
      const process = yield* processOver({ ...storeOf(new Map()), get: () => Effect.never })
      const all = Array.from({ length: 20 }, (_, at) => candidate({ server: `s${at}` }))
      const review = yield* Effect.fork(process.trust.review(all))
      yield* TestClock.adjust("11 seconds")
      assert.isTrue((yield* Fiber.join(review)).every(({ status }) => status._tag === "Pending"))
      const approve = yield* Effect.fork(Effect.flip(process.trust.approve("s1")))
      yield* TestClock.adjust("6 seconds")
      assert.strictEqual((yield* Fiber.join(approve))._tag, "TrustNotKept")
    }))

  it.effect("is everybody's where an application asks in a way of its own", () =>
    Effect.gen(function*() {
      const trust = yield* Trust.Trust
      assert.deepStrictEqual(yield* trust.review([one]), [
        { candidate: one, status: { _tag: "Approved", grants: ["LOG_LEVEL"] } }
      ])
    }).pipe(Effect.provide(Trust.layerAll())))
})

describe("an approval that cannot be read", () => {
  const damages: ReadonlyArray<readonly [string, (stored: Record<string, unknown>, text: string) => string]> = [
    ["of another workspace", (stored) => JSON.stringify({ ...stored, place: ["/elsewhere", "docs"] })],
    ["of another server", (stored) => JSON.stringify({ ...stored, place: ["/work", "other"] })],
    ["without a field", (stored) => JSON.stringify({ ...stored, value: { fingerprint: one.fingerprint, grants: [] } })],
    ["of a later version", (stored) => JSON.stringify({ ...stored, version: 3 })],
    [
      "of 0.1, with a signature",
      () =>
        JSON.stringify({
          version: 1,
          root: one.root,
          server: one.server,
          fingerprint: one.fingerprint,
          grants: [],
          at: 0,
          nonce: "0".repeat(64),
          mac: "0".repeat(64)
        })
    ],
    ["that is torn", (_, text) => text.slice(0, text.length / 2)],
    ["that is empty", () => ""],
    ["that is not JSON", () => "\u0000\u001b]0;x\u0007 not JSON"],
    ["with a prototype", () => "{\"__proto__\":{\"value\":{}},\"version\":2}"]
  ]
  for (const [what, damage] of damages) {
    it.scoped(`is none, says so and is kept aside by the next decision: one ${what}`, () =>
      Effect.gen(function*() {
        const texts = new Map<string, string>()
        const store = storeOf(texts)
        const author = yield* processOver(store)
        yield* author.trust.review([one])
        yield* author.trust.approve("docs")
        const [key, text] = approvalIn(texts)
        const bad = damage(JSON.parse(text), text)
        texts.set(key, bad)
        const process = yield* processOver(store)
        for (const asked of [one, other, one]) assert.strictEqual(yield* status(process, asked), "unreadable")
        assert.deepStrictEqual(process.events.flatMap((event) => event._tag === "TrustIssue" ? [event.detail] : []), [
          `the text ${key} is damaged, or has another version than 2; it is ignored, and the next decision replaces it`
        ])
        assert.match((yield* process.trust.pending)[0]?.detail ?? "", /^the text .* is damaged/)
        yield* process.trust.approve("docs")
        assert.strictEqual(yield* status(yield* processOver(store)), "approved")
        assert.strictEqual(Array.from(texts).find(([name]) => name.startsWith("aside-"))?.[1], bad)
      }))
  }

  it.scoped("is none if it is a copy of the approval of another server", () =>
    Effect.gen(function*() {
      const texts = new Map<string, string>()
      const process = yield* processOver(storeOf(texts))
      const twin = candidate({ server: "twin" })
      yield* process.trust.review([one, twin])
      yield* process.trust.approve("docs")
      const [mine, text] = approvalIn(texts)
      yield* process.trust.approve("twin")
      for (const key of texts.keys()) if (key !== mine) texts.set(key, text)
      const statuses = yield* (yield* processOver(storeOf(texts))).trust.review([one, twin])
      assert.deepStrictEqual(statuses.map(whyOf), [
        "approved",
        "unreadable"
      ])
    }))
})

describe("what a person is shown", () => {
  const text = (asked: Partial<Trust.Candidate>) =>
    Trust.consent(candidate(asked)).map(({ label, level, text }) =>
      `${level === "warning" ? "! " : ""}${label}: ${text}`
    )

  const remote: ServerEntry.RemoteEntry = {
    transport: "streamable-http",
    name: "docs",
    enabled: true,
    url: "https://me:secret@docs.example/mcp?team=a&api_key=abcdef123456",
    headers: new Map([["Authorization", "Bearer ${env:GITHUB_TOKEN}"], ["X-Key", "abcdef"]])
  }

  it("names the program and each argument, where it comes from and what it asks for", () => {
    const asked: Partial<Trust.Candidate> = {
      entry: {
        ...entry,
        args: ["-y", "a b", "--dir=${env:HOME}", "$${HOME}"],
        cwd: "sub",
        env: new Map([
          ["LOG_LEVEL", "debug"],
          ["API_TOKEN", "abcdef"],
          ["GITHUB_TOKEN", "${env:GITHUB_TOKEN}"]
        ]),
        withoutEnv: ["DEBUG"],
        inheritEnv: true
      },
      extra: new Map([["sandbox", false]]),
      hazards: [{ kind: "unpinned-package", at: "args.1", detail: "What it downloads may change." }]
    }
    assert.deepStrictEqual(text(asked), [
      "server: \"docs\"",
      "from: \"/work/.mcp.json:3 (project)\"",
      "workspace: \"/work\"",
      "program: \"node\"",
      "argument 1: \"-y\"",
      "argument 2: \"a b\"",
      "argument 3: \"--dir=${env:HOME}\"",
      "argument 4: \"${HOME}\"",
      "folder: \"sub\"",
      "variable: \"LOG_LEVEL\" = \"debug\"",
      "variable: \"API_TOKEN\" = (hidden, 6 characters)",
      "variable: \"GITHUB_TOKEN\" = (hidden, 19 characters) with \"env:GITHUB_TOKEN\"",
      "variable: \"DEBUG\" is removed",
      "! environment: all variables, including every secret",
      "asks for: \"LOG_LEVEL\"",
      "! asks for: \"GITHUB_TOKEN\", which it does not get unless you allow it",
      "unknown field: \"sandbox\"",
      "! unpinned-package: \"args.1\": What it downloads may change."
    ])
  })

  it("names the address and the headers, without their secrets", () => {
    assert.includeMembers(text({ entry: remote }), [
      "address: \"https://(hidden)@docs.example/mcp?team=a&api_key=(hidden)\"",
      "header: \"Authorization\" = (hidden, 26 characters) with \"env:GITHUB_TOKEN\"",
      "header: \"X-Key\" = (hidden, 6 characters)"
    ])
  })

  it("has what is put into the arguments where nothing else is said, whatever it is called", () => {
    const lines = text({
      entry: {
        ...entry,
        args: ["${env:API_TOKEN}", "${input:mode}"],
        env: new Map([["API_TOKEN", "--import=./evil"]])
      },
      inputs: [{ id: "mode", secret: true, default: "--eval=evil()" }, { id: "name" }]
    })
    assert.includeMembers(lines, [
      "variable: \"API_TOKEN\" = \"--import=./evil\"",
      "asks you: \"mode\", default \"--eval=evil()\"",
      "asks you: \"name\""
    ])
  })

  it("names every field that is neither the program nor the address, and hides the client secret", () => {
    const lines = text({
      entry: {
        ...remote,
        title: "Docs\u202e",
        required: true,
        startupTimeout: 1_000,
        keepAlive: 2_000,
        enabledTools: [],
        disabledTools: ["rm", "a b"],
        oauth: {
          clientId: "app",
          clientSecret: "abc${secret:docs}",
          issuer: "https://login.example",
          scopes: ["read", "write"],
          tokenEndpointAuthMethod: "none"
        }
      }
    })
    assert.includeMembers(lines, [
      "login: clientId = \"app\"",
      "login: clientSecret = (hidden, 17 characters) with \"secret:docs\"",
      "login: issuer = \"https://login.example\"",
      "login: scopes = \"read\", \"write\"",
      "login: tokenEndpointAuthMethod = \"none\"",
      "setting: title = \"Docs\\u{202e}\"",
      "setting: required = true",
      "setting: startupTimeout = 1000",
      "setting: keepAlive = 2000",
      "setting: enabledTools = none",
      "setting: disabledTools = \"rm\", \"a b\""
    ])
  })

  const addressOf = (url: string) => text({ entry: { ...remote, url } }).filter((line) => line.startsWith("address"))
  for (
    const [url, shown] of [
      // `&` and `=` may stand in a host name, and in a user
      ["https://good&key=.evil.example/mcp", "https://good&key=.evil.example/mcp"],
      ["https://good.example&token=:x@evil.example/mcp", "https://(hidden)@evil.example/mcp"],
      ["https://me:p@ss@evil.example/", "https://(hidden)@evil.example/"],
      ["https:/me:pass@evil.example/", "https:/(hidden)@evil.example/"],
      ["https://a${env:B:-#&token=}.evil.example/", "https://a${env:B:-#&token=}.evil.example/"],
      ["https://${env:A}.evil.example@good.example/", "https://${env:A}.evil.example@good.example/"]
    ] as const
  ) it(`shows the host of ${url}`, () => assert.deepStrictEqual(addressOf(url), [`address: "${shown}"`]))

  it("hides no path or option after a credential in a variable that decides what runs", () => {
    const env = new Map([
      ["NODE_OPTIONS", "--title=?key=x --require ./evil.js"],
      ["PATH", "/bin:/x?key=:/evil"],
      ["HTTPS_PROXY", "http://p.example/?token=abc"],
      ["LD_LIBRARY_PATH", "https://a:b@x"]
    ])
    const hazards = Array.from(env.keys(), (name) => ({
      kind: "launch-override" as const,
      at: `env.${name}`,
      detail: "D."
    }))
    assert.deepStrictEqual(text({ entry: { ...entry, env }, hazards }).slice(0, 4), [
      "! variable: \"NODE_OPTIONS\" = \"--title=?key=(hidden) --require ./evil.js\". D.",
      "! variable: \"PATH\" = \"/bin:/x?key=:/evil\". D.",
      "! variable: \"HTTPS_PROXY\" = \"http://p.example/?token=(hidden)\". D.",
      "! variable: \"LD_LIBRARY_PATH\" = \"https://a:b@x\". D."
    ])
  })

  it("shows where data goes, even where the rest of a value is hidden", () => {
    const env = new Map([
      ["OPENAI_BASE_URL", "https://a:b@evil.example"],
      ["DATABASE_URL", "s3.x://me:p@ss@db.example:1/hush?x=1"],
      ["API_TOKEN", "hush https:evil.example/hush,WSS://me@b.example?hush"]
    ])
    assert.includeMembers(text({ entry: { ...entry, env } }), [
      "variable: \"OPENAI_BASE_URL\" = (hidden, 24 characters) to \"https://(hidden)@evil.example\"",
      "variable: \"DATABASE_URL\" = (hidden, 36 characters) to \"s3.x://(hidden)@db.example:1\"",
      "variable: \"API_TOKEN\" = (hidden, 52 characters) to \"https:evil.example\", \"WSS://(hidden)@b.example\""
    ])
  })

  it("shows a variable with the name of a credential where it becomes a part of what is shown", () => {
    const started = new Map([["NODE_OPTIONS", "--require ${env:A_TOKEN}"], ["A_TOKEN", "./evil.js"], ["B_TOKEN", "x"]])
    assert.includeMembers(text({ entry: { ...entry, env: started } }), [
      "variable: \"A_TOKEN\" = \"./evil.js\"",
      "variable: \"B_TOKEN\" = (hidden, 1 characters)"
    ])
    const reached = new Map([["A_TOKEN", "https://evil.example"], ["B_TOKEN", "x"]])
    const oauth = { issuer: "${env:A_TOKEN}", clientSecret: "${env:B_TOKEN}" }
    assert.includeMembers(text({ entry: { ...remote, env: reached, oauth } }), [
      "variable: \"A_TOKEN\" = \"https://evil.example\"",
      "variable: \"B_TOKEN\" = (hidden, 1 characters)"
    ])
  })

  it("begins with the values that decide what runs", () => {
    const env = new Map([["A", "1"], ["PATH", "./bin"], [
      "HTTPS_PROXY",
      "http://me:pw@proxy.example"
    ]])
    const hazards = ["env.PATH", "env.HTTPS_PROXY", "cwd"].map((at) => ({
      kind: "launch-override" as const,
      at,
      detail: "It decides what runs."
    }))
    assert.deepStrictEqual(text({ entry: { ...entry, env, cwd: "sub" }, hazards }).slice(0, 4), [
      "! variable: \"PATH\" = \"./bin\". It decides what runs.",
      "! variable: \"HTTPS_PROXY\" = \"http://(hidden)@proxy.example\". It decides what runs.",
      "! folder: \"sub\". It decides what runs.",
      "server: \"docs\""
    ])
  })

  it("warns of letters that look like others", () => {
    assert.include(
      text({ server: "d\u043ecs" }),
      "! letters: the name contains U+043E, which can look like other letters"
    )
  })

  it("warns of a host in punycode, which shows other letters than it has", () => {
    assert.include(
      text({ entry: { ...remote, url: "https://xn--pple-43d.example/mcp" } }),
      "! letters: the address contains the punycode \"xn--pple-43d\", which can look like other letters"
    )
    assert.notInclude(text({ entry: { ...remote, url: "https://a.example/xn--a" } }).join(), "punycode")
  })

  it("warns of such letters in each word of the line, the folder and the addresses", () => {
    const letters = (asked: Partial<Trust.Candidate>) =>
      text(asked).flatMap((line) => /^! letters: (.*) contains U\+043E,/.exec(line)?.[1] ?? [])
    const env = new Map([["P", "x\u043e"], ["A", "https://x\u043e.example"], ["B", "x\u043e"]])
    const args = ["-y", "@m\u043edel/x@1.0.0", "${env:P}", "${env:Q:-\u043e}", "${input:i}"]
    const inputs = [{ id: "i", default: "\u043e" }]
    assert.deepStrictEqual(letters({ entry: { ...entry, args, cwd: "d\u043e", env }, inputs }), [
      "\"args.1\"",
      "\"args.2\"",
      "\"args.3\"",
      "\"args.4\"",
      "\"cwd\"",
      "\"env.A\""
    ])
    assert.deepStrictEqual(
      letters({
        entry: {
          ...remote,
          url: "https://d\u043e.example",
          headers: new Map([["X", "\u043e"]]),
          headersCommand: ["x", "\u043e"],
          oauth: { issuer: "https://d\u043e.example", clientSecret: "\u043e" }
        }
      }),
      ["the address", "\"headersCommand.1\"", "\"oauth.issuer\""]
    )
  })

  const words = FastCheck.array(
    FastCheck.oneof(
      FastCheck.string({ unit: Texts.unit }),
      FastCheck.stringMatching(/^[ "\\${}a\n\u001b\u202e\u200b\u3164\u2800]*$/),
      FastCheck.nat(30).map((length) => " ".repeat(length))
    ),
    { maxLength: 5 }
  )

  /** What the quoted text stands for. */
  const unquoted = (quoted: string): string =>
    quoted.slice(1, -1).replace(
      /\\(?:u\{([0-9a-f]+)(?:\*(\d+))?\}|x([0-9a-f]{2})|(.))/gu,
      (_, long: string | undefined, times: string | undefined, short: string | undefined, char: string | undefined) => {
        const code = long ?? short
        return code === undefined
          ? new Map([["n", "\n"], ["r", "\r"], ["t", "\t"]]).get(char!) ?? char!
          : String.fromCodePoint(parseInt(code, 16)).repeat(Number(times ?? 1))
      }
    )

  it("has every character of every argument, and none that can hide", () => {
    FastCheck.assert(FastCheck.property(words, (args) => {
      const literal = args.map((arg) => arg.replaceAll("${", "$ {"))
      const lines = Trust.consent(candidate({ entry: { ...entry, args: literal } }))
        .filter(({ label }) => label.startsWith("argument"))
      assert.deepStrictEqual(lines.map((line) => unquoted(line.text)), literal)
      for (const line of lines) {
        assert.notMatch(line.text, /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2800]| {3}/u)
      }
    }))
  })

  it("shows an argument of any length whole", () => {
    const long = `${"a".repeat(100_000)}; touch /tmp/x`
    assert.include(text({ entry: { ...entry, args: [long] } }), `argument 1: "${long}"`)
  })
})
