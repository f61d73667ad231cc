/**
 * The scenarios: operation, server, contestants, repetitions and targets. There are targets for the runtime in one long
 * fiber, and with one `runPromise` per call. A target is a ratio to the raw SDK 1.x client of the same round, or, with
 * `absolute`, a figure in the unit of the metric.
 */
const stdio = (fixture, ...args) => ({ kind: "stdio", fixture, args })
const http = (fixture, ...args) => ({ kind: "http", fixture, args })

const peers = ["sdk1", "sdk2", "ai-sdk", "mcporter"]
const all = [...peers, "runtime", "runtime-promise", "client", "client-sdk1"]
const whole = ["runtime"]
/** Where no loop of calls is measured, both faces of the runtime are the same. */
const clients = [...peers, "runtime", "client"]

const less = (key, unit, fiber, promise) => ({
  key,
  unit,
  better: "less",
  targets: { runtime: fiber, "runtime-promise": promise }
})
const more = (key, unit, fiber, promise) => ({ ...less(key, unit, fiber, promise), better: "more" })
/** For absolute figures. */
const absolute = (metric) => ({ ...metric, absolute: true })

const echo = (name, title, server, contestants, counts, metrics) => ({
  name,
  title,
  work: "sequence",
  server,
  contestants,
  rounds: 3,
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
    absolute(less("client", "µs")),
    absolute(less("runtime", "µs")),
    absolute(less("added", "µs", 30))
  ]
})

const big = (name, title, server, megabytes, rounds, params, metrics) => ({
  name,
  title,
  work: "big",
  server,
  contestants: clients,
  rounds,
  slow: megabytes > 10,
  params: { bytes: megabytes * 1_000_000, ...params },
  metrics
})

const close = (name, title, server, rounds, target) => ({
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
  metrics: [target, absolute(less("alive", "", 0))]
})

export const scenarios = [
  echo("stdio-echo", "stdio echo", stdio("stdioThin"), all, [12_000, 3000], [
    less("p50", "µs", 1.1, 1.35),
    less("cpu", "µs")
  ]),
  echo("stdio-echo-sdk", "stdio echo, SDK server", stdio("stdioSdk"), all, [8000, 3000], [
    less("p50", "µs", 1.1, 1.35),
    less("cpu", "µs")
  ]),
  echo("http-echo", "HTTP echo", http("httpThin"), all, [2000, 500], [
    less("p50", "µs", 0.6, 0.7),
    less("cpu", "µs")
  ]),
  echo("http-echo-sdk", "HTTP echo, SDK server", http("httpSdk"), all, [1000, 300], [
    less("p50", "µs", 0.6, 0.7),
    less("cpu", "µs")
  ]),
  flight("stdio-64", "stdio, 64 in flight", stdio("stdioThin"), all, [40_000, 10_000], [
    more("rate", "/s", 0.9, 0.85),
    less("cpu", "µs")
  ]),
  flight("stdio-64-sdk", "stdio, 64 in flight, SDK server", stdio("stdioSdk"), all, [15_000, 8000], [
    more("rate", "/s", 0.9, 0.85),
    less("cpu", "µs")
  ]),
  flight("http-64", "HTTP, 64 in flight", http("httpThin"), all, [3000, 700], [
    more("rate", "/s", 2, 2),
    less("cpu", "µs")
  ]),
  flight("http-64-sdk", "HTTP, 64 in flight, SDK server", http("httpSdk"), all, [1500, 500], [
    more("rate", "/s", 2, 2),
    less("cpu", "µs")
  ]),
  added("added", "a call without I/O, 1 server", 1),
  added("added-64", "a call without I/O, 64 servers", 64),
  big("stdio-1mb", "1 MB over stdio", stdio("stdioThin"), 1, 2, { count: 20, warmup: 3 }, [less("took", "ms")]),
  big("stdio-10mb", "10 MB over stdio", stdio("stdioThin"), 10, 3, { count: 2, warmup: 1 }, [
    less("took", "ms", 0.35)
  ]),
  big("stdio-50mb", "50 MB over stdio", stdio("stdioThin"), 50, 1, { count: 1, warmup: 0 }, [
    less("took", "ms", 0.03)
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
    contestants: clients,
    rounds: 3,
    params: { servers: 8 },
    metrics: [less("took", "ms", 1.1)]
  },
  {
    name: "connect-32",
    title: "connect 32 SDK servers at once, stdio",
    work: "connectAll",
    server: stdio("stdioSdk"),
    contestants: clients,
    rounds: 2,
    slow: true,
    params: { servers: 32 },
    metrics: [less("took", "ms")]
  },
  {
    name: "connect-32-thin",
    title: "connect 32 thin servers at once, stdio",
    work: "connectAll",
    server: stdio("stdioThin"),
    contestants: clients,
    rounds: 3,
    params: { servers: 32 },
    metrics: [less("took", "ms", 1.3)]
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
      absolute(less("built", "ms")),
      absolute(less("tools", "ms", 260)),
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
  close("close-good", "close 8 servers, good", stdio("stdioThin"), 3, less("took", "ms", 1.5)),
  // one ladder of stdin, SIGTERM and SIGKILL for all of them, with two seconds for each step
  close(
    "close-stubborn",
    "close 8, ignoring stdin's end",
    stdio("stdioThin", "--ignore-stdin-end"),
    1,
    absolute(less("took", "ms", 2300))
  ),
  close(
    "close-term",
    "close 8, ignoring SIGTERM too",
    stdio("stdioThin", "--ignore-stdin-end", "--ignore-term"),
    1,
    absolute(less("took", "ms", 4300))
  ),
  {
    name: "memory-stdio",
    title: "memory per connection, stdio",
    work: "memory",
    server: stdio("stdioThin"),
    contestants: clients,
    rounds: 1,
    params: { first: 16, servers: 32 },
    metrics: [less("heap", "KB", 2), less("rss", "KB")]
  },
  {
    name: "memory-http",
    title: "memory per connection, HTTP",
    work: "memory",
    server: http("httpSdk"),
    contestants: clients,
    rounds: 1,
    params: { first: 16, servers: 32 },
    metrics: [less("heap", "KB", 1.2), less("rss", "KB")]
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
      less("took", "ms", 0.05),
      absolute(less("kept", "MB"))
    ]
  }
]
