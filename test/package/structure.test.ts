import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { documents } from "../support/markdown.ts"
import { entryPoints, exports, root, type Source, sources } from "./project.ts"

const each = (about: (source: Source) => Iterable<string>): ReadonlyArray<string> =>
  sources.flatMap((source) => Array.from(about(source), (fault) => `${source.path}: ${fault}`))

const imported = ({ text }: Source): ReadonlyArray<string> =>
  Array.from(text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)"([^"\n]+)"/g), ([, specifier]) => specifier!)

const withoutComments = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")

const codeLines = (text: string): number =>
  withoutComments(text).split("\n").filter((line) => line.trim() !== "").length

/** Modules that hold rows of data, which are counted beside the code. */
const tables = new Set([
  ...["fields", "hosts", "issueSentences", "launchers", "loginFields", "variableNames"]
    .map((name) => `config/${name}.ts`),
  "errorRows.ts",
  "safety/injectionPhrases.ts",
  "text/asciiLookAlikes.ts",
  "text/credentialWords.ts"
])

const isTable = ({ path, text }: Source): boolean =>
  tables.has(path) &&
  !/=>|\bfunction\b|\w\(/.test(withoutComments(text).replaceAll(/"(?:[^"\\\n]|\\.)*"|`[^`]*`|new (Map|Set)\(/g, ""))

describe("every module of src", () => {
  it("is found by this test", () => {
    assert.isAbove(sources.length, 15)
  })

  it("knows its tables, which have neither functions nor calls", () => {
    assert.deepStrictEqual(sources.filter(isTable).map(({ path }) => path).toSorted(), [...tables].toSorted())
  })

  it("has at most 400 lines of code, unless it is a table without any function", () => {
    const faults = each((source) =>
      codeLines(source.text) > 400 && !isTable(source) ? [`${codeLines(source.text)} lines`] : []
    )
    assert.deepStrictEqual(faults, [])
  })

  it("has no drawer in its path", () => {
    const faults = each(({ path }) => {
      const drawer = /^(utils?|helpers?|types?|common|shared|misc|managers?)$/i
      return path.replace(/\.ts$/, "").split("/").filter((part) => drawer.test(part))
    })
    assert.deepStrictEqual(faults, [])
  })

  it("imports Effect by module and neighbours with their extension", () => {
    const faults = each((source) =>
      imported(source).filter((specifier) =>
        /^(effect|@effect\/[^/]+)$/.test(specifier) || (specifier.startsWith(".") && !/\.(ts|json)$/.test(specifier))
      )
    )
    assert.deepStrictEqual(faults, [])
  })

  it("keeps each foreign package behind the modules whose concern it is", () => {
    const homes: ReadonlyArray<readonly [pattern: RegExp, home: RegExp]> = [
      [
        /^@modelcontextprotocol\/client/,
        /^auth\/(discovery|oauth|storedLogin)\.ts$/
      ],
      [/^@modelcontextprotocol\/sdk/, /^(client\/(SdkConnector|handshake|sessionEra|tasks)\.ts|demo\/)/],
      [/^@modelcontextprotocol\/server/, /^$/],
      [/^@effect\/platform-node/, /^(cli|node|demo|fleet)\//],
      [/^minisearch$/, /^tools\/searchIndex\.ts$/],
      [/^ws$/, /^transport\/WebSocketTransport\.ts$/],
      [/^(ajv|re2js)/, /^json\/linearPattern\.ts$/],
      [/^@effect\/ai(\/|$)/, /^agent\/AiToolkit\.ts$/],
      [/^(ai|@ai-sdk\/.*)(\/|$)/, /^agent\/AiSdk\.ts$/],
      [/^@langchain\//, /^agent\/LangChain\.ts$/],
      [/^(jsonc-parser|smol-toml|yaml)$/, /^(config\/(document|editNative|toml|yaml)|cli\/printConfig)\.ts$/],
      [/^@napi-rs\//, /^node\/keyring\.ts$/],
      [/^(gpt-tokenizer|tokenx)/, /^safety\/Tokens\.ts$/],
      [
        /^node:(https?|zlib)$/,
        /^(transport\/(HttpTransport\.ts$|WebSocketTransport\.ts$|http\/)|node\/callback\.ts$|node\/NodeHttpListener\.ts$|auth\/guardedFetch\.ts$)/
      ],
      [/^node:dns$/, /^auth\/guardedFetch\.ts$/]
    ]
    const faults = each((source) =>
      imported(source).filter((specifier) =>
        homes.some(([pattern, home]) => pattern.test(specifier) && !home.test(source.path))
      )
    )
    assert.deepStrictEqual(faults, [])
  })

  it("writes to stdout only where it serves over it, and logs only through the log of the runtime", () => {
    const homes: ReadonlyArray<readonly [pattern: RegExp, home: string]> = [
      [/\bprocess\.stdout\b|\bstdout\b[^=\n]*\} = process\b/g, "node/NodeStdioLink.ts"],
      [/\bEffect\.log\w*/g, "runtimeLog.ts"],
      [/\bconsole\.\w+|"effect\/Console"|\bConsole\.\w+/g, ""]
    ]
    const faults = each(({ path, text }) =>
      // the commands and the demo own the terminal
      /^(cli|demo)\//.test(path)
        ? []
        : homes.flatMap(([pattern, home]) => path === home ? [] : withoutComments(text).match(pattern) ?? [])
    )
    assert.deepStrictEqual(faults, [])
  })

  it("starts no fiber without an owner", () => {
    const faults = each(({ text }) =>
      withoutComments(text).match(/\bforkDaemon\b|\bEffect\.run(Fork|Promise|Sync|Callback)\w*/g) ?? []
    )
    assert.deepStrictEqual(faults, [])
  })
})

/** The public modules now, which may only become fewer (the registry came with issue 18). DESIGN §4 asks for 45. */
const publicModules = 73

/** The public modules that only their paths import, because they need Node or an optional package. */
const outsideOfIndex = /^(index\.ts$|node\/|demo\/|testing\/|fleet\/|agent\/(AiSdk|AiToolkit|LangChain)\.ts$)/

describe("the exports of package.json", () => {
  it("name each module, without a wildcard", () => {
    assert.deepStrictEqual(Object.entries(exports).flat().filter((text) => text.includes("*")), [])
  })

  it("lead to modules of src, or to files of the project", () => {
    const modules = new Set(sources.map(({ path }) => path))
    assert.deepStrictEqual([...entryPoints.values()].filter((path) => !modules.has(path)), [])
    const files = Object.values(exports).filter((target) => !target.endsWith(".js"))
    assert.deepStrictEqual(files.filter((target) => !existsSync(new URL(target, root))), [])
  })

  it("call each module by its path in src", () => {
    const faults = [...entryPoints].filter(([specifier, path]) =>
      specifier !== ["effect-mcp-runtime", path.replace(/(^|\/)index\.ts$|\.ts$/, "")].filter(Boolean).join("/")
    )
    assert.deepStrictEqual(faults, [])
  })

  it("have the modules of the index, and no others but those that need Node or an optional package", () => {
    const index = sources.find(({ path }) => path === "index.ts")!.text
    const statements = Array.from(index.matchAll(/^export \* as \w+ from "\.\/(.+)"$/gm), ([, path]) => path!)
    assert.strictEqual(withoutComments(index).match(/\b(export|import)\b/g)?.length, statements.length)
    assert.sameMembers(statements, [...entryPoints.values()].filter((path) => !outsideOfIndex.test(path)))
  })

  it(`are at most ${publicModules} modules`, () => {
    assert.isAtMost(new Set(entryPoints.values()).size, publicModules)
  })

  it("have everything that the documents, the examples and the conformance programs import", () => {
    const files = [
      "README.md",
      ...["docs", "examples", "conformance"].flatMap((folder) =>
        readdirSync(new URL(`${folder}/`, root)).filter((name) => /\.(md|m?ts|mjs)$/.test(name))
          .map((name) => `${folder}/${name}`)
      )
    ]
    const specifiers = files.flatMap((file) =>
      Array.from(
        readFileSync(new URL(file, root), "utf8").matchAll(
          /(?:\bfrom |\b(?:import|resolve)\()"(effect-mcp-runtime\b[^"]*)"/g
        ),
        ([, specifier]) => ({ file, specifier: specifier! })
      )
    )
    assert.isAbove(specifiers.length, 80)
    assert.deepStrictEqual(specifiers.filter(({ specifier }) => !entryPoints.has(specifier)), [])
  })
})

/** The timers outside of `resilience`, where the delays between attempts are made by a `Schedule`. */
const timers: Readonly<Record<string, string>> = {
  "cli/processes.ts": "looks for leaked processes and sockets until they have ended",
  "cli/settling.ts": "redraws a progress line",
  "client/RequestEngine.ts": "the one timer of the requests of a connection",
  "client/McpClient.ts": "spaces signals of changes",
  "client/NativeConnector.ts": "the connect limit, which moves while a launcher installs",
  "client/requests.ts": "waits as long as the server asks with Retry-After",
  "client/statelessEra.ts": "paces the rounds of one request that has no questions",
  "demo/DemoServer.ts": "a slow tool",
  "fleet/Attachment.ts": "paces the questions to a home that moves, looks for its silence, and bounds an open",
  "node/NodeHttpListener.ts": "the keep-alive of a socket",
  "node/NodeTrust.ts": "gathers the writes of one decision",
  "node/fileLock.ts": "polls a file lock",
  "runtime/callTool.ts": "reports the calls that still run",
  "runtime/Link.ts": "sleeps until the time that the schedule has planned, or to the end of a pause",
  "runtime/Servers.ts": "gives a connect slot back after a while",
  "runtime/connection.ts": "the idle limit of a connection",
  "runtime/lists.ts": "spaces the refreshes of one server",
  "safety/Spill.ts": "removes old files",
  "server/StdioServer.ts": "bounds the end of a caller that reads no more",
  "server/gateway/peers.ts": "debounces the notifications of changed lists",
  "server/statelessEra.ts": "gathers questions, and bounds the wait for their answers",
  "server/streamableHttp.ts": "bounds a session without a reader",
  "tools/snapshot.ts": "bounds the operations of a store that hangs",
  "transport/http/connection.ts": "bounds a POST whose answer came on another stream",
  "transport/StdioTransport.ts": "looks for a process that reads nothing",
  "transport/WebSocketTransport.ts": "the keep-alive of a socket",
  "transport/http/client.ts": "the keep-alive of a socket",
  "transport/http/proxy.ts": "bounds the answer to CONNECT",
  "transport/http/refusal.ts": "bounds the body of an error",
  "transport/http/resume.ts": "sleeps the delay that the schedule of a stream has planned"
}

describe("every timer outside of resilience", () => {
  it("is none between attempts, but for those with a reason in the list", () => {
    const faults = sources
      .filter(({ path }) => !/^(resilience|testing)\//.test(path) && !Object.hasOwn(timers, path))
      .filter(({ text }) =>
        /\b(Effect\.(sleep|delay)|Clock\.sleep|setTimeout|setInterval)\b/.test(withoutComments(text))
      )
      .map(({ path }) => path)
    assert.deepStrictEqual(faults, [])
  })
})

/**
 * The folders that have been rebuilt, with their budgets in lines (DESIGN §4). The gate is in code lines: 31,000 of the
 * 45,000 lines of the whole are code, and 10 % more is allowed.
 */
const rebuilt: Readonly<Record<string, number>> = {
  // 600, and what came from config, safety and server: the names of credentials, the names that look alike, the normaliser,
  // the decoding of header values, the reader of escapes, the shortener of lists, and percent-decoding
  text: 774,
  // the root: issue 17 asks for 3,300 together with the runtime
  stderrReader: 244,
  // beside the table `errorRows.ts`
  McpError: 602,
  broadcast: 63,
  McpEvent: 216,
  McpRuntime: 310,
  json: 1_168,
  // a ratchet: issue 18 asks for 6,900. Over it are the checks of files (links, owners, modes, disks that hang), the warnings
  // before consent (on a line with its own values filled in), the policies of hosts in their own words, and the editing of
  // native files (issue 20)
  config: 9_240,
  // 1,400 and 3,300: the limits of a request came from the client to the deadline; the caps of defect S8 are in the client
  resilience: 1_406,
  // with the stream of the events of a call, which the runtime had too
  client: 3_299,
  // 2,100 without proxies
  auth: 2_122,
  observability: 550,
  // 2,500 in issue 17; over it are the checks of links, owners and modes
  node: 2_555,
  // a ratchet: issue 17 asks for 3,300 with the modules of the root
  runtime: 3_352,
  // with json and text these are the 5,200 of DESIGN §4
  tools: 3_269,
  // 3,200 without proxies
  transport: 3_423,
  testing: 1_400,
  safety: 3_792,
  // a ratchet: issue 20 asks for 5,600
  cli: 9_690,
  // a ratchet: issue 20 asks for 3,200; no official package serves both eras (docs/architecture.md, "Made by hand")
  server: 4_110,
  fleet: 2_000,
  agent: 2_300
}

/** The folders below the transports, and those below the runtime. */
const model = ["text", "json", "McpError", "McpEvent", "config"]
const belowTransport = [...model, "resilience", "safety", "tools"]
const belowRuntime = [...belowTransport, "runtimeLog", "scoped", "transport", "client", "auth", "observability"]

/** The folders that a folder may import values from, beside itself (DESIGN §4). `import type` is free. */
const allowed: Readonly<Record<string, ReadonlyArray<string>>> = {
  text: [],
  json: ["text"],
  stderrReader: [],
  McpError: ["text", "json", "stderrReader"],
  broadcast: ["scoped"],
  McpEvent: ["broadcast"],
  // Trust publishes its decisions, a watcher logs that the system refuses it, and the rules of hosts about tools become
  // permission rules, whose grammar is in safety
  config: ["text", "json", "McpError", "McpEvent", "broadcast", "runtimeLog", "safety"],
  resilience: model,
  tools: [...model, "resilience", "safety", "scoped", "observability"],
  transport: belowTransport,
  client: [...belowTransport, "runtimeLog", "scoped", "transport"],
  auth: [...belowTransport, "scoped", "transport", "client"],
  observability: ["text", "McpError", "McpEvent", "runtimeLog", "scoped", "resilience", "safety"],
  runtime: [...belowRuntime, "broadcast"],
  McpRuntime: [...belowRuntime, "runtime"],
  cli: [...belowRuntime, "stderrReader", "runtime", "McpRuntime", "agent", "server", "node"],
  node: [...belowRuntime, "runtime", "McpRuntime", "agent", "server"],
  agent: [...belowRuntime, "broadcast", "runtime", "McpRuntime"],
  server: [...belowRuntime, "runtime", "McpRuntime"],
  fleet: [...belowRuntime],
  safety: [...model, "scoped", "runtimeLog", "resilience", "tools"],
  testing: [...belowTransport, "transport", "client", "auth", "observability", "runtime", "McpRuntime"]
}

/** A module of the root is a folder of its own; the tables of the errors belong to `McpError`, and the demo to `node`. */
const folderOf = (path: string): string =>
  path.split("/")[0]!.replace(/\.ts$/, "").replace(/^demo$/, "node").replace(
    /^(errorRows?|outcome)$/,
    "McpError"
  )

const targets = (source: Source, pattern: RegExp): ReadonlyArray<string> =>
  Array.from(withoutComments(source.text).matchAll(pattern), ([, specifier]) => specifier!)
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => new URL(specifier, `file:///${source.path}`).pathname.slice(1))

const valueImport = /^(?:import|export)\s+(?!type\b)(?:[^"';]*?\sfrom\s*)?"([^"\n]+)"/gm
const anyImport = /^(?:import|export)\s[^"';]*?\sfrom\s*"([^"\n]+)"/gm
const importOnDemand = /\bimport\("([^"\n]+)"\)/g

describe("every rebuilt folder", () => {
  const inRebuilt = sources.filter(({ path }) => Object.hasOwn(rebuilt, folderOf(path)))

  it("stays within its budget of code lines", () => {
    const faults = Object.entries(rebuilt).flatMap(([folder, budget]) => {
      const lines = sources
        .filter((source) => folderOf(source.path) === folder && !isTable(source))
        .reduce((sum, { text }) => sum + codeLines(text), 0)
      const gate = Math.round(budget * (31_000 / 45_000) * 1.1)
      return lines > gate ? [`${folder}: ${lines} code lines, at most ${gate}`] : []
    })
    assert.deepStrictEqual(faults, [])
  })

  it("imports values only from the folders below it", () => {
    const faults = inRebuilt.flatMap((source) =>
      targets(source, valueImport)
        .map(folderOf)
        .filter((folder) =>
          folder !== folderOf(source.path) && !(allowed[folderOf(source.path)] ?? []).includes(folder)
        )
        .map((folder) => `${source.path} imports ${folder}`)
    )
    assert.deepStrictEqual(faults, [])
  })

  it("has no file under 60 code lines with a single importer, unless it is public, imported on demand, or reads data", () => {
    const importers = (path: string): number =>
      sources.filter((source) => source.path !== "index.ts" && targets(source, anyImport).includes(path)).length
    const others = new Set([...entryPoints.values(), ...sources.flatMap((source) => targets(source, importOnDemand))])
    const faults = inRebuilt
      .filter(({ path, text }) =>
        codeLines(text) < 60 && importers(path) === 1 && !others.has(path) && !tables.has(path)
      )
      .filter(({ text }) => !text.includes("with { type: \"json\" }"))
      .map(({ path }) => path)
    assert.deepStrictEqual(faults, [])
  })

  it("uses the words that DESIGN §9 rules out fewer than 20 times, the documents included", () => {
    const words = /\b([Ss]omebody|[Nn]obody|[Ww]hoever|[Aa]nybody|[Ee]verybody|[Aa]nyone|[Ss]omeone)\b/g
    const pages = documents.map(({ name, text }) => ({ path: name, text }))
    const faults = [...inRebuilt.filter((source) => !isTable(source)), ...pages].flatMap(({ path, text }) =>
      Array.from(text.matchAll(words), ([word]) => `${path}: ${word}`)
    )
    assert.isBelow(faults.length, 20, faults.join(", "))
  })
})
