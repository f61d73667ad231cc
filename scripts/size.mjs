/**
 * How large the sources are, and how much of them an operation runs: `node scripts/size.mjs [--line | --json]`.
 *
 * - Lines and files per folder. A code line has something other than a comment on it. JSON files and modules that hold
 *   nothing but data (literals; a regular expression is code) are counted beside, and not as code lines.
 * - Public modules and names: those that `exports` of package.json lets be imported. A namespace counts as its members.
 * - The words that DESIGN §9 rules out, in `src` and in `docs`.
 * - The functions and files of ours that one warm call, one connect with its first list, and one refresh run
 *   (`scripts/walks.mjs`), without noise of timers.
 *
 * `--line` prints the totals in one line, `--json` everything, with the names of the functions.
 */
import { execFile, execFileSync } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { basename, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs, promisify } from "node:util"
import { SyntaxKind } from "typescript/unstable/ast"
import { createScanner } from "typescript/unstable/ast/scanner"
import { API, SymbolFlags } from "typescript/unstable/sync"

const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, line: { type: "boolean", default: false } }
})

const root = fileURLToPath(new URL("..", import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

// Counting lines

/** After one of these a slash divides; after anything else it begins a regular expression. */
const operands = new Set([
  SyntaxKind.Identifier,
  SyntaxKind.PrivateIdentifier,
  SyntaxKind.NumericLiteral,
  SyntaxKind.BigIntLiteral,
  SyntaxKind.StringLiteral,
  SyntaxKind.RegularExpressionLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateTail,
  SyntaxKind.CloseParenToken,
  SyntaxKind.CloseBracketToken,
  SyntaxKind.CloseBraceToken,
  SyntaxKind.ThisKeyword,
  SyntaxKind.SuperKeyword,
  SyntaxKind.NullKeyword,
  SyntaxKind.TrueKeyword,
  SyntaxKind.FalseKeyword
])

/** Calls `visit` with each token of a program. Comments and white space are no tokens. */
const eachToken = (text, visit) => {
  const scanner = createScanner(true, 0, text)
  /** The open braces within each template that is open. */
  const templates = []
  let isOperand = false
  for (;;) {
    let kind = scanner.scan()
    if (kind === SyntaxKind.EndOfFile) return
    if (kind === SyntaxKind.SlashToken || kind === SyntaxKind.SlashEqualsToken) {
      if (!isOperand) kind = scanner.reScanSlashToken()
    } else if (kind === SyntaxKind.TemplateHead) {
      templates.push(0)
    } else if (templates.length > 0 && kind === SyntaxKind.OpenBraceToken) {
      templates.push(templates.pop() + 1)
    } else if (templates.length > 0 && kind === SyntaxKind.CloseBraceToken) {
      const open = templates.pop()
      if (open === 0) kind = scanner.reScanTemplateToken(false)
      if (kind !== SyntaxKind.TemplateTail) templates.push(open === 0 ? 0 : open - 1)
    }
    visit(kind, scanner.getTokenStart(), scanner.getTokenEnd())
    // `!`, `++` and `--` after an operand do not change that it is an operand
    const isPostfix = [SyntaxKind.ExclamationToken, SyntaxKind.PlusPlusToken, SyntaxKind.MinusMinusToken].includes(kind)
    isOperand = operands.has(kind) || (isOperand && isPostfix)
  }
}

const countCodeLines = (text) => {
  const lines = text.split("\n")
  const hasCode = new Array(lines.length).fill(false)
  let line = 0
  let end = lines[0].length
  eachToken(text, (_, from, to) => {
    while (end < from) end += lines[++line].length + 1
    hasCode[line] = true
    while (end < to) {
      end += lines[++line].length + 1
      hasCode[line] = true
    }
  })
  return lines.filter((content, at) => hasCode[at] && content.trim() !== "").length
}

/** True for an expression of literals only. A property, an element or a spread may refer to a constant. */
const isData = (node) => {
  switch (node.kind) {
    case SyntaxKind.StringLiteral:
    case SyntaxKind.NoSubstitutionTemplateLiteral:
    case SyntaxKind.NumericLiteral:
    case SyntaxKind.BigIntLiteral:
    case SyntaxKind.TrueKeyword:
    case SyntaxKind.FalseKeyword:
    case SyntaxKind.NullKeyword:
    case SyntaxKind.ShorthandPropertyAssignment:
      return true
    case SyntaxKind.ArrayLiteralExpression:
      return node.elements.every((element) => element.kind === SyntaxKind.Identifier || isData(element))
    case SyntaxKind.ObjectLiteralExpression:
      return node.properties.every(isData)
    case SyntaxKind.PropertyAssignment:
      return node.initializer.kind === SyntaxKind.Identifier || isData(node.initializer)
    case SyntaxKind.SpreadElement:
    case SyntaxKind.SpreadAssignment:
      return node.expression.kind === SyntaxKind.Identifier || isData(node.expression)
    case SyntaxKind.AsExpression:
    case SyntaxKind.SatisfiesExpression:
      return isData(node.expression)
    case SyntaxKind.PrefixUnaryExpression:
      return isData(node.operand)
    case SyntaxKind.BinaryExpression:
      return node.operatorToken.kind === SyntaxKind.PlusToken && isData(node.left) && isData(node.right)
    case SyntaxKind.NewExpression:
      return ["Map", "Set"].includes(node.expression.text) && (node.arguments ?? []).every(isData)
    default:
      return false
  }
}

/** True for a module that has only constants of data. */
const isDataModule = ({ statements }) => {
  const types = [SyntaxKind.ImportDeclaration, SyntaxKind.InterfaceDeclaration, SyntaxKind.TypeAliasDeclaration]
  const rest = statements.filter(({ kind }) => !types.includes(kind))
  return rest.length > 0 && rest.every((statement) =>
    statement.kind === SyntaxKind.VariableStatement &&
    statement.declarationList.declarations.every(({ initializer }) => initializer !== undefined && isData(initializer))
  )
}

const isCode = (path) => /\.[cm]?[jt]s$/.test(path)

const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
  maxBuffer: 1 << 26
}).split("\0").filter((path) => (isCode(path) || path.endsWith(".json")) && existsSync(join(root, path)))

