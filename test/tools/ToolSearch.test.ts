import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck, Fiber, Option } from "effect"
import type * as ToolIndex from "../../src/tools/ToolIndex.ts"
import * as ToolSearch from "../../src/tools/ToolSearch.ts"
import { entry, type Labelled, queries, tools, unseen, varied } from "../fixtures/search/index.ts"
import * as Texts from "../support/texts.ts"

const over = (entries: ReadonlyArray<ToolIndex.Entry>) =>
  Effect.tap(ToolSearch.make(), (search) => search.index(entries))

const identities = (hits: ReadonlyArray<ToolSearch.Hit>) => hits.map(({ server, tool }) => `${server}/${tool}`)

const found = (search: ToolSearch.ToolSearch["Type"], query: string, options?: ToolSearch.SearchOptions) =>
  Effect.map(search.search(query, options), identities)

const few = [
  entry("calendar", "createEvent", "Puts an appointment into a calendar", {
    type: "object",
    properties: { attendees: { description: "Mail addresses of the guests" } }
  }),
  entry("calendar", "delete_event", "Takes an appointment out of a calendar"),
  entry("weather", "forecast", "Tells how warm it will be"),
  entry("files", "read_file", "The contents of a file")
]

/** Whether a query that names one server names another one too. */
const isNamed = (query: string, server = "") =>
  server.split("-").every((word) => query.toLowerCase().split(" ").includes(word))

/** The queries for which none of the tools is among the first five. */
const missed = (labelled: ReadonlyArray<Labelled>) =>
  Effect.flatMap(
    over(tools),
    (search) =>
      Effect.filter(labelled, ([query, ...wanted]) =>
        Effect.map(found(search, query, { limit: 5 }), (hits) =>
          !wanted.some((tool) => hits.includes(tool))))
  )

describe("ToolSearch over the tools of published servers", () => {
  const known = new Set(tools.map(({ server, tool }) => `${server}/${tool.name}`))

  it("is tried with labelled queries for tools that exist", () => {
    assert.isAbove(known.size, 380)
    assert.deepStrictEqual([queries, unseen, varied].map(({ length }) => length), [100, 30, 60])
    for (const [query, ...wanted] of [...queries, ...unseen, ...varied]) {
      assert.isAbove(wanted.length, 0)
      for (const tool of wanted) assert.isTrue(known.has(tool), `${tool} of "${query}"`)
    }
  })

  // the hand-made engine of 0.1 missed 7 of `queries`, 1 of `unseen` and 11 of `varied`
  for (
    const [name, labelled, most] of [["queries", queries, 7], ["unseen", unseen, 1], ["varied", varied, 11]] as const
  ) {
    it.effect(`has the right tool among the first five for the labelled queries of "${name}"`, () =>
      Effect.gen(function*() {
        const misses = yield* missed(labelled)
        assert.isAtMost(misses.length, most, misses.map(([query]) => query).join("\n"))
      }))
  }

  it.effect("has a tool of a server first that the query names", () =>
    Effect.gen(function*() {
      const search = yield* over(tools)
      const asked = [...queries, ...unseen, ...varied].flatMap(([query, tool]) => {
        const server = tool!.split("/")[0]!
        return [`${server} ${query}`, `${query} in ${server}`].map((query) => ({ query, server }))
      })
      const misses = yield* Effect.filter(asked, ({ query, server }) =>
        Effect.map(search.search(query), ([best]) =>
          best?.server !== server && !isNamed(query, best?.server)))
      assert.deepStrictEqual(misses, [])
    }))

  it.effect("finds every tool first by its own words, or beside one of the same words", () =>
    Effect.gen(function*() {
      const search = yield* over(tools)
      const misses = yield* Effect.filter(tools, ({ name, server, tool }) =>
        Effect.map(search.search(`${server} ${tool.name.replaceAll(/[_-]/g, " ")}`, { limit: 5 }), (hits) =>
          !hits.some((hit) =>
            hit.name === name
          )))
      assert.isAtMost(misses.length, tools.length * 0.03, misses.map(({ name }) => name).join("\n"))
    }))
})

