/**
 * Tests the documents: compiles and runs their programs, parses their command lines and files, follows their links, and
 * compares their lists with the sources.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Console, Effect, Either, Logger } from "effect"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import * as Command from "../src/cli/Command.ts"
import { parse, sharedOptions } from "../src/cli/commandLine.ts"
import * as Commands from "../src/cli/Commands.ts"
import * as ExitCode from "../src/cli/ExitCode.ts"
import * as Unattended from "../src/cli/unattended.ts"
import * as ConfigFile from "../src/config/ConfigFile.ts"
import * as Dialect from "../src/config/Dialect.ts"
import * as Variables from "../src/config/environmentVariables.ts"
import * as McpError from "../src/McpError.ts"
import * as ReconnectPolicy from "../src/resilience/ReconnectPolicy.ts"
import { entryPoints, root, run, sources } from "./package/project.ts"
import * as Built from "./support/built.ts"
import * as Compiler from "./support/compiler.ts"
import { type Block, commands, documents, fence, leadsSomewhere, moduleOf, nameOf } from "./support/markdown.ts"

const folder = fileURLToPath(root)
const scratch = join(folder, "build", `docs-${process.pid}`)
const blocks = documents.flatMap((document) => document.blocks)
const programs = blocks.filter(({ language }) => language === "ts")
const place = ({ document, line }: Block): string => `${document}:${line}`

/** The options of the layers for Node, all of them optional. */
const options = `
import * as NodeAgent from "effect-mcp-runtime/node/NodeAgent"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import * as NodeMcpServe from "effect-mcp-runtime/node/NodeMcpServe"
type Some<A> = A extends object ? { readonly [Key in keyof A]?: A[Key] } : never
type Options = Some<
  | Parameters<typeof NodeMcpRuntime.layer>[0]
  | Parameters<typeof NodeMcpRuntime.layerConfigured>[0]
  | Parameters<typeof NodeAgent.layer>[0]
  | Parameters<typeof NodeMcpServe.make>[0]
>
export const options: Options =`

/**
 * Code in the prose that configures something, as programs: an option (`pins: { mode: "warn" }`) or a call with options
 * (`Redaction.layer({ … })`). A name without a value (`trust: { key }`) stands for any value.
 */
const fragments = documents.flatMap(({ name, text }) =>
  Array.from(text.replaceAll(fence, "").matchAll(/`([^`\n…]*\{[^`\n…]*)`/g), ([, code]) => code!).flatMap((code) => {
    const valued = code.replaceAll(/(?<=[{,] *)(\w+)(?= *[,}])/g, "$1: undefined as never")
    if (/^[a-z]\w*: \{.*\}$/.test(code)) return [{ name, code, program: `${options} { ${valued} }` }]
    const callee = /^([A-Z]\w*)\.\w+\(\{.*\}\)$/.exec(code)?.[1]
    const module = sources.find(({ path }) => path.endsWith(`/${callee}.ts`))?.path.replace(/\.ts$/, "")
    return module === undefined
      ? []
      : [{ name, code, program: `import * as ${callee} from "effect-mcp-runtime/${module}"\n${valued}` }]
  })
)

/** The same over the sources, so that it runs without a build. */
const overSources = (code: string): string =>
  code.replaceAll(
    /(?<=from |import\()"(effect-mcp-runtime[^"]*)"/g,
    (_, specifier: string) => JSON.stringify(join(folder, "src", entryPoints.get(specifier) ?? specifier))
  )

beforeAll(() => {
  for (const part of ["programs", "runs", "fragments"]) mkdirSync(join(scratch, part), { recursive: true })
  for (const block of programs) {
    const code = moduleOf(block)
    writeFileSync(join(scratch, "programs", `${nameOf(block)}.ts`), code)
    if (block.runs) {
      writeFileSync(join(scratch, "runs", `${nameOf(block)}.ts`), `${overSources(code)}\nexport default program\n`)
    }
  }
})

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

