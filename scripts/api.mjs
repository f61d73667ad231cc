// Writes docs/api from the sources: `npm run docs`. With `--check` it writes nothing, and ends with 1 if a page is not
// what it would write; the folder behind `--check`, if there is one, has the declarations already. The compiler makes
// the declarations. TypeScript 7 has no stable API that reads them, so they are taken apart here, by the regular shape
// that the compiler and the formatter give them.
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const folder = join(root, "docs/api")
const program = (name) => join(root, "node_modules/.bin", name)

const emit = (outDir) => {
  const options = ["--emitDeclarationOnly", "--declarationMap", "false", "--noCheck", "--outDir", outDir]
  execFileSync(program("tsc"), ["-p", root, ...options], { cwd: root, stdio: ["ignore", "ignore", "inherit"] })
  return outDir
}

/** The declarations of every module that can be imported, by its path below `src` without the extension. */
const declarations = (emitted) => {
  const scratch = mkdtempSync(join(tmpdir(), "effect-mcp-runtime-api-"))
  try {
    const from = emitted ?? emit(join(scratch, "d"))
    const paths = readdirSync(from, { recursive: true })
      .map((file) => String(file).replaceAll("\\", "/"))
      .filter((file) => file.endsWith(".d.ts") && !/^cli\/|\binternal\/|^index\.|^demo\/main\./.test(file))
      .map((file) => file.replace(/\.d\.ts$/, ""))
      .toSorted()
    for (const path of paths) {
      const file = join(scratch, "f", `${path}.ts`)
      mkdirSync(dirname(file), { recursive: true })
      const declared = readFileSync(join(from, `${path}.d.ts`), "utf8")
      writeFileSync(file, declared.replace(/^\/\/# sourceMappingURL=.*$/m, ""))
    }
    const { includes: _, plugins, ...style } = JSON.parse(readFileSync(join(root, ".dprint.json"), "utf8"))
    const format = { ...style, plugins: plugins.map((plugin) => join(root, plugin)) }
    writeFileSync(join(scratch, "f/.dprint.json"), JSON.stringify(format))
    execFileSync(program("dprint"), ["fmt", "-c", ".dprint.json", "--log-level", "error", "**/*.ts"], {
      cwd: join(scratch, "f")
    })
    return new Map(paths.map((path) => [path, readFileSync(join(scratch, "f", `${path}.ts`), "utf8")]))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The text of a JSDoc block, without its tags, and the tags. */
const readDoc = (lines) => {
  const text = lines.join("\n").replace(/^\/\*\*/, "").replace(/\*\/$/, "").replaceAll(/^ *\* ?/gm, "").trim()
  const [about] = text.split(/^@/m)
  return {
    about: about.trim(),
    category: /^@category (.*)$/m.exec(text)?.[1],
    isInternal: /^@internal/m.test(text)
  }
}

/** The statements of a module that begin in the first column, each with the JSDoc above it. */
const statements = (text) => {
  const found = []
  let doc = []
  let inDoc = false
  for (const line of text.split("\n")) {
    if (inDoc) {
      doc.push(line)
      inDoc = !line.endsWith("*/")
    } else if (line.startsWith("/**")) {
      doc = [line]
      inDoc = !line.endsWith("*/")
    } else if (/^(export|declare|import)\b/.test(line)) {
      found.push({ doc: readDoc(doc), lines: [line] })
      doc = []
    } else if (line !== "") {
      found.at(-1).lines.push(line)
    }
  }
  return found.map(({ doc, lines }) => ({ doc, code: lines.join("\n") }))
}

/** The fields of an error, in the place of all that the compiler knows of its class. */
const brief = (base) => {
  const error = /^Schema\.TaggedErrorClass<[\s\S]*?\} & (\{[\s\S]*\})\s*>$/.exec(base)
  return error === null ? base : `Schema.TaggedError<${error[1].replaceAll(/^ {2}/gm, "")}>`
}

/** The class that the compiler gives a name of its own, because a class cannot extend an expression in a declaration. */
const withBase = (code, bases) => {
  const base = /\bextends (\w+_base)\b/.exec(code)?.[1]
  return base === undefined || !bases.has(base) ? code : code.replace(base, brief(bases.get(base)))
}

/** So many lines of a declaration are more than its source says. */
const longest = 40

/** The statements that make a constant: those that are spread into it, by their names, and then its own. */
const sourceOf = (path, name) => {
  const source = readFileSync(join(root, "src", `${path}.ts`), "utf8")
  const pattern = new RegExp(`^(?:export )?(const ${name} = [\\s\\S]*?)\\n(?=\\n|export |const )`, "m")
  const code = pattern.exec(source)?.[1]
  if (code === undefined) return []
  return [...Array.from(code.matchAll(/\.\.\.(\w+)/g), ([, part]) => part).flatMap((part) => sourceOf(path, part)), code]
}

const exported = (path, text) => {
  const all = statements(text)
  const bases = new Map(all.flatMap(({ code }) => {
    const base = /^declare const (\w+_base): ([\s\S]*)$/.exec(code)
    return base === null ? [] : [[base[1], base[2]]]
  }))
  return all.flatMap(({ code, doc }) => {
    if (!code.startsWith("export ") || code === "export {}" || doc.isInternal) return []
    const shown = withBase(code, bases).replace(/^export (declare )?/, "").replace(/ \{\s*\}$/, "")
    const name = /^(?:abstract )?(?:const|let|function|class|interface|type|namespace) (\w+)/.exec(shown)?.[1]
    const written = name !== undefined && shown.startsWith("const ") && shown.split("\n").length > longest
      ? sourceOf(path, name)
      : []
    const from = /^(?:\*|(?:type )?\{[^}]*\}) from "(.*)\.ts"/.exec(shown)?.[1]
    return [{ name, shown: written.at(-1) ?? shown, parts: written.slice(0, -1), from, ...doc }]
  })
}

/** What a module says of itself: the first comment of its source. */
const moduleDoc = (path) => {
  const source = readFileSync(join(root, "src", `${path}.ts`), "utf8")
  return readDoc((/\/\*\*[\s\S]*?\*\//.exec(source)?.[0] ?? "").split("\n")).about
}

const first = ["tags", "layers", "constructors", "models", "defaults", "errors"]
const byWeight = (one, other) => {
  const weight = (category) => (first.indexOf(category) + first.length + 1) % (first.length + 1)
  return weight(one) - weight(other) || one.localeCompare(other, "en")
}

const sentence = (text) => text.replaceAll(/\s*\n\s*/g, " ")

const titled = (path) => path.split("/").at(-1)

const page = (path, text, indexed) => {
  const exports = exported(path, text)
  const title = titled(path)
  const byPath = `import * as ${title} from "effect-mcp-runtime/${path}"`
  const lines = [
    `# ${title}`,
    "",
    moduleDoc(path),
    "",
    "```ts",
    ...(indexed.has(path) ? [`import { ${title} } from "effect-mcp-runtime" // or:`] : []),
    byPath,
    "```"
  ]
  const modules = [...new Set(exports.flatMap(({ from }) => from === undefined ? [] : [from]))]
  if (modules.length > 0) {
    const links = modules.map((from) => {
      const target = new URL(from, `file:///${path}`).pathname.slice(1)
      return target.includes("internal/") ? undefined : `[${titled(target)}](${titled(target)}.md)`
    }).filter((link) => link !== undefined)
    if (links.length > 0) lines.push("", `Gives on what is in ${links.join(", ")}.`)
  }
  const groups = new Map()
  for (const one of exports.filter(({ name }) => name !== undefined)) {
    const category = one.category ?? "others"
    groups.set(category, [...groups.get(category) ?? [], one])
  }
  for (const category of [...groups.keys()].toSorted(byWeight)) {
    const parts = new Set()
    const shown = groups.get(category).flatMap((one) => {
      const fresh = one.parts.filter((part) => !parts.has(part))
      for (const part of fresh) parts.add(part)
      const about = one.about.split("\n").map((line) => `// ${line}`.trimEnd()).join("\n")
      return [...fresh, one.about === "" ? one.shown : `${about}\n${one.shown}`]
    })
    lines.push("", `## ${category}`, "", "```ts", shown.join("\n\n"), "```")
  }
  return `${lines.join("\n")}\n`
}

const folders = [
  ["", "The runtime"],
  ["node", "Wired for Node.js"],
  ["config", "Configuration"],
  ["connection", "Connections"],
  ["resilience", "Resilience"],
  ["tools", "Tools"],
  ["safety", "Safety"],
  ["agent", "For models"],
  ["transport", "Transports"],
  ["observability", "Observability"],
  ["error", "Errors"],
  ["demo", "The demo server"]
]

/** Every page by its file name. */
const pages = (emitted) => {
  const all = declarations(emitted)
  const index = readFileSync(join(root, "src/index.ts"), "utf8")
  const indexed = new Set(Array.from(index.matchAll(/from "\.\/(.*)\.ts"/g), ([, path]) => path))
  const contents = [
    "# API",
    "",
    "One page for each module, made from the sources by `npm run docs`. A module is imported by its name from the index, or",
    "by its path; a path in the table below is a path behind `effect-mcp-runtime/`."
  ]
  for (const [name, title] of folders) {
    const paths = [...all.keys()].filter((path) => path.split("/").slice(0, -1).join("/") === name)
    contents.push("", `## ${title}`, "", "| Module | What it is | Path |", "|---|---|---|")
    for (const path of paths) {
      const [about] = moduleDoc(path).split("\n\n")
      contents.push(`| [${titled(path)}](${titled(path)}.md) | ${sentence(about).replaceAll("|", "\\|")} | \`${path}\` |`)
    }
  }
  return new Map([
    ["README.md", `${contents.join("\n")}\n`],
    ...Array.from(all, ([path, text]) => [`${titled(path)}.md`, page(path, text, indexed)])
  ])
}

const main = ([check, emitted]) => {
  const made = pages(emitted)
  mkdirSync(folder, { recursive: true })
  const there = readdirSync(folder)
  const stale = there.filter((name) => !made.has(name))
  const changed = [...made].filter(([name, text]) =>
    !there.includes(name) || readFileSync(join(folder, name), "utf8") !== text
  )
  if (check === "--check") {
    for (const name of [...stale, ...changed.map(([name]) => name)]) console.log(`docs/api/${name} is not up to date`)
    process.exitCode = stale.length + changed.length === 0 ? 0 : 1
    return
  }
  for (const name of stale) rmSync(join(folder, name))
  for (const [name, text] of changed) writeFileSync(join(folder, name), text)
  console.log(`docs/api: ${made.size} pages, ${changed.length} written, ${stale.length} removed`)
}

main(process.argv.slice(2))