describe("ToolSearch", () => {
  it.effect("finds by name in any case, by description, by parameter and by server", () =>
    Effect.gen(function*() {
      const search = yield* over(few)
      assert.strictEqual((yield* found(search, "CREATE event"))[0], "calendar/createEvent")
      assert.strictEqual((yield* found(search, "warm"))[0], "weather/forecast")
      assert.strictEqual((yield* found(search, "attendees"))[0], "calendar/createEvent")
      assert.strictEqual((yield* found(search, "guest"))[0], "calendar/createEvent")
      assert.sameMembers(yield* found(search, "calendar"), ["calendar/createEvent", "calendar/delete_event"])
    }))

  it.effect("finds what is begun, misspelled, run together or said in another word", () =>
    Effect.gen(function*() {
      const search = yield* over([
        ...few,
        entry("web", "screenshot"),
        entry("web", "open_page", "Opens a page of the web")
      ])
      for (
        const [query, wanted] of [
          ["forec", "weather/forecast"],
          ["forceast", "weather/forecast"],
          ["foreccast", "weather/forecast"],
          ["calendr appointmnet delete", "calendar/delete_event"],
          ["readfile", "files/read_file"],
          ["screen shot", "web/screenshot"],
          ["webpage", "web/open_page"],
          ["remove a meeting", "calendar/delete_event"],
          ["deleting events", "calendar/delete_event"]
        ] as const
      ) assert.strictEqual((yield* found(search, query))[0], wanted, query)
    }))

  it.effect("finds a word in its other forms, and not in words that only look like it", () =>
    Effect.gen(function*() {
      const forms = [
        "branch branches",
        "repository repositories",
        "create creates created creating creator creation",
        "run running runs",
        "document documents documented",
        "deploy deployment deploying",
        "relation relations relationship relationships"
      ].map((row) => row.split(" "))
      const search = yield* over(forms.map((row, at) => entry("a", `t${at}`, row[0])))
      for (const [at, row] of forms.entries()) {
        for (const form of row) assert.strictEqual((yield* found(search, form))[0], `a/t${at}`, form)
      }
      const others = [["string", "strong"], ["status", "state"], ["class", "clas"], ["this", "thin"], ["bus", "bed"]]
      for (const [word, other] of others) {
        const both = yield* over([entry("a", "one", word), entry("a", "two", other)])
        assert.strictEqual((yield* found(both, other!))[0], "a/two", other)
      }
    }))

  it.effect("finds in scripts without spaces and whatever the accents", () =>
    Effect.gen(function*() {
      const search = yield* over([
        entry("a", "one", "記事の画像を抽出して返します"),
        entry("a", "two", "天気予報を表示します"),
        entry("a", "three", "Réserve une chambre d'hôtel")
      ])
      assert.strictEqual((yield* found(search, "画像抽出"))[0], "a/one")
      assert.strictEqual((yield* found(search, "天気"))[0], "a/two")
      assert.strictEqual((yield* found(search, "reserve hotel"))[0], "a/three")
    }))

  it.effect("gives what callers need to show, best first, and as many as they want", () =>
    Effect.gen(function*() {
      const search = yield* over(few)
      const [best, ...others] = yield* search.search("calendar event", { limit: 1 })
      assert.deepStrictEqual(others, [])
      assert.isAbove(best!.score, 0)
      assert.strictEqual(best!.name, `mcp__calendar__${best!.tool}`)
      assert.include(best!.description, "calendar")
      const all = yield* search.search("calendar event appointment", { limit: 10 })
      assert.strictEqual(all.length, 2)
      assert.isAtLeast(all[0]!.score, all[1]!.score)
      assert.strictEqual((yield* search.search("calendar", { limit: -3 })).length, 1)
      const many = yield* over(Array.from({ length: 20 }, (_, at) => entry("a", `calendar_${at}`, "")))
      assert.strictEqual((yield* many.search("calendar")).length, 8)
      assert.strictEqual((yield* many.search("calendar", { limit: Number.NaN })).length, 8)
    }))

  it.effect("searches one server only", () =>
    Effect.gen(function*() {
      const search = yield* over([...few, entry("team", "create_event", "An appointment for all")])
      assert.deepStrictEqual(yield* found(search, "create event", { server: "team" }), ["team/create_event"])
      assert.deepStrictEqual(yield* found(search, "create event", { server: "nobody" }), [])
    }))

  it.effect("orders tools that are as good by their names, in whatever order they came", () =>
    Effect.gen(function*() {
      const same = ["b", "a", "d", "c"].map((server) => entry(server, "ping", "Says that it is there"))
      const first = yield* found(yield* over(same), "ping")
      assert.deepStrictEqual(first, ["a/ping", "b/ping", "c/ping", "d/ping"])
      assert.deepStrictEqual(yield* found(yield* over(same.toReversed()), "ping"), first)
    }))

  it.effect("finds nothing before there is anything, for nothing, and for what is nowhere", () =>
    Effect.gen(function*() {
      const search = yield* ToolSearch.make()
      assert.deepStrictEqual(yield* search.search("event"), [])
      yield* search.index([])
      assert.deepStrictEqual(yield* search.search("event"), [])
      yield* search.index(few)
      for (const query of ["", " ", "the of", "***", "\u0000", "xylophonist"]) {
        assert.deepStrictEqual(yield* search.search(query), [], JSON.stringify(query))
      }
    }))

  it.effect("keeps in step with tools that come, change and go", () =>
    Effect.gen(function*() {
      const search = yield* over(few)
      const [create, , forecast, read] = few
      const changed = entry("weather", "forecast", "Tells the height of the tide")
      yield* search.index([create!, changed, read!, entry("music", "play", "Plays a tune")])
      assert.deepStrictEqual(yield* found(search, "delete"), [])
      assert.deepStrictEqual(yield* found(search, "warm"), [])
      assert.strictEqual((yield* found(search, "tide"))[0], "weather/forecast")
      assert.strictEqual((yield* found(search, "tune"))[0], "music/play")
      yield* search.index([forecast!])
      assert.deepStrictEqual(yield* found(search, "warm"), ["weather/forecast"])
      assert.deepStrictEqual(yield* found(search, "tide"), [])
      yield* search.index([])
      assert.deepStrictEqual(yield* found(search, "warm"), [])
    }))

  it.effect("tells the name and the description that a tool has now, although nothing in them is new to the search", () =>
    Effect.gen(function*() {
      const search = yield* over([entry("a", "ping", "Says it is there")])
      const other = entry("a", "ping", "Says, it is there!")
      yield* search.index([{ ...other, name: "mcp_a_ping" }])
      const [hit] = yield* search.search("ping")
      assert.strictEqual(hit?.name, "mcp_a_ping")
      assert.strictEqual(hit?.description, "Says, it is there!")
    }))

  it.effect("finds the same after a thousand changes as if there had been none", () =>
    Effect.gen(function*() {
      const search = yield* over(few)
      for (let round = 0; round < 10; round++) {
        yield* search.index([
          ...few,
          ...Array.from({ length: 100 }, (_, at) => entry("other", `event_${at}`, `Event number ${round} of ${at}`))
        ])
      }
      yield* search.index(few)
      const fresh = yield* over(few)
      for (const query of ["create event", "appointment", "file", "evnt"]) {
        assert.deepStrictEqual(yield* found(search, query), yield* found(fresh, query), query)
      }
    }))

  it.effect("looks again at a tool only if its definition is another one", () =>
    Effect.gen(function*() {
      let reads = 0
      const watched = entry("a", "ping", "Says it is there")
      const tool = {
        ...watched.tool,
        get inputSchema() {
          reads += 1
          return { type: "object" }
        }
      }
      const search = yield* over([{ ...watched, tool }])
      assert.strictEqual(reads, 1)
      yield* search.index([{ ...watched, tool }, ...few])
      assert.strictEqual(reads, 1)
    }))

  it.live("lets others have their turn while it indexes, and is whole again when that was broken off", () =>
    Effect.gen(function*() {
      const many = Array.from(
        { length: 2_000 },
        (_, at) => entry(`server${at % 20}`, `tool_${at}`, "An ordinary tool that does this and that. ".repeat(5))
      )
      const search = yield* ToolSearch.make()
      let turns = 0
      const counting = setInterval(() => {
        turns += 1
      }, 0)
      const indexing = yield* Effect.fork(search.index(many))
      yield* Effect.async<void>((resume) => {
        setTimeout(() => resume(Effect.void), 1)
      })
      yield* Fiber.interrupt(indexing)
      yield* search.index(many)
      clearInterval(counting)
      assert.isAbove(turns, 2)
      assert.strictEqual((yield* found(search, "tool_1999"))[0], "server19/tool_1999")
      assert.strictEqual((yield* found(search, "tool_0"))[0], "server0/tool_0")
    }))
})

