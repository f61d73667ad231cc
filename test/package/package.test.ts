import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { json, text } from "node:stream/consumers"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath, pathToFileURL } from "node:url"
import * as Built from "../support/built.ts"
import { pidsWithArgument } from "../support/leaks.ts"
import { documents, leadsSomewhere, moduleOf, nameOf, relativeLinks } from "../support/markdown.ts"
import * as StandInDocker from "../support/standInDocker.ts"
import * as TypeScript5 from "../support/typescript5.ts"
import { entryPoints, root, run, sources } from "./project.ts"

// Compilers and packers on a busy machine. `vi.setConfig` would reach only the first file of a process.
const patient = { timeout: 60_000 }

const folder = fileURLToPath(root)
const programs = documents.flatMap(({ blocks }) => blocks).filter(({ language }) => language === "ts")

const specifiers = Array.from(entryPoints.keys())

/** Packages whose own declarations have errors under strict options, which are not ours to answer for. */
const unsound =
  /^[^(]*\/node_modules\/((ai|@ai-sdk\/provider|@langchain\/core|langsmith|vitest)\/dist|@types\/chai)\/[^(]*\.d\.ts\(/

let work: string
let consumer: string
let tarball: string
let files: ReadonlyArray<string>

const succeed = async (
  command: string,
  args: ReadonlyArray<string>,
  cwd: string,
  path?: string,
  variables: Readonly<Record<string, string>> = {}
): Promise<string> => {
  const { status, stderr, stdout } = await run(command, args, {
    cwd,
    // neither decisions nor caches of earlier runs are used
    variables: { XDG_CACHE_HOME: join(work, "cache"), XDG_STATE_HOME: join(work, "state"), ...variables },
    ...(path === undefined ? {} : { path })
  })
  assert.strictEqual(status, 0, `${command} ${args.join(" ")}\n${stdout}${stderr}`)
  return stdout
}

/** Runs a module in the consumer and gives its standard output. */
const node = (code: string, ...flags: ReadonlyArray<string>): Promise<string> =>
  succeed("node", [...flags, "--input-type=module", "--eval", code], consumer)

// Packs what a fresh build of this folder would publish, and unpacks it where a user's npm would: nothing is fetched,
// and the `dist` of this folder is left alone.
beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), "effect-mcp-runtime-"))
  const source = join(work, "source")
  consumer = join(work, "consumer")
  const packed = [
    "package.json",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "SECURITY.md",
    "docs",
    "examples",
    "src",
    "schema"
  ]
  for (const name of packed) {
    cpSync(join(folder, name), join(source, name), { recursive: true })
  }
  cpSync(await Built.dist(), join(source, "dist"), { recursive: true })
  cpSync(await Built.program(), join(source, "dist/bin"), { recursive: true })
  await succeed("npm", ["pack", "--ignore-scripts", "--pack-destination", work], source)
  symlinkSync(join(folder, "node_modules"), join(source, "node_modules"))
  tarball = join(work, readdirSync(work).find((name) => name.endsWith(".tgz"))!)
  files = (await succeed("tar", ["-tzf", tarball], work)).trim().split("\n").map((file) =>
    file.replace(/^package\//, "")
  )

  const modules = join(consumer, "node_modules")
  mkdirSync(join(modules, "effect-mcp-runtime"), { recursive: true })
  for (const name of readdirSync(join(folder, "node_modules"))) {
    if (!name.startsWith(".")) symlinkSync(join(folder, "node_modules", name), join(modules, name))
  }
  await succeed("tar", ["-xzf", tarball, "--strip-components=1", "-C", join(modules, "effect-mcp-runtime")], work)
  writeFileSync(join(consumer, "package.json"), JSON.stringify({ name: "consumer", type: "module" }))
  mkdirSync(join(consumer, "docs"))
  for (const program of programs) writeFileSync(join(consumer, "docs", `${nameOf(program)}.ts`), moduleOf(program))
  cpSync(join(folder, "examples"), join(consumer, "examples"), { recursive: true })
  writeFileSync(join(consumer, "inferred.ts"), inferred)
  writeFileSync(join(consumer, "wrong.ts"), wrong)
  const every = specifiers.map((specifier, at) => `export * as Module${at} from "${specifier}"\n`)
  writeFileSync(join(consumer, "every.ts"), every.join(""))
}, 120_000)

