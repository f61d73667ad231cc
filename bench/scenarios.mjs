/**
 * What is measured, on which server, by whom, how often, and what we aim at.
 *
 * A target has a `first` and a `goal`: a ratio to the raw SDK 1.x client of the same round, or, with `absolute`, a figure
 * in the metric's unit. They are those of the performance page: for a bare Session, and for the whole runtime.
 */
const stdio = (fixture, ...args) => ({ kind: "stdio", fixture, args })
const http = (fixture, ...args) => ({ kind: "http", fixture, args })

const all = ["sdk1", "sdk2", "session", "runtime", "session-promise", "session-sdk1"]
const clients = ["sdk1", "sdk2", "session", "runtime", "session-sdk1"]
const three = ["sdk1", "sdk2", "session", "runtime"]
const whole = ["runtime"]

const less = (key, unit, session, runtime = session) => ({ key, unit, better: "less", targets: { session, runtime } })
const more = (key, unit, session, runtime = session) => ({ ...less(key, unit, session, runtime), better: "more" })
/** For what is no ratio. */
const absolute = (metric) => ({ ...metric, absolute: true })

const echo = (name, title, server, contestants, counts, metrics) => ({
  name,
  title,
  work: "sequence",
  server,
  contestants,
  rounds: contestants === all ? 3 : 2,
  params: { count: counts[0], warmup: counts[1] },
  quick: { count: Math.ceil(counts[0] / 5), warmup: Math.ceil(counts[1] / 2) },
  metrics
})

const flight = (name, title, server, contestants, counts, metrics) => ({
  ...echo(name, title, server, contestants, counts, metrics),
  work: "flight"
})

const added = (name, title, servers) => ({
  name,
  title,
  work: "added",
  server: { kind: "inner" },
  contestants: whole,
  rounds: 3,
  params: { count: 100_000, servers },
  quick: { count: 20_000 },
  metrics: [
    absolute(less("session", "µs")),
    absolute(less("runtime", "µs")),
    absolute(less("added", "µs", { first: 20, goal: 6 }))
  ]
})

const big = (name, title, server, megabytes, rounds, params, metrics) => ({
  name,
  title,
  work: "big",
  server,
  contestants: three,
  rounds,
  slow: megabytes > 10,
  params: { bytes: megabytes * 1_000_000, ...params },
  metrics
})

const close = (name, title, server, rounds, targets) => ({
  name,
  title,
  work: "close",
  server,
  contestants: clients,
  rounds,
  // These cells sleep most of the time, so those of one round run side by side.
  parallel: rounds === 1,
  slow: rounds === 1,
  params: { servers: 8 },
  metrics: [absolute(less("took", "ms", targets)), absolute(less("alive", "", { first: 0, goal: 0 }))]
})

