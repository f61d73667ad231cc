import * as PlatformError from "@effect/platform/Error"
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import { assert, describe, it } from "@effect/vitest"
import {
  Context,
  Deferred,
  Duration,
  Effect,
  Either,
  Exit,
  Fiber,
  FiberId,
  Layer,
  Option,
  Redacted,
  Scope,
  TestClock
} from "effect"
import * as FastCheck from "effect/FastCheck"
import * as Fingerprint from "../../src/config/Fingerprint.ts"
import * as Limits from "../../src/config/Limits.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as Redaction from "../../src/safety/Redaction.ts"
import * as Snapshot from "../../src/tools/snapshot.ts"
import type * as Tool from "../../src/tools/Tool.ts"
import * as ToolCache from "../../src/tools/ToolCache.ts"
import * as Configs from "../support/configs.ts"
import { settle } from "../support/manualClock.ts"
import { runs } from "../support/runs.ts"
import { listOf, named, source } from "../support/toolLists.ts"

const config = Configs.stdio({ name: "s", command: "node" })
/** The tools of a server, once its snapshot was read. */
const loaded = ({ open }: ToolCache.ToolCache["Type"], of: ServerConfig.ServerConfig = config) =>
  Effect.suspend(() => {
    const tools = open(of)
    return Effect.as(tools.loaded, tools)
  })

const keyOf = (of: ServerConfig.ServerConfig) => `tools-${Fingerprint.of(of)}`

const broken = new PlatformError.SystemError({
  reason: "PermissionDenied",
  module: "KeyValueStore",
  method: "x",
  pathOrDescriptor: "/cache/x\u001b[31m"
})

type Operation = "get" | "set" | "remove"

/** A store between runs, whose operations can be made to fail or to wait. */
class Disk {
  readonly values = new Map<string, string>()
  readonly log: Array<string> = []
  before: (operation: Operation, key: string) => Effect.Effect<void, PlatformError.PlatformError> = () => Effect.void

  readonly store = KeyValueStore.makeStringOnly({
    get: (key) => this.on("get", key, () => Option.fromNullable(this.values.get(key))),
    set: (key, value) => this.on("set", key, () => void this.values.set(key, value)),
    remove: (key) => this.on("remove", key, () => void this.values.delete(key)),
    clear: Effect.die("not used"),
    size: Effect.die("not used")
  })

  private on<A>(operation: Operation, key: string, run: () => A): Effect.Effect<A, PlatformError.PlatformError> {
    return Effect.suspend(() => {
      this.log.push(operation)
      return Effect.map(this.before(operation, key), run)
    })
  }

  get text(): string | undefined {
    return this.values.get(keyOf(config))
  }

  set text(text: string) {
    this.values.set(keyOf(config), text)
  }
}

interface Run {
  readonly cache: ToolCache.ToolCache["Type"]
  readonly issues: ReadonlyArray<string>
}

const start = (disk: Disk, options?: Partial<ToolCache.PersistedOptions>, limits: Layer.Layer<never> = Layer.empty) =>
  Effect.gen(function*() {
    const issues: Array<string> = []
    const events: McpEvent.McpEvents["Type"] = {
      ...yield* McpEvent.make(),
      publish: (event) => {
        if (event._tag === "CacheIssue") issues.push(`${event.server}: ${event.detail}`)
      }
    }
    const context = yield* ToolCache.layerPersisted(options).pipe(
      Layer.provide([
        Layer.succeed(KeyValueStore.KeyValueStore, disk.store),
        Layer.succeed(McpEvent.McpEvents, events),
        limits
      ]),
      Layer.build
    )
    const run: Run = { cache: Context.get(context, ToolCache.ToolCache), issues }
    return run
  })

/** One run of an application, from its start to its end. */
const run = <A, E>(
  disk: Disk,
  use: (cache: ToolCache.ToolCache["Type"], issues: ReadonlyArray<string>) => Effect.Effect<A, E>,
  options?: Partial<ToolCache.PersistedOptions>
) => Effect.scoped(Effect.flatMap(start(disk, options), ({ cache, issues }) => use(cache, issues)))