afterAll(() => rmSync(work, { recursive: true, force: true }))

/** A module with exports whose types are inferred: every module in them must be public (TS2883 otherwise). */
const inferred = `
import { Context, Effect, Layer } from "effect"
import { ConfigDiscovery, Connector, McpRuntime, ServerConfig, StdioServer, ToolHandler, Trust } from "effect-mcp-runtime"
import * as NodeAgent from "effect-mcp-runtime/node/NodeAgent"
import * as NodeConnector from "effect-mcp-runtime/node/NodeConnector"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import * as NodeMcpServe from "effect-mcp-runtime/node/NodeMcpServe"
import * as NodeStdioLink from "effect-mcp-runtime/node/NodeStdioLink"
import { layerTest } from "effect-mcp-runtime/testing"

export class Own extends Context.Tag("app/Own")<Own, number>() {}
export const application = NodeAgent.layer().pipe(
  Layer.provideMerge(NodeMcpRuntime.layer({ servers: [] })),
  Layer.merge(Layer.succeed(Own, 1))
)
export const configured = NodeMcpRuntime.layerConfigured()
export const runtime = Effect.gen(function*() {
  const mcp = yield* McpRuntime.McpRuntime
  return { mcp, tools: yield* mcp.tools, servers: yield* mcp.servers.list, result: yield* mcp.callTool("add", {}) }
})
export const handler = Effect.flatMap(ToolHandler.ToolHandler, (made) => Effect.map(made.definitions(), (all) => ({ made, all })))
export const discovered = Effect.flatMap(ConfigDiscovery.ConfigDiscovery, ({ discover }) => discover)
export const trust = Effect.map(Trust.Trust, (made) => made)
export const connector = NodeConnector.layer()
export const transports = NodeConnector.layerTransports()
export const client = Effect.flatMap(ServerConfig.stdio({ name: "a", command: "b" }), Connector.open)
export const runtimes = NodeMcpServe.layerRuntimes({ servers: [] })
export const gateway = NodeMcpServe.make({ servers: [] })
export const link = NodeStdioLink.layer
export const server = Effect.map(StdioServer.StdioServer, (made) => made)
export const test = layerTest({})
`

const wrong = `import { McpError } from "effect-mcp-runtime"
export const wrong: number = McpError.isMcpError
`

/** Two texts in either order. */
const either = (one: string, other: string): string => `(?:${one}${other}|${other}${one})`