export const scenarios = [
  echo("stdio-echo", "stdio echo", stdio("stdioThin"), all, [12_000, 3000], [
    less("p50", "µs", { first: 1.1, goal: 0.9 }, { first: 1.3, goal: 1 }),
    less("cpu", "µs")
  ]),
  echo("stdio-echo-sdk", "stdio echo, SDK server", stdio("stdioSdk"), three, [8000, 3000], [
    less("p50", "µs", { first: 1.1, goal: 0.9 }, { first: 1.3, goal: 1 }),
    less("cpu", "µs")
  ]),
  echo("http-echo", "HTTP echo", http("httpThin"), all, [2000, 500], [
    less("p50", "µs", { first: 0.6, goal: 0.5 }),
    less("cpu", "µs")
  ]),
  echo("http-echo-sdk", "HTTP echo, SDK server", http("httpSdk"), three, [1000, 300], [
    less("p50", "µs", { first: 0.6, goal: 0.5 }),
    less("cpu", "µs")
  ]),
  flight("stdio-64", "stdio, 64 in flight", stdio("stdioThin"), all, [40_000, 10_000], [
    more("rate", "/s", { first: 0.7, goal: 1.1 }),
    less("cpu", "µs", { first: 1.3 })
  ]),
  flight("stdio-64-sdk", "stdio, 64 in flight, SDK server", stdio("stdioSdk"), three, [15_000, 8000], [
    more("rate", "/s", { first: 0.7, goal: 1.1 }),
    less("cpu", "µs", { first: 1.3 })
  ]),
  flight("http-64", "HTTP, 64 in flight", http("httpThin"), all, [3000, 700], [
    more("rate", "/s", { first: 2, goal: 2.5 }),
    less("cpu", "µs", { first: 0.6 })
  ]),
  flight("http-64-sdk", "HTTP, 64 in flight, SDK server", http("httpSdk"), three, [1500, 500], [
    more("rate", "/s", { first: 2, goal: 2.5 }),
    less("cpu", "µs", { first: 0.6 })
  ]),
  added("added", "a call without I/O, 1 server", 1),
  added("added-64", "a call without I/O, 64 servers", 64),
  big("stdio-1mb", "1 MB over stdio", stdio("stdioThin"), 1, 2, { count: 20, warmup: 3 }, [less("took", "ms")]),
  big("stdio-10mb", "10 MB over stdio", stdio("stdioThin"), 10, 3, { count: 2, warmup: 1 }, [
    less("took", "ms", { first: 0.2, goal: 0.13 })
  ]),
  big("stdio-50mb", "50 MB over stdio", stdio("stdioThin"), 50, 1, { count: 1, warmup: 0 }, [
    less("took", "ms", { first: 0.05, goal: 0.03 })
  ]),
  big("http-10mb", "10 MB over HTTP", http("httpThin"), 10, 2, { count: 5, warmup: 1 }, [less("took", "ms")]),
  {
    name: "stdio-connect",
    title: "connect and close, stdio",
    work: "connect",
    server: stdio("stdioThin"),
    contestants: clients,
    rounds: 3,
    params: { count: 8 },
    quick: { count: 4 },
    metrics: [less("p50", "ms"), less("cold", "ms")]
  },
  {
    name: "http-connect",
    title: "connect and close, HTTP",
    work: "connect",
    server: http("httpThin"),
    contestants: clients,
    rounds: 3,
    params: { count: 40 },
    quick: { count: 20 },
    metrics: [less("p50", "ms"), less("cold", "ms")]
  },
  {
    name: "connect-8",
    title: "connect 8 SDK servers at once, stdio",
    work: "connectAll",
    server: stdio("stdioSdk"),
    contestants: three,
    rounds: 3,
    params: { servers: 8 },
    metrics: [less("took", "ms", { first: 1.05, goal: 1 })]
  },
  {
    name: "connect-32",
    title: "connect 32 SDK servers at once, stdio",
    work: "connectAll",
    server: stdio("stdioSdk"),
    contestants: three,
    rounds: 2,
    slow: true,
    params: { servers: 32 },
    metrics: [less("took", "ms", { first: 1.05, goal: 1 })]
  },
  {
    name: "connect-32-thin",
    title: "connect 32 thin servers at once, stdio",
    work: "connectAll",
    server: stdio("stdioThin"),
    contestants: three,
    rounds: 3,
    params: { servers: 32 },
    metrics: [less("took", "ms", { first: 1.05, goal: 1 })]
  },
  {
    name: "start-64",
    title: "64 servers, half of them dead, all known from before",
    work: "start",
    server: stdio("stdioThin"),
    contestants: whole,
    rounds: 3,
    params: { servers: 64, dead: 32 },
    quick: { servers: 16, dead: 8 },
    metrics: [
      absolute(less("built", "ms", { first: 50, goal: 10 })),
      absolute(less("tools", "ms", { first: 300, goal: 255 })),
      absolute(less("offered", "")),
      absolute(less("closed", "ms"))
    ]
  },
  {
    name: "soak-calls",
    title: "heap over 100 000 calls",
    work: "soakCalls",
    server: { kind: "inner" },
    contestants: whole,
    rounds: 1,
    params: { count: 100_000 },
    quick: { count: 20_000 },
    metrics: [absolute(less("at10", "KB")), absolute(less("at50", "KB")), absolute(less("at100", "KB"))]
  },
  {
    name: "soak-reconnects",
    title: "heap over 1000 reconnects",
    work: "soakReconnects",
    server: http("httpThin"),
    contestants: whole,
    rounds: 1,
    params: { count: 1000 },
    quick: { count: 200 },
    metrics: [absolute(less("at10", "KB")), absolute(less("at50", "KB")), absolute(less("at100", "KB"))]
  },
  close("close-good", "close 8 servers, good", stdio("stdioThin"), 3, { first: 30, goal: 15 }),
  close("close-stubborn", "close 8, ignoring stdin's end", stdio("stdioThin", "--ignore-stdin-end"), 1, {
    first: 2300,
    goal: 2100
  }),
  close("close-term", "close 8, ignoring SIGTERM too", stdio("stdioThin", "--ignore-stdin-end", "--ignore-term"), 1, {
    first: 4300,
    goal: 4100
  }),
  {
    name: "memory-stdio",
    title: "memory per connection, stdio",
    work: "memory",
    server: stdio("stdioThin"),
    contestants: clients,
    rounds: 1,
    params: { first: 16, servers: 32 },
    metrics: [less("heap", "KB", { first: 2, goal: 1 }), less("rss", "KB")]
  },
  {
    name: "memory-http",
    title: "memory per connection, HTTP",
    work: "memory",
    server: http("httpSdk"),
    contestants: clients,
    rounds: 1,
    params: { first: 16, servers: 32 },
    metrics: [less("heap", "KB", { first: 1, goal: 0.5 }), less("rss", "KB")]
  },
  {
    name: "tools-list",
    title: "tools/list of 10 000 with outputSchema",
    work: "list",
    server: stdio("stdioThin", "--tools", "10000"),
    contestants: clients,
    rounds: 1,
    slow: true,
    params: { count: 10_000 },
    metrics: [
      less("took", "ms", { first: 0.06, goal: 0.03 }),
      absolute(less("kept", "MB", { first: 30, goal: 30 }))
    ]
  }
]
