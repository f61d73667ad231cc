import { assert, describe, it } from "@effect/vitest"
import { isInternal, type Source, sources } from "./project.ts"

const each = (about: (source: Source) => Iterable<string>): ReadonlyArray<string> =>
  sources.flatMap((source) => Array.from(about(source), (fault) => `${source.path}: ${fault}`))

const imported = ({ text }: Source): ReadonlyArray<string> =>
  Array.from(text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)"([^"\n]+)"/g), ([, specifier]) => specifier!)

const withoutComments = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")

const codeLines = (text: string): number =>
  withoutComments(text).split("\n").filter((line) => line.trim() !== "").length

const declaration = /^export (?:declare )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/

interface Documented {
  readonly name: string
  readonly doc: string
}

/** The exports of a module, each with the JSDoc block right above it (or an empty text). */
const documented = ({ text }: Source): ReadonlyArray<Documented> => {
  const lines = text.split("\n")
  return lines.flatMap((line, at) => {
    const name = declaration.exec(line)?.[1]
    if (name === undefined) return []
    let from = at - 1
    while (lines[from]?.startsWith("//") === true) from--
    if (lines[from] !== " */" && !/^\/\*\*.*\*\/$/.test(lines[from] ?? "")) return [{ name, doc: "" }]
    const end = from
    while (from >= 0 && !lines[from]!.startsWith("/**")) from--
    return [{ name, doc: lines.slice(from, end + 1).join("\n") }]
  })
}

const isPublic = ({ path }: Source): boolean => !isInternal(path)