const fetched = (disk: Disk, list: Tool.ToolList, of: ServerConfig.ServerConfig = config) =>
  run(disk, (cache, issues) =>
    Effect.map(
      Effect.flatMap(loaded(cache, of), (tools) => tools.fetch(source(list))),
      () => issues
    ))

const found = (disk: Disk, of: ServerConfig.ServerConfig = config) =>
  run(
    disk,
    (cache, issues) =>
      Effect.map(loaded(cache, of), (tools) => ({ manifest: tools.current(), fresh: tools.isFresh(), issues }))
  )

const namesOf = (manifest: ToolCache.Manifest | undefined) => manifest?.tools.map(({ name }) => name)

describe("the snapshot of a run", () => {
  it.scoped("is not written of tools that tell a secret of the connection", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const secret = "canary-in-a-description"
      const known = (yield* Redaction.Redaction).unsafeKnow(Redacted.make(secret))
      yield* Effect.addFinalizer(() => Effect.sync(known))
      // also where it stands in what has the format of a secret anyway
      const told = { name: "a", description: `Uses api_token=${secret}.` }
      const issues = yield* fetched(disk, listOf([told]))
      assert.deepStrictEqual(issues, [
        "s: the tools are not stored for the next run: a secret of the connection is in their definitions"
      ])
      assert.isFalse(Array.from(disk.values.values()).some((text) => text.includes(secret)))
    }))

  it.effect("is what the next run knows at first, as a snapshot, and never as fresh", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* fetched(disk, listOf([{ name: "a", title: "A", description: "d" }])), [])
      const { fresh, issues, manifest } = yield* found(disk)
      assert.deepStrictEqual(issues, [])
      assert.isFalse(fresh)
      assert.deepInclude(manifest, { source: "snapshot", fetchedAt: 60_000, generation: 0, rejected: [] })
      assert.deepInclude(manifest!.tools[0], { name: "a", title: "A", description: "d" })
    }))

  it.effect("has no annotations, which are not written, and not read if somebody has written them", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const annotations = { title: "safe", readOnlyHint: true, destructiveHint: false }
      const list = listOf([{ name: "a", title: "A", annotations }])
      yield* fetched(disk, list)
      assert.notInclude(disk.text!, "readOnlyHint")
      disk.text = Snapshot.encode({
        fingerprint: Fingerprint.of(config),
        era: "session",
        fetchedAt: 0,
        tools: JSON.stringify([{ name: "a", title: "A", annotations }])
      })
      const { issues, manifest } = yield* found(disk)
      assert.deepStrictEqual(issues, [])
      assert.deepStrictEqual(manifest!.tools[0]!.annotations, {})
      assert.notInclude(JSON.stringify(manifest!.tools), "Hint")
      assert.strictEqual(manifest!.tools[0]!.title, "A")
    }))

  it.effect("keeps all other fields as they came, and those named like Object's own harm nobody", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const item = JSON.parse(
        `{"name":"a","inputSchema":{"type":"object"},"__proto__":{"x":1},"constructor":2,"_meta":3}`
      )
      yield* fetched(disk, listOf([item]))
      const { manifest } = yield* found(disk)
      assert.strictEqual(JSON.stringify(manifest!.tools[0]!.raw), JSON.stringify(item))
      assert.isUndefined(Reflect.get({}, "x"))
    }))

  it.effect("is written in the background", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      disk.before = (operation) => operation === "set" ? Effect.never : Effect.void
      const { cache } = yield* start(disk)
      const tools = yield* loaded(cache, config)
      yield* tools.fetch(source(named("a")))
      assert.deepStrictEqual(namesOf(tools.current()), ["a"])
      yield* TestClock.adjust("20 seconds")
    }).pipe(Effect.scoped))

  it.effect("is written again only when it would say something else, or after a day", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const writes = () => disk.log.filter((operation) => operation === "set").length
      yield* run(disk, (cache) =>
        Effect.gen(function*() {
          const tools = yield* loaded(cache, config)
          const give = (...items: ReadonlyArray<unknown>) => Effect.zipRight(tools.fetch(source(listOf(items))), settle)
          yield* give({ name: "a" }, { name: "b" })
          yield* give({ name: "b" }, { name: "a" })
          yield* give({ name: "b", annotations: { readOnlyHint: true } }, { name: "a" })
          assert.strictEqual(writes(), 1)
          yield* give({ name: "a" })
          assert.strictEqual(writes(), 2)
        }))
      yield* TestClock.adjust("23 hours")
      yield* fetched(disk, named("a"))
      assert.strictEqual(writes(), 2)
      yield* TestClock.adjust("1 hours")
      yield* fetched(disk, named("a"))
      assert.strictEqual(writes(), 3)
    }))

  it.effect("is not used when it is older than 30 days, or from the future, and is removed", () =>
    Effect.gen(function*() {
      for (const shift of [Duration.toMillis("30 days") + 1, -Duration.toMillis("31 days")]) {
        const disk = new Disk()
        yield* TestClock.setTime(Duration.toMillis("100 days"))
        yield* fetched(disk, named("a"))
        yield* TestClock.setTime(Duration.toMillis("100 days") + shift)
        const { issues, manifest } = yield* found(disk)
        assert.isUndefined(manifest)
        assert.deepStrictEqual(issues, [])
        assert.isUndefined(disk.text)
      }
    }))

  it.effect("is that of the newest list when lists come faster than they can be written", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const gate = yield* Deferred.make<void>()
      disk.before = (operation) => operation === "set" ? Deferred.await(gate) : Effect.void
      yield* run(disk, (cache) =>
        Effect.gen(function*() {
          const tools = yield* loaded(cache, config)
          for (const name of ["a", "b", "c"]) {
            yield* tools.fetch(source(named(name)))
            yield* settle
          }
          yield* Deferred.succeed(gate, undefined)
        }))
      assert.deepStrictEqual(disk.log, ["get", "set", "set"])
      assert.deepStrictEqual(namesOf((yield* found(disk)).manifest), ["c"])
    }))

  it.effect("of another server is not seen, even one with other credentials only", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const as = (token: string) => Configs.http({ name: "h", url: "https://x.example", headers: { token } })
      yield* fetched(disk, named("a"), as("1"))
      assert.isUndefined((yield* found(disk, as("2"))).manifest)
      assert.deepStrictEqual(namesOf((yield* found(disk, as("1"))).manifest), ["a"])
      assert.notInclude(Array.from(disk.values.entries()).join(), "token")
    }))
})