/** The output of each example. */
const expected: Readonly<Record<string, RegExp>> = {
  "agent-ai-sdk": new RegExp(
    [
      "^list_mcp_resources, .*mcp__demo__add, .*",
      "text: <mcp_tool_output server=\"demo\" tool=\"add\" .*>",
      "42",
      "error-text: Error \\(RemoteError\\): .*"
    ].join("\n[^]*")
  ),
  "agent-effect-ai": new RegExp(
    [
      "^I have 9 tools\\.",
      "Today worked",
      "mcp__demo__add worked",
      "mcp__demo__add failed",
      "Friday",
      "<mcp_tool_output server=\"demo\" tool=\"add\" [^]*",
      "Error \\(RemoteError\\): .*"
    ].join("\n")
  ),
  "agent-langchain":
    /^list_mcp_resources, .*\nsuccess { sum: 42 } <mcp_tool_output [^]*\nerror undefined Error \(RemoteError\): /,
  "agent-raw-api":
    /^1 false \[[^]*\n2 true \[[^]*RemoteError[^]*\nmcp__demo__add, strict\n[^]*tool_call_id: '3',\n[^]*42/,
  "one-server":
    /^tools: add, echo, countdown, greet, crash\nadd: { sum: 42 }\nThe server came up,[^]*refused with -32602\n$/,
  "progress": /^2 to go\n1 to go\n0 to go\n[^]*Lift-off\.[^]*cancelled: true\nstill connected\n$/,
  "elicitation": /^demo asks: What is your name\?\nHello, Ada\.\n$/,
  "docker": /^echo\n[^]*^cancelled\n/m,
  "many-servers": new RegExp(
    [
      "^mcp__seldom__countdown",
      "mcp__sums__add",
      "mcp__words__echo",
      "no tools of broken: Failed, SpawnFailed",
      "sums: { sum: 42 }",
      "words: hello",
      "broken: ENOENT, not-sent\n$"
    ].join("\n")
  ),
  "found-servers": new RegExp(
    [
      "^demo: Untrusted \\(project, line 1\\)",
      "typo: Invalid \\(project, line 1\\)",
      "Server \"typo\": The field command",
      " {2}argument 1: \".*DemoServer",
      " {2}asks for: \"LOG_LEVEL\"",
      "{ sum: 42 }\n$"
    ].join("[^]*\n")
  ),
  "hot-reload": new RegExp(
    [
      "^servers: kept, changed, removed; 15 tools",
      "saved",
      "added added, changed changed, removed removed",
      "changed: Lift-off\\.",
      "removed: Lift-off\\.",
      "added: {\"sum\":42}",
      "servers: kept, changed, added\n$"
    ].join("\n")
  ),
  // writes only answers
  "agent-server": /^$/,
  "managed-runtime": /^(mcp__demo__\w+\n){4,}42\nRemoteError, executed\ncancelled\nstill connected\n$/,
  // two fibers print a line for each crash, in either order
  "reconnect-policy": new RegExp(
    `^${
      [1, 2].map((attempt) =>
        either(
          `demo: ConnectionLost/exited, attempt ${attempt} is next\n`,
          "crashed during the call; outcome: unknown\n"
        )
      ).join("")
    }restarted: {"sum":42}\nmissing: Failed\n$`
  )
}

/** The spans that an OpenTelemetry collector receives. */
interface Traces {
  readonly resourceSpans: ReadonlyArray<{
    readonly scopeSpans: ReadonlyArray<{
      readonly spans: ReadonlyArray<{
        readonly name: string
        readonly traceId: string
        readonly spanId: string
        readonly parentSpanId?: string
      }>
    }>
  }>
}

/** Tests, and applications that end with their input or a signal. */
const others = ["scripted-faults.test", "http-service/main", "terminal-agent/main"]

describe("the package", patient, () => {
  it("holds the build and the documents, and nothing else", () => {
    const allowed =
      /^(package\.json|(README|CHANGELOG|SECURITY|docs\/[\w-]+|examples\/([\w-]+\/)?README)\.md|docs\/assets\/\w+\.svg|examples\/([\w-]+\/)?[\w.-]+\.ts|LICENSE|dist\/(?!cli\/).*\.d\.ts|dist\/chunks\/[\w-]+\.js|dist\/bin\/(LICENSES\.txt|mcp-runtime(\.bundle)?\.cjs)|schema\/mcp-client\.schema\.json)$/
    const modules = Array.from(entryPoints.values(), (path) => `dist/${path.replace(/\.ts$/, "")}`)
    const entries = new Set(modules.map((path) => `${path}.js`))
    assert.deepStrictEqual(files.filter((file) => !allowed.test(file) && !entries.has(file)), [])
    assert.includeMembers([...files], [
      ...modules.flatMap((path) => [`${path}.js`, `${path}.d.ts`]),
      "README.md",
      "LICENSE",
      "CHANGELOG.md",
      "SECURITY.md",
      "dist/bin/LICENSES.txt",
      "dist/bin/mcp-runtime.bundle.cjs",
      "dist/bin/mcp-runtime.cjs",
      "schema/mcp-client.schema.json"
    ])
  })

  it("has at most 1.5 MB, and 6 MB unpacked", () => {
    const unpacked = join(consumer, "node_modules/effect-mcp-runtime")
    const sizes = files.map((file) => statSync(join(unpacked, file)).size)
    assert.isAtMost(statSync(tarball).size, 1_500_000)
    assert.isAtMost(sizes.reduce((sum, size) => sum + size, 0), 6_000_000)
  })

  it("has no relative link to a file or heading that it does not have", () => {
    const unpacked = pathToFileURL(`${join(consumer, "node_modules/effect-mcp-runtime")}/`)
    const links = files.filter((file) => file.endsWith(".md")).flatMap((file) =>
      relativeLinks(file, readFileSync(new URL(file, unpacked), "utf8")).map((link) => ({ file, link }))
    )
    assert.isAbove(links.length, 100)
    const broken = links.filter(({ link }) => !leadsSomewhere(link, unpacked))
    assert.deepStrictEqual(broken.map(({ file, link }) => `${file} links to ${link}`), [])
  })

  it("is clean for publint", async () => {
    assert.match(await succeed("publint", ["--strict", tarball], work), /All good/)
  })

  // attw looks at each of the public modules that `exports` names, which takes minutes while other tests have the cores.
  it("has types that every module resolution finds", { timeout: 300_000 }, async () => {
    await succeed("attw", [tarball, "--profile", "esm-only", "--no-color", "--no-emoji"], work)
  })

  it("declares every package that its source imports", () => {
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<
      string,
      Record<string, string>
    >
    const declared = new Set(Object.keys({ ...dependencies, ...peerDependencies }))
    const bundled = /^cli\//
    const undeclared = sources.filter(({ path }) => !bundled.test(path)).flatMap(({ path, text }) =>
      Array.from(text.matchAll(/^(?:import|export)\b[^"'`]*?\bfrom "([^".][^"]*)"/gm), ([, specifier]) => specifier!)
        .concat(Array.from(text.matchAll(/\bimport\("([^".][^"]*)"\)/g), ([, specifier]) => specifier!))
        .filter((specifier) => !specifier.startsWith("node:"))
        .map((specifier) => specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/"))
        .filter((name) => !declared.has(name))
        .map((name) => `${path}: ${name}`)
    )
    assert.deepStrictEqual(undeclared, [])
  })

  it("lets every public module be imported by its path", async () => {
    const imports = specifiers.map((specifier) => `await import("${specifier}")`)
    assert.strictEqual(await node(`${imports.join("\n")}\nconsole.log("imported")`), "imported\n")
  })

  it("exports no internal module", async () => {
    const reachable = new Set(entryPoints.values())
    const paths = sources.map(({ path }) => path).filter((path) => !reachable.has(path))
      .map((path) => path.replace(/\.ts$/, ""))
    const out = await node(`
      for (const path of ${JSON.stringify(paths)}) {
        const code = await import("effect-mcp-runtime/" + path).then(() => "imported", (error) => error.code)
        if (code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") console.log(path, code)
      }`)
    assert.strictEqual(out, "")
  })

  it("loads no SDK, no schema compiler, no socket library and no Node layer with its index", async () => {
    const hook = `export const load = async (url, context, next) => {
      process._rawDebug(url)
      return next(url, context)
    }`
    const register = `import { register } from "node:module"
      register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)})`
    const { status, stderr } = await run("node", [
      "--import",
      `data:text/javascript,${encodeURIComponent(register)}`,
      "--input-type=module",
      "--eval",
      `await import("effect-mcp-runtime")`
    ], { cwd: consumer })
    assert.strictEqual(status, 0, stderr)
    const packages = new Set(
      Array.from(stderr.matchAll(/^file:.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//gm), ([, name]) => name!)
    )
    assert.include([...packages], "effect")
    // the last two are small, and have no dependencies
    const expected = [
      "effect",
      "effect-mcp-runtime",
      "@effect/platform",
      "fast-check",
      "pure-rand",
      "ipaddr.js",
      "tokenx"
    ]
    assert.includeMembers(expected, [...packages])
  })

  // one after the other: each takes a processor for half a minute
  for (const [module, moduleResolution] of [["NodeNext", "NodeNext"], ["ESNext", "Bundler"]] as const) {
    for (const version of [7, 5.9]) {
      const title =
        `has types for its modules, the documents and the examples: TypeScript ${version}, ${moduleResolution}`
      it(title, { timeout: 180_000 }, async () => {
        assert.isAbove(programs.length, 30)
        const compilerOptions = {
          module,
          moduleResolution,
          target: "ES2022",
          strict: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck: false,
          types: ["node"],
          ...version === 7 ? { declaration: true, outDir: moduleResolution } : { noEmit: true }
        }
        const config = join(consumer, `tsconfig.${moduleResolution}.${version}.json`)
        writeFileSync(config, JSON.stringify({ compilerOptions, include: ["*.ts", "docs/*.ts", "examples/**/*.ts"] }))
        const tsc = version === 7 ? "tsc" : await TypeScript5.install()
        const { stdout } = await run(tsc, ["-p", config, "--pretty", "false"], { cwd: consumer })
        const errors = stdout.split("\n").filter((line) => line.includes("error TS") && !unsound.test(line))
        // without the declarations it would be `any`, which is a number
        const planted = errors.filter((line) => line.startsWith("wrong.ts(2,14): error TS2322: "))
        assert.lengthOf(planted, 1)
        assert.deepStrictEqual(errors.filter((line) => !planted.includes(line)), [])
        for (const name of version === 7 ? [...Object.keys(expected), ...others] : []) {
          assert.isTrue(existsSync(join(consumer, moduleResolution, "examples", `${name}.js`)), name)
        }
      })
    }
  }
})

describe("the command line", patient, () => {
  it("runs from the package alone, with nothing that it was built from", async () => {
    const alone = join(work, "alone")
    mkdirSync(alone)
    await succeed("tar", ["-xzf", tarball, "-C", alone, "package/package.json", "package/dist/bin"], work)
    const bin = join(alone, "package/dist/bin/mcp-runtime.cjs")
    const file = join(alone, "servers.json")
    const server = join(consumer, "node_modules/effect-mcp-runtime/dist/demo/DemoServer.js")
    writeFileSync(file, JSON.stringify({ mcpServers: { demo: { command: "node", args: [server] } } }))
    assert.match(await succeed(bin, ["--version"], alone), /^\d+\.\d+\.\d+\n$/)
    assert.match(await succeed(bin, ["list", "--config", file], alone), /^demo +stdio +connected +5 /m)
    assert.match(await succeed(bin, ["--completions", "bash"], alone), /complete .*-F/)
  })

  it("runs by the name of the package, because npx fetches a package by that name", async () => {
    const clone = join(work, "clone")
    mkdirSync(clone)
    await succeed("tar", ["-xzf", tarball, "-C", clone, "package/package.json", "package/dist/bin"], work)
    const args = ["exec", "--offline", "--no", "--", "effect-mcp-runtime", "--version"]
    assert.match(await succeed("npm", args, join(clone, "package")), /^\d+\.\d+\.\d+\n$/)
  })

  it("tells whose work is in the bundle", () => {
    const notices = readFileSync(join(consumer, "node_modules/effect-mcp-runtime/dist/bin/LICENSES.txt"), "utf8")
    for (const name of ["effect", "@modelcontextprotocol/client", "jsonc-parser", "yaml"]) {
      assert.match(notices, new RegExp(`^${name} \\d+\\.`, "m"))
    }
  })
})

describe("the demo", patient, () => {
  const demo = (...args: ReadonlyArray<string>) =>
    run("node", [join(work, "source/dist/demo/main.js"), ...args], { cwd: work })

  /** A file of servers of which the first cannot be used. */
  const broken = (server: object): string => {
    const file = join(work, "broken.json")
    writeFileSync(file, JSON.stringify({ mcpServers: { broken: server } }))
    return file
  }

  it("shows the status, the tools, a call and the teardown, in plain text where there is no terminal", async () => {
    const { status, stderr, stdout } = await demo()
    assert.strictEqual(stderr, "")
    assert.strictEqual(status, 0)
    assert.match(stdout, /^1 server in .*\.mcp\.json$/m)
    assert.match(stdout, /^ {2}status +connected over stdio in \d+ ms, protocol \d{4}-\d\d-\d\d \(session era\)$/m)
    assert.match(stdout, /^ {2}server +demo \d+\.\d+\.\d+$/m)
    assert.match(stdout, /^ {2}tools +5$/m)
    assert.match(stdout, /^ +countdown +Counts down/m)
    assert.match(stdout, /^ {2}call +add {"a":2,"b":40}$/m)
    assert.match(stdout, /^ {2}result +42 +structured {"sum":42}/m)
    assert.match(stdout, /^ {2}failed +ConnectionLost\/exited; it may have run \(unknown\)/m)
    assert.match(stdout, /^ {2}result +7 [^]*^ {2}recovery +the server restarted/m)
    assert.match(
      stdout,
      /^teardown\n {2}demo +exited-before in \d+ ms, exit code 1\n {2}demo +closed in \d+ ms, exit code 0\n$/m
    )
    assert.notInclude(stdout, "\u001b")
  })

  it("fails with the error's tag when a server cannot be started", async () => {
    const { status, stderr, stdout } = await demo(broken({ command: "there-is-no-such-program" }))
    assert.strictEqual(status, 1)
    assert.match(stderr, /^SpawnFailed: broken: .*ENOENT/)
    assert.match(stdout, /^teardown$/m)
  })

  it("fails with the error's tag when a server ends at once, and reports its end", async () => {
    const { status, stderr, stdout } = await demo(broken({ command: "node", args: ["--eval", "process.exit(3)"] }))
    assert.strictEqual(status, 1)
    assert.match(stderr, /^ConnectionLost\/exited: broken: .*exit code 3/)
    assert.match(stdout, /^ {2}broken +exited-before in .*exit code 3$/m)
  })

  it("fails with the file's name when the file does not exist", async () => {
    const { status, stderr } = await demo(join(work, "nowhere.json"))
    assert.strictEqual(status, 1)
    assert.match(stderr, /^ConfigurationError: .*nowhere\.json/)
  })
})

describe("the examples", patient, () => {
  it("are all run by these tests and listed in the README", () => {
    const names = readdirSync(join(folder, "examples"), { recursive: true }).map(String)
      .filter((file) => file.endsWith(".ts")).map((file) => file.replace(/\.ts$/, ""))
    const programs = names.filter((name) => !name.includes("/") || name.endsWith("/main"))
    assert.sameMembers(programs, [...Object.keys(expected), ...others])
    const listed = readFileSync(join(folder, "examples/README.md"), "utf8")
      .matchAll(/^\| \[`(.+)`\]\(\1(?:\.ts|\/README\.md)\) \|/gm)
    assert.sameMembers(Array.from(listed, ([, name]) => name), programs.map((name) => name.replace(/\/main$/, "")))
  })

  // Node loads a thousand modules for each, most of the time that it takes. Two tests below run theirs as they are.
  it("can be bundled with the package", async () => {
    const require = "import{createRequire}from\"node:module\";const require=createRequire(import.meta.url);"
    await succeed("esbuild", [
      ...Object.keys(expected).map((name) => `NodeNext/examples/${name}.js`),
      "--bundle",
      "--splitting",
      "--platform=node",
      // the main module of jsonc-parser cannot be bundled, as docs/files.md says
      "--main-fields=module,main",
      "--format=esm",
      "--target=node20.19",
      "--outdir=bundled",
      "--external:gpt-tokenizer",
      "--external:@napi-rs/keyring",
      `--banner:js=${require}`,
      "--log-level=error"
    ], consumer)
  })

  for (const [name, output] of Object.entries(expected)) {
    // each is a separate program, which mostly waits
    it.concurrent(`${name} prints the expected output`, async () => {
      const program = join(consumer, "bundled", `${name}.js`)
      // without the key of the developer
      const variables = { OPENAI_API_KEY: "" }
      assert.match(await succeed("node", [program], consumer, StandInDocker.make().path, variables), output)
    })
  }

  it.concurrent("scripted-faults.test passes", async () => {
    const args = ["run", "--root", consumer, "--dir", "examples", "--no-color"]
    assert.match(await succeed("vitest", args, consumer), /^ *Tests +5 passed \(5\)$/m)
  })

  const terminalAgent = (input: string, variables: Readonly<Record<string, string>>): Promise<string> =>
    new Promise((resolve) => {
      const child = spawn("node", [join(consumer, "NodeNext/examples/terminal-agent/main.js")], {
        cwd: consumer,
        env: { ...process.env, XDG_CACHE_HOME: join(work, "cache"), ...variables },
        stdio: ["pipe", "pipe", "inherit"]
      })
      const out = text(child.stdout)
      child.once("close", () => resolve(out))
      child.stdin.end(input)
    })

  it.concurrent("terminal-agent calls what the person approves, and tells the model what was denied", async () => {
    assert.match(
      await terminalAgent("What is 2 + 40?\ny\nn\n", { OPENAI_API_KEY: "" }),
      new RegExp(
        [
          "^Model: a script, because OPENAI_API_KEY is not set",
          "You: Allow demo/add {\"a\":2,\"b\":40}\\? \\[y\\]es, .*: Allow demo/crash {}\\? .*: " +
          "<mcp_tool_output server=\"demo\" tool=\"add\" .*>",
          "42",
          ".*</mcp_tool_output>",
          "Error \\(PermissionDenied\\): .*",
          "You: \n$"
        ].join("\n")
      )
    )
  })

  it.concurrent("terminal-agent asks an API with its key, and gives it the outputs", async () => {
    const requests: Array<
      { readonly url: string | undefined; readonly key: string | undefined; readonly body: unknown }
    > = []
    const calls = [1, 2].map((b) => ({
      tool_calls: [{
        id: `${b}`,
        type: "function",
        function: { name: "mcp__demo__add", arguments: `{"a":3,"b":${b}}` }
      }]
    }))
    const answers = [...calls, { content: "Four and five." }]
    const api = createServer(async (request, response) => {
      requests.push({ url: request.url, key: request.headers.authorization, body: await json(request) })
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ choices: [{ message: { role: "assistant", ...answers[requests.length - 1] } }] }))
    })
    await once(api.listen(0, "127.0.0.1"), "listening")
    try {
      const { port } = api.address() as AddressInfo
      const variables = { OPENAI_API_KEY: "key", OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_MODEL: "some" }
      const out = await terminalAgent("Add 3 to 1 and 2.\ny\ny\n", variables)
      assert.match(
        out,
        /^Model: some at http:.*\nYou: Allow demo\/add {"a":3,"b":1}\?.*: Allow .*"b":2}.*: Four and five\.\nYou: \n$/
      )
    } finally {
      api.close()
    }
    assert.deepStrictEqual(
      requests.map(({ key, url }) => [url, key]),
      Array.from(answers, () => ["/v1/chat/completions", "Bearer key"])
    )
    assert.match(JSON.stringify(requests[2]?.body), /"role":"user","content":"Add 3 to 1 and 2\."/)
    assert.match(
      JSON.stringify(requests[2]?.body),
      /"role":"tool".*mcp_tool_output.*4.*"role":"tool".*mcp_tool_output.*5/
    )
  })

  it("managed-runtime ends its servers at Ctrl-C", async () => {
    const child = spawn("node", [join(consumer, "NodeNext/examples/managed-runtime.js")], {
      cwd: consumer,
      stdio: ["pipe", "pipe", "inherit"]
    })
    const ended = once(child, "exit")
    child.stdin.write("one more\n")
    let output = ""
    for await (const chunk of child.stdout.setEncoding("utf8")) {
      output += chunk
      if (output.endsWith("one more\n")) break
    }
    const server = join(consumer, "node_modules/effect-mcp-runtime/dist/demo/DemoServer.js")
    assert.strictEqual(pidsWithArgument(server).length, 1)
    child.kill("SIGINT")
    assert.deepStrictEqual(await ended, [130, null])
    assert.deepStrictEqual(pidsWithArgument(server), [])
  })

  it("http-service finishes its requests at SIGTERM, ends its servers, and has exported spans and metrics", async () => {
    const exported: Array<readonly [url: string | undefined, body: unknown]> = []
    const collector = createServer(async (request, response) => {
      exported.push([request.url, await json(request)])
      response.end("{}")
    })
    await once(collector.listen(0, "127.0.0.1"), "listening")
    try {
      const child = spawn("node", [join(consumer, "NodeNext/examples/http-service/main.js")], {
        cwd: consumer,
        env: {
          ...process.env,
          XDG_CACHE_HOME: join(work, "cache"),
          PORT: "0",
          OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
        },
        stdio: ["ignore", "pipe", "inherit"]
      })
      const ended = once(child, "exit")
      const [line] = await once(child.stdout.setEncoding("utf8"), "data") as [string]
      const url = /^listening on (http:\S+)\n$/.exec(line)?.[1]
      const post = async (path: string, body: unknown) => {
        const headers = { "content-type": "application/json" }
        const response = await fetch(`${url}/${path}`, { method: "POST", headers, body: JSON.stringify(body) })
        return [response.status, await response.text()] as const
      }
      assert.deepStrictEqual(await post("sums", { a: 2, b: 40 }), [200, "{\"sum\":42}"])
      assert.match((await post("sums", { a: "two" })).join(), /^400,/)
      const slow = post("countdowns", { from: 10 })
      while (!(await (await fetch(`${url}/health`)).text()).includes("\"callsInFlight\":1")) await setTimeout(10)
      const server = join(consumer, "node_modules/effect-mcp-runtime/dist/demo/DemoServer.js")
      assert.strictEqual(pidsWithArgument(server).length, 1)
      child.kill("SIGTERM")
      assert.match((await slow).join(), /^200,.*Lift-off/)
      assert.deepStrictEqual(await ended, [0, null])
      assert.deepStrictEqual(pidsWithArgument(server), [])
    } finally {
      collector.close()
    }

    const bodies = (path: string) => exported.flatMap(([url, body]) => url === path ? [body] : [])
    const spans = bodies("/v1/traces").flatMap((body) => (body as Traces).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans).flatMap(({ spans }) => spans)
    const add = spans.find(({ name }) => name === "tools/call add")!
    const request = spans.find(({ name, spanId }) => name === "http.server POST" && spanId === add.parentSpanId)
    assert.isDefined(request, JSON.stringify(spans.map(({ name }) => name)))
    assert.strictEqual(add.traceId, request?.traceId)
    assert.match(JSON.stringify(bodies("/v1/metrics").at(-1)), /"mcp\.calls"/)
  })
})