describe("the documents", () => {
  it("are found, with their programs", () => {
    assert.isAbove(documents.length, 12)
    assert.isAbove(programs.length, 30)
    assert.isAbove(programs.filter(({ runs }) => runs).length, 8)
  })

  it("have programs that compile, and generated parts that are up to date", async () => {
    await Built.modules()
    const [errors, generated] = await Promise.all([
      Compiler.errorsIn(join(scratch, "programs")),
      run("node", ["scripts/docs.mjs", "--check"])
    ])
    assert.deepStrictEqual(errors, [])
    assert.strictEqual(generated.stdout, "", "run npm run docs")
    assert.strictEqual(generated.status, 0, generated.stderr)
  }, 60_000)

  it("show contributors rows of the tables, and a command that compiles", async () => {
    const { text } = documents.find(({ name }) => name === "CONTRIBUTING.md")!
    const shown = Array.from(text.matchAll(fence), ([, language, code]) => language === "js" ? [code!] : []).flat()
    const [command, ...others] = shown.filter((code) => code.includes("Command.Command"))
    assert.lengthOf(others, 0)
    const plain = (code: string) => code.replaceAll(/\s+/g, " ").trim()
    const tables = ["config/fields.ts", "config/hosts.ts"].map((path) =>
      sources.find((source) => source.path === path)!.text
    )
    for (const row of shown.filter((code) => !/import\b/.test(code))) assert.include(plain(tables.join()), plain(row))
    mkdirSync(join(scratch, "contributing"), { recursive: true })
    const folder = join(await Built.modules(), "cli")
    const module = command!.replaceAll(
      /(?<=from )"\.\.\/(\w+)\.ts"/g,
      (_, name) => JSON.stringify(join(folder, `${name}.js`))
    )
    writeFileSync(join(scratch, "contributing", "ping.ts"), module)
    assert.deepStrictEqual(await Compiler.errorsIn(join(scratch, "contributing")), [])
  }, 60_000)

  it("name options in their prose that compile", async () => {
    assert.isAbove(fragments.length, 10)
    for (const [at, { program }] of fragments.entries()) {
      writeFileSync(join(scratch, "fragments", `${at}.ts`), program)
    }
    const errors = await Compiler.errorsIn(join(scratch, "fragments"))
    const wrong = errors.map((line) => {
      const fragment = fragments[Number(/(\d+)\.ts\(/.exec(line)![1])]!
      return `${fragment.name}: ${fragment.code}: ${line}`
    })
    assert.deepStrictEqual(wrong, [])
  }, 60_000)

  for (const block of programs.filter(({ runs }) => runs)) {
    it(`have a program at ${place(block)} that prints the output below it`, async () => {
      const module: { readonly default: Effect.Effect<unknown, unknown> } = await import(
        pathToFileURL(join(scratch, "runs", `${nameOf(block)}.ts`)).href
      )
      const printed: Array<string> = []
      const log = (...args: ReadonlyArray<unknown>) =>
        Effect.sync(() => {
          printed.push(args.map((arg) => typeof arg === "string" ? arg : JSON.stringify(arg)).join(" "))
        })
      const console = await Effect.runPromise(Console.consoleWith((console) => Effect.succeed({ ...console, log })))
      await Effect.runPromise(
        module.default.pipe(
          Effect.withConsole(console),
          Effect.provide(Logger.replace(Logger.defaultLogger, Logger.none)),
          Effect.timeout("10 seconds")
        )
      )
      assert.strictEqual(printed.join("\n"), block.output?.trimEnd() ?? "")
    })
  }

  it("have command lines that the program parses", async () => {
    const lines = blocks.filter(({ language }) => language === "sh").flatMap((block) =>
      commands(block.code).map((argv) => ({ argv, block }))
    )
    const ours = lines.flatMap(({ argv, block }) => {
      const at = ["mcp-runtime", "npx effect-mcp-runtime"].findIndex((command) =>
        `${argv.join(" ")} `.startsWith(`${command} `)
      )
      return at < 0 ? [] : [{ argv: argv.slice(at + 1), block }]
    })
    assert.isAbove(ours.length, 30)
    for (const { argv, block } of ours) {
      const read = await Effect.runPromise(Effect.either(parse(argv, Commands.all)))
      const said = Either.isLeft(read) ? read.left.message : ""
      assert.isTrue(Either.isRight(read), `${place(block)}: mcp-runtime ${argv.join(" ")}: ${said}`)
    }
    const { scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
    for (const { argv, block } of lines) {
      const at = argv.indexOf("run")
      if (argv[at - 1] === "npm") assert.property(scripts, argv[at + 1]!, place(block))
    }
  })

  it("name the counterpart of each mcporter command", () => {
    const page = documents.find(({ name }) => name === "docs/migrating.md")!.text
    const named = (pattern: RegExp) => Array.from(page.matchAll(pattern), ([, command]) => command!)
    const rows = named(/^\| `mcporter (\w+)[^|]*\| `mcp-runtime /gm)
    const both = named(/`mcporter (\w+)/g).filter((command) => Commands.all.some(({ name }) => name === command))
    assert.includeMembers(both, ["list", "serve"])
    assert.deepStrictEqual(both.filter((command) => !rows.includes(command)), [])
    assert.notMatch(page, /this package has not: [^.]*\bthe server side\b/)
  })

  it("have configuration files without issues", async () => {
    const files = blocks.filter(({ file }) => file !== undefined)
    assert.isAbove(files.length, 3)
    for (const block of files) {
      const { issues } = await Effect.runPromise(
        ConfigFile.decode(new TextEncoder().encode(block.code), {
          host: block.file!.host,
          scope: "user",
          origin: "home",
          path: `/home/me/${block.file!.name}`
        })
      )
      assert.deepStrictEqual(issues.map(({ message }) => message), [], place(block))
    }
  })

  it("link to existing files and headings", () => {
    const broken = documents.flatMap(({ links, name }) =>
      links.filter((link) => !leadsSomewhere(link)).map((link) => `${name} links to ${link}`)
    )
    assert.deepStrictEqual(broken, [])
  })

  it("name modules that exist", () => {
    const paths = new Set(sources.map(({ path }) => path))
    const pages = documents.filter(({ name }) =>
      /^(CONTRIBUTING|docs\/(architecture|lifecycle|write-a-layer))\.md$/.test(name)
    )
    const named = pages.flatMap(({ text }) =>
      Array.from(text.replaceAll(fence, "").matchAll(/`([\w/.-]+\/[\w.-]*\.(?:ts|mjs|json))`/g), ([, path]) => path!)
    )
    assert.isAbove(named.length, 50)
    const missing = named.filter((path) => !paths.has(path) && !existsSync(join(folder, path)))
    assert.deepStrictEqual(missing, ["src/cli/commands/ping.ts"])
  })

  it("name existing members of public modules", () => {
    const published = new Map(
      Array.from(entryPoints.values(), (path) => [path.replace(/^.*\/|\.ts$/g, ""), path] as const)
    )
    const named = documents.flatMap(({ name: page, text }) =>
      Array.from(text.replaceAll(fence, "").matchAll(/`([A-Z]\w+)\.([a-z]\w*)/g)).flatMap(([, module, member]) => {
        const path = published.get(module!)
        return path === undefined ? [] : [{ page, path, member: member! }]
      })
    )
    assert.isAbove(named.length, 60)
    for (const { member, page, path } of named) {
      const { text } = sources.find((source) => source.path === path)!
      assert.match(text, new RegExp(`\\b${member}\\b`), `${page}: ${path} has no ${member}`)
    }
  })

  it("quote the banner of serve", () => {
    const options = ["--allow 'demo/*'", "--caller-decides"]
    const banner = Unattended.banner({ allows: "read-only", trusted: ["demo"], allow: [], options })
    assert.include(documents.find(({ name }) => name === "docs/serving.md")!.text, banner.join("\n"))
  })

  it("quote the messages of refused calls", () => {
    const refusals: ReadonlyArray<
      Omit<ConstructorParameters<typeof McpError.PermissionDenied>[0], "server" | "kind" | "name">
    > = [
      { why: "unanswered", allow: "files/write_file" },
      { why: "unanswered", rule: "files/*" },
      { why: "rule", rule: "files/write_*" },
      { why: "refused" },
      { why: "too-long", length: 200_000, limit: 100_000, allow: "files/write_file" },
      { why: "crowded" },
      { why: "quarantined", changed: ["/description"] },
      { why: "changed" },
      { why: "policy", decision: "denied" },
      { why: "policy", decision: "not-allowed" }
    ]
    const page = documents.find(({ name }) => name === "docs/why-was-my-call-refused.md")!.text
    const rows = Array.from(
      page.matchAll(/^\| `(?!why)([a-z-]+)` \| ([^|]+) \| [^|]+ \|$/gm),
      ([, why, quoted]) => ({ why, quoted: quoted! })
    )
    assert.deepStrictEqual(rows.map(({ why }) => why), refusals.map(({ why }) => why))
    for (const [at, { quoted }] of rows.entries()) {
      const refusal = { server: "files", kind: "tool", name: "write_file", ...refusals[at]! } as const
      const { message } = new McpError.PermissionDenied(refusal)
      const parts = quoted.split("…").map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
      assert.match(message, new RegExp(parts.join(".*")))
    }
  })

  it("name every host, event, status, metric, preset and inherited variable", () => {
    const textOf = (name: string) => documents.find((document) => document.name === name)!.text
    const named = (path: string, pattern: RegExp) =>
      Array.from(sources.find((source) => source.path === path)!.text.matchAll(pattern), ([, name]) => name!)
    const all: ReadonlyArray<readonly [page: string, names: ReadonlyArray<string>, least: number]> = [
      ["docs/configure.md", Dialect.all.map(({ host }) => host).filter((host) => host !== "native"), 40],
      [
        "docs/configure.md",
        named("config/variableNames.ts", /\b(HOME|LANG|LOGNAME|SHELL|TERM|TMPDIR|TZ|USER)\b/g).filter((name) =>
          Variables.isInherited(name, "posix")
        ),
        8
      ],
      ["docs/observability.md", named("McpEvent.ts", /^ {2}([A-Z]\w+): (?:Of|\{|ServerStatus)/gm), 35],
      ["docs/observability.md", named("observability/RuntimeMetrics.ts", /"(mcp\.(?!server|method)[\w.]+)"/g), 9],
      ["docs/lifecycle.md", named("runtime/ServerStatus.ts", /^ {2}([A-Z]\w+): \{/gm), 9],
      ["docs/resilience.md", Object.keys(ReconnectPolicy.schedules), 4]
    ]
    for (const [page, names, least] of all) {
      assert.isAtLeast(names.length, least, page)
      for (const name of names) assert.include(textOf(page), `\`${name}\``, page)
    }
  })

  it("name every command, option and exit code of the command line", async () => {
    const text = documents.find(({ name }) => name === "docs/cli.md")!.text
    for (const { name, options } of await Effect.runPromise(Effect.forEach(Commands.all, Command.load))) {
      assert.include(text, `### ${name}\n`)
      for (const option of options) assert.include(text, `\`--${option.name}`, name)
    }
    for (const { name } of sharedOptions) assert.include(text, `\`--${name}`)
    for (const [code] of ExitCode.meanings) assert.include(text, `| ${code} |`)
  })
})