describe("what a server calls private", () => {
  const url = "https://x.example/mcp"
  const secret = listOf([{ name: "a" }], { cacheScope: "private" })
  const cases: ReadonlyArray<readonly [what: string, config: ServerConfig.ServerConfig, kept: boolean]> = [
    ["the configuration holds the credentials", Configs.http({ name: "h", url, headers: { token: "1" } }), true],
    ["a process is given its whole environment by the configuration", config, true],
    ["nothing says who asks", Configs.http({ name: "h", url }), false],
    [
      "a variable holds the token",
      Configs.http({ name: "h", url, headers: { a: "b" }, bearerTokenEnvVar: "T" }),
      false
    ],
    [
      "a program gives the headers",
      Configs.http({ name: "h", url, headers: { a: "b" }, headersCommand: ["p"] }),
      false
    ],
    ["a process inherits variables", Configs.stdio({ name: "s", command: "c", inheritEnv: ["TOKEN"] }), false]
  ]
  for (const [what, of, kept] of cases) {
    it.effect(`is ${kept ? "kept" : "not kept"} between runs when ${what}`, () =>
      Effect.gen(function*() {
        const disk = new Disk()
        yield* fetched(disk, named("public"), of)
        yield* fetched(disk, secret, of)
        assert.deepStrictEqual(namesOf((yield* found(disk, of)).manifest), kept ? ["a"] : undefined)
      }))
  }
})

const snapshotOf = (over: Partial<Snapshot.Snapshot<string>> = {}): string =>
  Snapshot.encode({
    fingerprint: Fingerprint.of(config),
    era: "session",
    fetchedAt: 0,
    tools: JSON.stringify([{ name: "a" }]),
    ...over
  })