describe("every module of src", () => {
  it("is found by this test", () => {
    assert.isAbove(sources.length, 15)
    assert.isAbove(sources.filter(isPublic).flatMap(documented).length, 80)
  })

  it("documents each public export with @since and exactly one @category in lower case plural", () => {
    const faults = each(function*(source) {
      if (!isPublic(source)) return
      for (const { doc, name } of documented(source)) {
        if (doc.match(/@since \d+\.\d+\.\d+/g)?.length !== 1) yield `${name} needs one @since`
        const categories = doc.match(/@category .*/g)
        if (categories?.length !== 1) yield `${name} needs one @category`
        else if (!/^@category [a-z ]+s$/.test(categories[0]!)) yield `${name} has an odd ${categories[0]}`
      }
    })
    assert.deepStrictEqual(faults, [])
  })

  it("marks each internal export as internal, unless a public module hands it on", () => {
    const faults = each((source) =>
      isPublic(source)
        ? []
        : documented(source).filter(({ doc }) => !/@internal|@category /.test(doc)).map(({ name }) => name)
    )
    assert.deepStrictEqual(faults, [])
  })

  it("begins, where it is public, with what it is about", () => {
    const faults = each((source) =>
      isPublic(source) &&
        !/^(#!.*\n)?(\/\/.*\n)*\/\*\*\n \* [^@\s].*\n( \*.*\n)* \* @since \d+\.\d+\.\d+\n \*\/\n/.test(source.text)
        ? ["needs a module comment with a sentence and @since"]
        : []
    )
    assert.deepStrictEqual(faults, [])
  })

  it("has at most 400 lines of code", () => {
    const faults = each(({ text }) => codeLines(text) > 400 ? [`${codeLines(text)} lines`] : [])
    assert.deepStrictEqual(faults, [])
  })

  it("is named after its concept: PascalCase in public, camelCase in internal, and never a drawer's name", () => {
    const faults = each(function*({ path }) {
      const parts = path.replace(/\.ts$/, "").split("/")
      const name = parts.at(-1)!
      const proper = isInternal(path) ? /^[a-z][A-Za-z0-9]*$/ : /^([A-Z][A-Za-z0-9]*|bin|index|main)$/
      if (!proper.test(name)) yield `${name} is written wrongly`
      const drawer = parts.find((part) => /^(utils?|helpers?|types?|common|shared|misc|managers?)$/i.test(part))
      if (drawer !== undefined) yield `${drawer} says nothing`
    })
    assert.deepStrictEqual(faults, [])
  })

  it("imports Effect by module and neighbours with their extension", () => {
    const faults = each((source) =>
      imported(source).filter((specifier) =>
        /^(effect|@effect\/[^/]+)$/.test(specifier) || (specifier.startsWith(".") && !specifier.endsWith(".ts"))
      )
    )
    assert.deepStrictEqual(faults, [])
  })

  it("keeps each foreign package behind the modules whose concern it is", () => {
    const homes: ReadonlyArray<readonly [pattern: RegExp, home: RegExp]> = [
      [
        /^@modelcontextprotocol\/client/,
        /^(connection\/(ClientConnector\.ts|internal\/client\w*\.ts)|auth\/internal\/oauth(Sdk|Library)\.ts)$/
      ],
      [/^@modelcontextprotocol\/sdk/, /^(connection\/(SdkConnector\.ts|internal\/sdk\w*\.ts)|demo\/)/],
      [/^@modelcontextprotocol\/server/, /^$/],
      [/^@effect\/platform-node/, /^(cli|node|demo)\//],
      [/^@effect\/cli/, /^cli\/internal\/(completions|wizard)\.ts$/],
      [/^ws$/, /^transport\/(WebSocketTransport\.ts|internal\/)/],
      [/^(ajv|re2js)/, /^tools\//],
      [/^@effect\/ai(\/|$)/, /^agent\/AiToolkit\.ts$/],
      [/^(ai|@ai-sdk\/.*)(\/|$)/, /^agent\/AiSdk\.ts$/],
      [/^@langchain\//, /^agent\/LangChain\.ts$/],
      [/^(smol-toml|js-yaml)/, /^config\/internal\//],
      [/^@napi-rs\//, /^node\/internal\/keyringModule\.ts$/],
      [/^gpt-tokenizer/, /^safety\/internal\/tiktoken\.ts$/],
      [
        /^node:(https?|zlib)$/,
        /^(transport\/internal\/|node\/internal\/callbackServer\.ts$|node\/NodeHttpListener\.ts$|auth\/internal\/guardedFetchExchange\.ts$)/
      ],
      [/^node:dns$/, /^auth\/internal\/guardedFetchLookup\.ts$/]
    ]
    const faults = each((source) =>
      imported(source).filter((specifier) =>
        homes.some(([pattern, home]) => pattern.test(specifier) && !home.test(source.path))
      )
    )
    assert.deepStrictEqual(faults, [])
  })

  it("reaches into no other folder's internals", () => {
    const faults = each((source) =>
      imported(source).filter((specifier) => {
        if (!specifier.startsWith(".") || !specifier.includes("internal/")) return false
        const target = new URL(specifier, `file:///${source.path}`).pathname.slice(1)
        const owner = target.slice(0, target.indexOf("internal/"))
        return !source.path.startsWith(owner)
      })
    )
    assert.deepStrictEqual(faults, [])
  })

  it("writes to stdout only where it serves over it, and logs only through the log of the runtime", () => {
    const homes: ReadonlyArray<readonly [pattern: RegExp, home: string]> = [
      [/\bprocess\.stdout\b|\bstdout\b[^=\n]*\} = process\b/g, "node/NodeStdioLink.ts"],
      [/\bEffect\.log\w*/g, "internal/runtimeLog.ts"],
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

describe("the index", () => {
  it("is namespace re-exports of every public module that needs no optional package, and nothing else", () => {
    const index = withoutComments(sources.find(({ path }) => path === "index.ts")!.text)
    const expected = sources
      .filter((source) =>
        isPublic(source) &&
        !/^(index\.ts$|cli\/|node\/|demo\/|error\/|agent\/(AiToolkit|AiSdk|LangChain)\.ts$)/.test(source.path)
      )
      .map(({ path }) => `export * as ${path.split("/").at(-1)!.replace(".ts", "")} from "./${path}"`)
    assert.sameMembers(index.split("\n").filter((line) => line.trim() !== ""), expected)
  })
})