const zero = { files: 0, lines: 0, codeLines: 0, dataFiles: 0, dataLines: 0 }
const add = (a, b) => Object.fromEntries(Object.keys(zero).map((key) => [key, a[key] + b[key]]))

const measured = (path, isDataFile) => {
  const text = readFileSync(join(root, path), "utf8")
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0)
  if (isDataFile) return { ...zero, dataFiles: 1, dataLines: lines }
  return { ...zero, files: 1, lines, codeLines: countCodeLines(text) }
}

const byFolder = (paths, folderOf, isDataFile) => {
  const folders = {}
  for (const path of paths.toSorted()) {
    const folder = folderOf(path)
    folders[folder] = add(folders[folder] ?? zero, measured(path, isDataFile(path)))
  }
  return folders
}

// The public names

/** The import subpaths of the package, each with its source file. */
const entryPoints = (sources, { rootDir }) => {
  const built = new Map(
    sources.map((path) => {
      const name = relative(rootDir, join(root, path)).replace(/\.ts$/, ".js")
      return [`./dist/${name}`, path]
    })
  )
  return Object.entries(manifest.exports).flatMap(([subpath, target]) => {
    const path = built.get(target)
    return path === undefined ? [] : [{ subpath, path }]
  })
}

const namesOf = ({ checker, program }, entries) => {
  const names = new Set()
  for (const { path } of entries) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(join(root, path)))
    for (const symbol of module === undefined ? [] : checker.getExportsOfModule(module)) {
      const target = (symbol.flags & SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)
      if ((target.flags & SymbolFlags.ValueModule) === 0) names.add(`${module.name}#${symbol.name}`)
      else for (const { name } of checker.getExportsOfModule(target)) names.add(`${target.name}#${name}`)
    }
  }
  return names.size
}