describe("a snapshot that is no good", () => {
  const cases: ReadonlyArray<readonly [what: string, text: string]> = [
    ["empty", ""],
    ["torn", snapshotOf().slice(0, -10)],
    ["no object", "[]"],
    ["of another version", snapshotOf().replace("\"version\":1", "\"version\":2")],
    ["without a checksum", snapshotOf().replace("checksum", "checkers")],
    ["changed", snapshotOf().replace("\\\"a\\\"", "\\\"b\\\"")],
    ["of another time than it was", snapshotOf().replace("\"fetchedAt\":0", "\"fetchedAt\":1")],
    ["of another server", snapshotOf({ fingerprint: "0".repeat(64) })],
    ["of no list", snapshotOf({ tools: "{}" })],
    ["of no JSON", snapshotOf({ tools: "[" })],
    ["too large", snapshotOf({ tools: `[{"name":"a","description":"${"x".repeat(10_000)}"}]` })]
  ]
  for (const [what, text] of cases) {
    it.effect(`because it is ${what} costs an event, is removed, and the tools are fetched as ever`, () =>
      Effect.gen(function*() {
        const disk = new Disk()
        disk.text = text
        const use = (cache: ToolCache.ToolCache["Type"], issues: ReadonlyArray<string>) =>
          Effect.gen(function*() {
            const tools = yield* loaded(cache, config)
            assert.isUndefined(tools.current())
            yield* settle
            assert.isUndefined(disk.text)
            assert.strictEqual(issues.length, 1)
            assert.match(issues[0]!, /^s: the snapshot of the tools is not used: /)
            yield* tools.fetch(source(named("b")))
          })
        yield* run(disk, use, { maxSnapshotBytes: 4096 })
        assert.deepStrictEqual(namesOf((yield* found(disk)).manifest), ["b"])
      }))
  }

  it("is never taken for another one, whatever character of it is replaced", () => {
    const text = snapshotOf()
    const options = {
      fingerprint: Fingerprint.of(config),
      maxLength: 1000,
      maxTools: 10,
      maxSchemaBytes: 1000,
      paramHeaders: () => false
    }
    const right = JSON.stringify(Snapshot.decode(text, options))
    assert.isTrue(Either.isRight(Snapshot.decode(text, options)))
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(text.length - 1), FastCheck.string({ maxLength: 2 }), (at, put) => {
        const decoded = Snapshot.decode(text.slice(0, at) + put + text.slice(at + 1), options)
        if (Either.isRight(decoded)) assert.strictEqual(JSON.stringify(decoded), right)
      }),
      { numRuns: runs(3000) }
    )
  })

  it.effect("because of some of its tools costs only those, and their number is limited", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      disk.text = snapshotOf({ tools: JSON.stringify([{ name: "a" }, 7, { name: "" }, { name: "b" }, { name: "a" }]) })
      const some = yield* found(disk)
      assert.deepStrictEqual(namesOf(some.manifest), ["a", "b"])
      assert.strictEqual(some.manifest!.rejected.length, 3)
      const { cache, issues } = yield* start(disk, {}, Limits.layer({ maxItems: 4 }))
      assert.isUndefined((yield* loaded(cache, config)).current())
      assert.strictEqual(issues.length, 1)
    }).pipe(Effect.scoped))
})

