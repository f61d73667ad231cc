/**
 * The documents of the project as their readers see them: blocks of code, and where links lead.
 *
 * What stands in a comment above a block is about the block:
 *
 * - `<!-- preamble … -->`: what a program needs that a reader need not see; a line `// here` in it is where the block goes.
 * - `<!-- run -->`: its `program` is run, and prints what the next block of text says.
 * - `<!-- file: NAME [as HOST] -->`: it is a configuration file.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { posix } from "node:path"
import { root } from "../package/project.ts"

/** A block of code. */
export interface Block {
  readonly document: string
  /** Of its fence. */
  readonly line: number
  readonly language: string
  readonly code: string
  readonly preamble: string | undefined
  readonly runs: boolean
  readonly file: { readonly name: string; readonly host: string } | undefined
  /** The block of text right below it. */
  readonly output: string | undefined
}

/** A document: its path in the project, and what is in it. */
export interface Document {
  readonly name: string
  readonly text: string
  readonly blocks: ReadonlyArray<Block>
  /** The places of this project that it links to, as paths with the heading behind `#`. */
  readonly links: ReadonlyArray<string>
}

/** A block of code in a text, with its language. */
export const fence = /^```(\w*)\n([\s\S]*?)^```$/gm

/** The comments that stand right above, nearest last. */
const commentsAbove = (text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  let rest = text
  for (;;) {
    const comment = /<!--((?:(?!-->)[\s\S])*)-->\s*$/.exec(rest)
    if (comment === null) return found
    found.unshift(comment[1]!)
    rest = rest.slice(0, comment.index)
  }
}

const blocksOf = (document: string, text: string): ReadonlyArray<Block> => {
  const found = Array.from(text.matchAll(fence))
  return found.map((match, index) => {
    const [whole, language, code] = match
    const end = match.index + whole.length
    const next = found[index + 1]
    const comments = commentsAbove(text.slice(0, match.index))
    const file = comments.map((comment) => /^ file: (\S+)(?: as (\S+))? $/.exec(comment)).find((one) => one !== null)
    return {
      document,
      line: text.slice(0, match.index).split("\n").length,
      language: language!,
      code: code!,
      preamble: comments.find((comment) => comment.startsWith(" preamble\n"))?.slice(" preamble\n".length),
      runs: comments.includes(" run "),
      file: file === undefined || file === null ? undefined : { name: file[1]!, host: file[2] ?? "native" },
      output: next?.[1] === "text" && text.slice(end, next.index).trim() === "" ? next[2] : undefined
    }
  })
}

const { homepage = "https://" } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
  readonly homepage?: string
}

/** What an address of a file in the project's repository begins with: such a link leads to a file that is not packed. */
const repository = `${homepage.replace(/#.*/, "")}/blob/main/`

const targetsOf = (text: string): ReadonlyArray<string> =>
  Array.from(text.replaceAll(fence, "").matchAll(/\]\(([^)\s]+)\)/g), ([, target]) => target!)

/** The relative links of a document, as paths in its package. */
export const relativeLinks = (name: string, text: string): ReadonlyArray<string> =>
  targetsOf(text).filter((target) => !/^https?:/.test(target)).map((target) => {
    const [path, heading] = target.split("#")
    const file = path === "" ? name : posix.join(posix.dirname(name), path!)
    return heading === undefined ? file : `${file}#${heading}`
  })

const linksOf = (name: string, text: string): ReadonlyArray<string> => [
  ...relativeLinks(name, text),
  ...targetsOf(text).filter((target) => target.startsWith(repository)).map((target) => target.slice(repository.length))
]

const names = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...readdirSync(new URL("docs", root)).filter((name) => name.endsWith(".md")).toSorted().map((name) => `docs/${name}`)
]

/** Those that are written by hand. */
export const documents: ReadonlyArray<Document> = names.map((name) => {
  const text = readFileSync(new URL(name, root), "utf8")
  return { name, text, blocks: blocksOf(name, text), links: linksOf(name, text) }
})

/** A heading as GitHub names it in an address. */
const anchor = (heading: string): string =>
  heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").trim().replaceAll(" ", "-")

/** Whether there is such a file, and such a heading in it. */
export const leadsSomewhere = (link: string, base: URL = root): boolean => {
  const [path, heading] = link.split("#")
  if (!existsSync(new URL(path!, base))) return false
  if (heading === undefined) return true
  const text = readFileSync(new URL(path!, base), "utf8").replaceAll(fence, "")
  return Array.from(text.matchAll(/^#+ (.*)$/gm), ([, title]) => anchor(title!)).includes(heading)
}

const word = /"((?:[^"\\]|\\.)*)"|'([^']*)'|[^\s"']+/g

/** The commands of a script, each as its words: without comments, and up to what its output goes into. */
export const commands = (script: string): ReadonlyArray<ReadonlyArray<string>> =>
  script.split(/\n|&&/).flatMap((line) => {
    const words: Array<string> = []
    let end = -1
    for (const match of line.matchAll(word)) {
      const [text, double, single] = match
      if (double === undefined && single === undefined && /^(#|[<>|]|2>)/.test(text)) break
      const value = double?.replaceAll(/\\(.)/g, "$1") ?? single ?? text
      if (match.index === end) words.push(`${words.pop() ?? ""}${value}`)
      else words.push(value)
      end = match.index + text.length
    }
    return words.length === 0 ? [] : [words]
  })

/** The name of a block as a file. */
export const nameOf = ({ document, line }: Block): string => `${document.replaceAll(/[^\w]+/g, "-")}-${line}`

/** A program with its preamble, as a module. */
export const moduleOf = ({ code, preamble }: Block): string =>
  preamble === undefined
    ? code
    : /^\s*\/\/ here$/m.test(preamble)
    ? preamble.replace(/^\s*\/\/ here$/m, () => code)
    : `${preamble}\n${code}`