// The words, and what runs

const countWords = (folder) => {
  const words = "somebody|nobody|whoever|anybody|everybody|anyone|someone"
  try {
    const found = execFileSync("git", ["grep", "-hIiwoE", words, "--", folder], { cwd: root, encoding: "utf8" })
    return found.split("\n").length - 1
  } catch (error) {
    if (error.status === 1) return 0
    throw error
  }
}

/** The package as users import it, built in a separate folder because `dist` may be old or missing. */
const measureWalks = async (entries) => {
  const node = entries.find(({ path }) => basename(path) === "NodeMcpRuntime.ts")
  if (node === undefined) throw new Error("package.json exports no module called NodeMcpRuntime")
  const cache = join(root, "node_modules/.cache/effect-mcp-runtime")
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, "size-"))
  const run = (script, ...args) =>
    promisify(execFile)(process.execPath, [join(root, script), ...args], { cwd: root, maxBuffer: 1 << 26 })
  try {
    copyFileSync(join(root, "package.json"), join(folder, "package.json"))
    const emit = ["--noCheck", "--declaration", "false"]
    await run("node_modules/typescript/bin/tsc", ...emit, "--outDir", join(folder, "dist"))
    const { stdout } = await run("scripts/walks.mjs", folder, node.subpath.slice(2))
    return JSON.parse(stdout)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const api = new API({ cwd: root })
try {
  const config = join(root, "tsconfig.json")
  const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects()
  const folder = relative(root, project.compilerOptions.rootDir)
  const sources = project.rootFiles.map((path) => relative(root, path))
  const entries = entryPoints(sources, project.compilerOptions)
  const walking = measureWalks(entries)
  walking.catch(() => undefined)

  const isSource = new Set(sources)
  const isDataFile = (path) =>
    path.endsWith(".json") || (isSource.has(path) && isDataModule(project.program.getSourceFile(join(root, path))))
  const [inside, outside] = [true, false].map((isInside) =>
    byFolder(
      files.filter((path) => path.includes("/") && path.startsWith(`${folder}/`) === isInside),
      (path) => isInside ? path.slice(folder.length + 1).replace(/^[^/]*$|\/.*$/, "") || "(root)" : path.split("/")[0],
      isDataFile
    )
  )
  const total = Object.values(inside).reduce(add, zero)
  const publicModules = new Set(entries.map(({ path }) => path)).size
  const publicNames = namesOf(project, entries)
  const words = { [folder]: countWords(folder), docs: countWords("docs") }
  const walks = await walking

  if (values.json) {
    console.log(JSON.stringify({ inside, outside, total, publicModules, publicNames, words, walks }, null, 2))
  } else if (values.line) {
    const called = Object.entries(walks).map(([name, { files, functions }]) => `${name} ${functions}/${files}`)
    console.log(
      `size of ${folder}: ${total.lines} lines, ${total.codeLines} of code, in ${total.files} files; ${total.dataLines} ` +
        `lines of data in ${total.dataFiles} files; ${publicNames} public names in ${publicModules} modules; ` +
        `${words[folder]} + ${words.docs} words of DESIGN §9 in ${folder} and docs; functions/files called: ${called.join(", ")}`
    )
  } else {
    const row = (name, cells) => console.log(name.padEnd(22) + cells.map((cell) => String(cell).padStart(12)).join(""))
    const table = (title, folders) => {
      row(title, ["files", "lines", "code lines", "data files", "data lines"])
      for (const [name, counts] of Object.entries(folders)) row(name, Object.values(counts))
      console.log()
    }
    table(folder, { ...inside, total })
    table(`outside of ${folder}`, outside)
    console.log(`${publicNames} public names in ${publicModules} public modules`)
    console.log(`${words[folder]} words in ${folder} and ${words.docs} in docs that DESIGN §9 rules out\n`)
    row("called by", ["functions", "files"])
    for (const [name, { files, functions }] of Object.entries(walks)) row(name, [functions, files])
  }
} finally {
  api.close()
}