describe("what cannot be kept", () => {
  it.effect("because it is too large is told once, and takes the old snapshot with it", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      yield* fetched(disk, named("a"))
      const large = source(listOf([{ name: "a", description: "x".repeat(5000) }]))
      const use = (cache: ToolCache.ToolCache["Type"], issues: ReadonlyArray<string>) =>
        Effect.gen(function*() {
          const tools = yield* loaded(cache, config)
          yield* tools.fetch(large)
          yield* tools.fetch(large)
          assert.deepStrictEqual(issues, [
            "s: the tools are not stored for the next run: their definitions have more than 4096 bytes"
          ])
        })
      yield* run(disk, use, { maxSnapshotBytes: 4096 })
      assert.isUndefined(disk.text)
    }))

  it.effect("is counted in bytes, as much as it may be is kept and read again", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const list = listOf([{ name: "a", description: "\\\"\u0001€".repeat(300) }])
      const size = Buffer.byteLength(JSON.stringify(list.tools.map(({ raw }) => raw)))
      const give = (maxSnapshotBytes: number) =>
        run(disk, (cache, issues) =>
          Effect.gen(function*() {
            const tools = yield* loaded(cache, config)
            assert.deepStrictEqual(namesOf(tools.current()), undefined)
            yield* tools.fetch(source(list))
            return issues.length
          }), { maxSnapshotBytes })
      assert.strictEqual(yield* give(size - 1), 1)
      assert.strictEqual(yield* give(size), 0)
      yield* run(disk, (cache, issues) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(namesOf((yield* loaded(cache, config)).current()), ["a"])
          assert.deepStrictEqual(issues, [])
        }), { maxSnapshotBytes: size })
    }))

  it.effect("because it is nested too deep is told, and takes the old snapshot with it", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      yield* fetched(disk, named("a"))
      const deep = JSON.parse(`{"name":"a","_meta":${"[".repeat(50_000)}${"]".repeat(50_000)}}`)
      const issues = yield* fetched(disk, listOf([deep]))
      assert.deepStrictEqual(issues, ["s: the tools are not stored for the next run: a definition is nested too deep"])
      assert.isUndefined(disk.text)
    }))
})

describe("a store that", () => {
  it.effect("cannot be read costs an event without control characters, and is not written off", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      disk.before = (operation) => operation === "get" ? Effect.fail(broken) : Effect.void
      const issues = yield* fetched(disk, named("a"))
      assert.strictEqual(issues.length, 1)
      assert.match(issues[0]!, /^s: the snapshot of the tools cannot be read: PermissionDenied/)
      assert.notMatch(issues[0]!, /\u001b/)
      disk.before = () => Effect.void
      assert.deepStrictEqual(namesOf((yield* found(disk)).manifest), ["a"])
    }))

  it.effect("cannot be written costs an event each time, and is tried again with the next list", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      disk.before = (operation) => operation === "set" ? Effect.fail(broken) : Effect.void
      yield* run(disk, (cache, issues) =>
        Effect.gen(function*() {
          const tools = yield* loaded(cache, config)
          for (const times of [1, 2]) {
            yield* tools.fetch(source(named("a")))
            yield* settle
            assert.strictEqual(issues.length, times)
          }
          disk.before = () => Effect.void
          yield* tools.fetch(source(named("a")))
        }))
      assert.deepStrictEqual(namesOf((yield* found(disk)).manifest), ["a"])
    }))

  it.effect("breaks down or gives up by itself costs an event, and the next write is made as ever", () =>
    Effect.gen(function*() {
      for (const end of [Effect.die(new TypeError("a bug")), Effect.interrupt]) {
        const disk = new Disk()
        disk.before = () => end
        const issues = yield* run(disk, (cache, issues) =>
          Effect.gen(function*() {
            const tools = yield* loaded(cache, config)
            yield* tools.fetch(source(named("a")))
            yield* settle
            disk.before = () => Effect.void
            yield* tools.fetch(source(named("b")))
            return issues
          }))
        assert.strictEqual(issues.length, 2)
        assert.deepStrictEqual(namesOf((yield* found(disk)).manifest), ["b"])
      }
    }))

  it.effect("does not answer holds up a server for five seconds, and is asked three times before that is reported", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      disk.before = () => Effect.uninterruptible(Effect.never)
      const { cache, issues } = yield* start(disk)
      const tools = yield* Effect.fork(loaded(cache))
      yield* TestClock.adjust("5 seconds")
      assert.isUndefined((yield* Fiber.join(tools)).current())
      assert.deepStrictEqual(issues, [])
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(issues, ["s: the snapshot of the tools cannot be read: the store did not respond"])
      assert.deepStrictEqual(disk.log, ["get", "get", "get"])
    }).pipe(Effect.scoped))

  const configs = Array.from({ length: 65 }, (_, at) => Configs.stdio({ name: `s${at}`, command: `c${at}` }))
  const slow: ReadonlyArray<readonly [string, () => Disk["before"]]> = [
    ["handles one operation at a time", () => {
      const turn = Effect.unsafeMakeSemaphore(1)
      return () => Effect.uninterruptible(turn.withPermits(1)(Effect.sleep("150 millis")))
    }],
    ["answers nothing for seven seconds", () => {
      const awake = Deferred.unsafeMake<void>(FiberId.none)
      let isFirst = true
      return () =>
        Effect.uninterruptible(Effect.suspend(() => {
          if (!isFirst) return Deferred.await(awake)
          isFirst = false
          return Effect.zipRight(Effect.sleep("7 seconds"), Deferred.succeed(awake, undefined))
        }))
    }]
  ]
  for (const [what, before] of slow) {
    it.effect(`${what} loses no snapshot of 65 servers that start at once`, () =>
      Effect.gen(function*() {
        const disk = new Disk()
        const used = (use: (cache: ToolCache.ToolCache["Type"]) => Effect.Effect<unknown, unknown>) => {
          disk.before = before()
          return run(disk, (cache, issues) =>
            use(cache).pipe(
              Effect.zipRight(TestClock.adjust("1 minute")),
              Effect.map(() => ({ issues, names: configs.map((each) => namesOf(cache.open(each).current())) }))
            ))
        }
        const names = configs.map(({ name }) => [name])
        const first = yield* used((cache) =>
          Effect.forEach(configs, (each) => cache.open(each).fetch(source(named(each.name))), {
            concurrency: "unbounded"
          })
        )
        assert.deepStrictEqual(first, { issues: [], names })
        assert.strictEqual(disk.values.size, 65)
        const next = yield* used((cache) => Effect.sync(() => configs.map((each) => cache.open(each))))
        assert.deepStrictEqual(next, { issues: [], names })
      }))
  }

  it.effect("does not answer holds up the end for two seconds", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const scope = yield* Scope.make()
      const { cache } = yield* Scope.extend(start(disk), scope)
      const tools = yield* loaded(cache, config)
      disk.before = () => Effect.uninterruptible(Effect.never)
      yield* tools.fetch(source(named("a")))
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(closing)
      yield* tools.fetch(source(named("b"))).pipe(Effect.exit)
      yield* cache.forget(config)
    }))
})