describe("ToolSearch among hostile servers", () => {
  const nested = (depth: number): { readonly type: string; readonly properties: { readonly deeper: object } } => ({
    type: "object",
    properties: { deeper: depth === 0 ? {} : nested(depth - 1) }
  })

  it.effect("looks at no more of a tool than is worth looking at", () =>
    Effect.gen(function*() {
      const words = (length: number, prefix: string) =>
        Array.from({ length }, (_, at) => `${prefix}${at.toString(36)}z`)
      const properties = Object.fromEntries(
        words(5_000, "param").map((name) => [name, { description: name.repeat(100) }])
      )
      const search = yield* over([
        entry("evil", "x".repeat(100_000), `${words(10_000, "word").join(" ")} zebra`, { type: "object", properties }),
        entry("evil", "deep", "deep", nested(200) as never),
        entry("evil", "odd", "odd", { type: "object", properties: ["a"], items: null, description: 7 }),
        ...few
      ])
      assert.strictEqual((yield* found(search, "create event"))[0], "calendar/createEvent")
      assert.deepStrictEqual(yield* found(search, "zebra"), [])
      assert.strictEqual((yield* found(search, "odd"))[0], "evil/odd")
    }))

  it.effect("reads only the names of tools beyond the first thousand of a server", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 1_002 }, (_, at) => entry("evil", `tool${at}`, at < 1_000 ? "early" : "zebra"))
      const search = yield* over([...many, ...few])
      assert.deepStrictEqual(yield* found(search, "zebra"), [])
      assert.strictEqual((yield* found(search, "tool1001"))[0], "evil/tool1001")
      assert.strictEqual((yield* found(search, "create event"))[0], "calendar/createEvent")
    }))

  it.effect("reads the rest of a tool when fewer tools of its server are left", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 1_002 }, (_, at) => entry("evil", `tool${at}`, at < 1_000 ? "early" : "zebra"))
      const search = yield* over(many)
      yield* search.index(many.slice(1))
      assert.deepStrictEqual(yield* found(search, "zebra"), ["evil/tool1000"])
      yield* search.index(many.slice(1_000))
      assert.sameMembers([...yield* found(search, "zebra")], ["evil/tool1000", "evil/tool1001"])
    }))

  it.effect("reads all of a changed tool that was read whole before, however many others there are", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 1_002 }, (_, at) => entry("evil", `tool${at}`, "early"))
      const search = yield* over(many)
      yield* search.index([entry("evil", "tool0", "zebra"), ...many.slice(1)])
      assert.deepStrictEqual(yield* found(search, "zebra"), ["evil/tool0"])
    }))

  it.effect("has names of JavaScript's own for ordinary words", () =>
    Effect.gen(function*() {
      const names = ["constructor", "__proto__", "toString", "hasOwnProperty"]
      const search = yield* over(
        names.map((name) => entry(name, name, name, { type: "object", properties: { [name]: {} } }))
      )
      for (const name of names) assert.include(yield* found(search, name), `${name}/${name}`)
      assert.isUndefined(Object.getOwnPropertyDescriptor(Object.prototype, "id"))
    }))

  it.effect("answers whatever is asked", () =>
    Effect.gen(function*() {
      const search = yield* over(tools)
      const queries = [
        "a".repeat(1_000_000),
        "create ".repeat(100_000),
        "\u{fdfa}".repeat(10_000),
        "e\u0301\u0302\u0303".repeat(10_000),
        Array.from({ length: 100 }, (_, at) => `qx${at}zzzz`).join(" "),
        "\ud800 \udfff \u{e0041}\u200b"
      ]
      for (const query of queries) assert.isAtMost((yield* search.search(query)).length, 8)
      assert.isAbove((yield* search.search(queries[1]!)).length, 0)
    }))

  it.effect("finds for any text what it would find for it again, and nothing that is not there", () =>
    Effect.gen(function*() {
      const search = yield* over(few)
      const known = few.map(({ server, tool }) => `${server}/${tool.name}`)
      const texts = FastCheck.oneof(
        FastCheck.string({ unit: Texts.unit, maxLength: 500 }),
        FastCheck.string({ unit: FastCheck.constantFrom("e", "v", "n", "t", " ", "E", "_", "1"), maxLength: 40 })
      )
      for (const query of FastCheck.sample(texts, 1_000)) {
        const hits = yield* found(search, query)
        assert.deepStrictEqual(yield* found(search, query), hits)
        for (const hit of hits) assert.include(known, hit)
      }
    }))
})

describe("ToolSearch as a layer", () => {
  it.effect("is one index for all who use it", () =>
    Effect.gen(function*() {
      const search = yield* ToolSearch.ToolSearch
      yield* search.index(few)
      const again = yield* ToolSearch.ToolSearch
      assert.isTrue(Option.isSome(Option.fromNullable((yield* again.search("forecast"))[0])))
    }).pipe(Effect.provide(ToolSearch.layer())))
})