describe("loading", () => {
  it.effect("is done once for all who ask at the same time, even if the first of them is interrupted", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      yield* fetched(disk, named("a"))
      disk.log.length = 0
      const gate = yield* Deferred.make<void>()
      disk.before = () => Deferred.await(gate)
      const { cache } = yield* start(disk)
      const first = yield* Effect.fork(loaded(cache, config))
      yield* settle
      const second = yield* Effect.fork(loaded(cache, config))
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(namesOf((yield* Fiber.join(second)).current()), ["a"])
      assert.deepStrictEqual(disk.log, ["get"])
    }).pipe(Effect.scoped))

  it.effect("of 64 servers is one wait, not 64", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const configs = Array.from({ length: 64 }, (_, at) => Configs.stdio({ name: `s${at}`, command: `c${at}` }))
      yield* run(disk, (cache) =>
        Effect.forEach(configs, (each) =>
          Effect.flatMap(loaded(cache, each), (tools) =>
            tools.fetch(source(named(each.name))))))
      assert.strictEqual(disk.values.size, 64)
      let waiting = 0
      const all = yield* Deferred.make<void>()
      disk.before = () =>
        ++waiting === 64 ? Deferred.succeed(all, undefined) : Deferred.await(all)
      const { cache } = yield* start(disk)
      const tools = yield* Effect.forEach(configs, (each) => loaded(cache, each), { concurrency: "unbounded" })
      assert.deepStrictEqual(tools.map((each) => namesOf(each.current())), configs.map(({ name }) => [name]))
    }).pipe(Effect.scoped))

  it.effect("has no part in the start of the layer", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      disk.before = () => Effect.never
      yield* start(disk)
      assert.deepStrictEqual(disk.log, [])
    }).pipe(Effect.scoped))
})

describe("forgetting", () => {
  it.effect("removes the snapshot, and what was handed out goes on but is kept no more", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      yield* run(disk, (cache) =>
        Effect.gen(function*() {
          const tools = yield* loaded(cache, config)
          yield* tools.fetch(source(named("a")))
          yield* settle
          assert.isDefined(disk.text)
          yield* cache.forget(config)
          assert.isUndefined(disk.text)
          yield* tools.fetch(source(named("b")))
          assert.deepStrictEqual(namesOf(tools.current()), ["b"])
        }))
      assert.isUndefined(disk.text)
    }))

  it.effect("leaves the snapshot alone while the same server is in use under another name", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const renamed = Configs.stdio({ name: "t", command: "node" })
      yield* fetched(disk, named("a"))
      yield* run(disk, (cache) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(namesOf((yield* loaded(cache, renamed)).current()), ["a"])
          yield* loaded(cache, config)
          yield* cache.forget(config)
          assert.isDefined(disk.text)
          yield* cache.forget(renamed)
          assert.isUndefined(disk.text)
        }))
    }))

  it.effect("removes the snapshot of a server that nobody asked about in this run", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      yield* fetched(disk, named("a"))
      yield* run(disk, (cache) => cache.forget(config))
      assert.isUndefined(disk.text)
    }))

  it.effect("lets nobody see the snapshot again, even if the store is slow to remove it", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      yield* fetched(disk, named("a"))
      const gate = yield* Deferred.make<void>()
      disk.before = (operation) => operation === "remove" ? Deferred.await(gate) : Effect.void
      const { cache } = yield* start(disk)
      const forgetting = yield* Effect.fork(cache.forget(config))
      yield* settle
      yield* Fiber.interrupt(forgetting)
      const tools = yield* Effect.fork(loaded(cache, config))
      yield* settle
      yield* Deferred.succeed(gate, undefined)
      assert.isUndefined((yield* Fiber.join(tools)).current())
    }).pipe(Effect.scoped))
})

/** Steps of an application that fetches, forgets and ends, over a store that fails now and then. */
describe("any sequence of runs", () => {
  const step = FastCheck.oneof(
    FastCheck.record({ _tag: FastCheck.constant("fetch" as const), tools: FastCheck.integer({ min: 1, max: 3 }) }),
    FastCheck.record({ _tag: FastCheck.constantFrom("forget" as const, "restart" as const, "fail" as const) })
  )

  it("shows what was last fetched in a run before, or nothing, and never what was forgotten", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(FastCheck.array(step, { maxLength: 20 }), (steps) => Effect.runPromise(runs(steps))),
      { numRuns: 50 }
    ))

  const runs = Effect.fnUntraced(
    function*(steps: ReadonlyArray<typeof step extends FastCheck.Arbitrary<infer S> ? S : never>) {
      const disk = new Disk()
      let scope = yield* Scope.make()
      let { cache } = yield* Scope.extend(start(disk), scope)
      /** What may be seen after a restart. */
      let possible: ReadonlySet<string> = new Set(["none"])
      let failing = false
      disk.before = () => failing ? Effect.fail(broken) : Effect.void
      for (const each of steps) {
        switch (each._tag) {
          case "fetch": {
            const tools = yield* loaded(cache, config)
            yield* tools.fetch(source(named(`t${each.tools}`)))
            yield* settle
            possible = failing ? new Set([...possible, `t${each.tools}`]) : new Set([`t${each.tools}`])
            break
          }
          case "forget":
            yield* cache.forget(config)
            possible = failing ? new Set([...possible, "none"]) : new Set(["none"])
            break
          case "fail":
            failing = !failing
            break
          default: {
            yield* Scope.close(scope, Exit.void)
            scope = yield* Scope.make()
            cache = (yield* Scope.extend(start(disk), scope)).cache
            const seen = namesOf((yield* loaded(cache, config)).current())?.[0] ?? "none"
            if (!failing) assert.include(Array.from(possible), seen)
            else assert.strictEqual(seen, "none")
          }
        }
      }
      yield* Scope.close(scope, Exit.void)
    }
  )
})
