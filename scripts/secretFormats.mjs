/**
 * Writes `src/safety/secretFormats.json`, the formats of tokens that redaction knows, from two sources:
 *
 *     node scripts/secretFormats.mjs <gitleaks.toml> <licence> <commit>
 *
 * - the rules of gitleaks (MIT). `git show <commit>:config/gitleaks.toml` and `git show <commit>:LICENSE` give the files.
 * - `scripts/secretFormats.own.json`, rows of this project: `[id, pattern]` or `[id, pattern, keywords]`.
 *
 * A row is looked for by its keywords, and its pattern is tried where a keyword begins, by a regular expression that
 * backtracks. So that the time for a text stays linear, a pattern has bounded repetitions only, but for the last, which
 * can only succeed, and for one that no match can begin within. Rules that cannot be written so, and rules whose value
 * has no format of its own, are dropped and printed: names such as `ADOBE_KEY=` are read without a list of vendors.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { parse as parseToml } from "smol-toml"

const [config, licence, commit] = process.argv.slice(2)
if (commit === undefined) throw new Error("usage: node scripts/secretFormats.mjs <gitleaks.toml> <licence> <commit>")

// Reading a regular expression of RE2

class Unsupported extends Error {}

const classes = { d: "0-9", w: "0-9A-Za-z_", s: "\\s", "[:alnum:]": "0-9A-Za-z" }

/** Both cases of the letters of a class. */
const folded = (body) =>
  body.replace(/a-z/g, "A-Za-z").replace(/A-Z(?=.*A-Z)/, "").replace(/([a-z])-([a-z])/g, (range, from, to) =>
    from === "a" && to === "z" ? range : `${range}${range.toUpperCase()}`)

const parse = (source) => {
  let at = 0
  let foldsCase = false
  const take = (text) => source.startsWith(text, at) && (at += text.length) > 0

  const classBody = () => {
    let body = ""
    while (source[at] !== "]") {
      if (take("[:alnum:]")) body += classes["[:alnum:]"]
      else if (source[at] === "\\") {
        const escaped = source[at + 1]
        at += 2
        if (/[DSW]/.test(escaped)) throw new Unsupported("a class of all other characters")
        if (escaped === "x") {
          body += `\\x${source.slice(at, at += 2)}`
        } else body += classes[escaped] ?? (/[\]\\^-]/.test(escaped) ? `\\${escaped}` : escaped)
      } else body += source[at++]
    }
    at++
    return foldsCase ? folded(body) : body
  }

  const atom = () => {
    if (take("[")) {
      if (source[at] === "^") throw new Unsupported("a class of all other characters")
      return { kind: "class", body: classBody() }
    }
    if (take("\\b") || take("^") || take("$") || take("\\z")) return undefined
    if (take("(")) {
      const before = foldsCase
      if (take("?:")) { /* a plain group */ }
      else if (take("?i)")) {
        foldsCase = true
        return undefined
      } else if (take("?i:")) foldsCase = true
      else if (take("?-i:")) foldsCase = false
      else if (source[at] === "?") throw new Unsupported("a group with a name or other flags")
      const group = alternatives()
      if (!take(")")) throw new Unsupported("a group without an end")
      foldsCase = before
      return group
    }
    if (source[at] === "\\") {
      const escaped = source[at + 1]
      at += 2
      if (classes[escaped] !== undefined) return { kind: "class", body: classes[escaped] }
      if (/[a-z0-9]/i.test(escaped)) throw new Unsupported(`\\${escaped}`)
      return { kind: "char", char: escaped }
    }
    if (source[at] === ".") {
      // within the names of hosts, where gitleaks does not escape it
      if (/[a-z]/.test(source[at - 1] ?? "") && /[a-z]/.test(source[at + 1] ?? "")) return { kind: "char", char: source[at++] }
      throw new Unsupported("any character")
    }
    return { kind: "char", char: source[at++] }
  }

  const repeated = (item) => {
    const sized = /^(?:\{(\d+)(?:(,)(\d*))?\}|[?*+])\??/.exec(source.slice(at))
    if (sized === null) return item
    at += sized[0].length
    const [, min, comma, max] = sized
    const [least, most] = min === undefined
      ? { "?": [0, 1], "*": [0, Infinity], "+": [1, Infinity] }[sized[0][0]]
      : [Number(min), comma === undefined ? Number(min) : max === "" ? Infinity : Number(max)]
    return { kind: "repeat", item, min: least, max: most }
  }

  const sequence = () => {
    const items = []
    while (at < source.length && source[at] !== "|" && source[at] !== ")") {
      const item = atom()
      if (item !== undefined) items.push(repeated(item))
    }
    return { kind: "sequence", items: items.flatMap((item) => item.kind === "sequence" ? item.items : [item]) }
  }

  const alternatives = () => {
    const options = [sequence()]
    while (take("|")) options.push(sequence())
    return options.length === 1 ? options[0] : { kind: "alternatives", options }
  }

  const whole = alternatives()
  if (at < source.length) throw new Unsupported("a bracket without a beginning")
  return whole
}

// Writing one of JavaScript

const itemsOf = (node) => node.kind === "sequence" ? node.items : [node]

const written = (node) => {
  switch (node.kind) {
    case "char":
      return node.char.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&")
    case "class":
      return `[${node.body}]`
    case "sequence":
      return node.items.map(written).join("")
    case "alternatives":
      return `(?:${node.options.map(written).join("|")})`
    default: {
      const size = node.min === 0 && node.max === 1
        ? "?"
        : node.max === node.min
        ? `{${node.min}}`
        : `{${node.min},${node.max === Infinity ? "" : node.max}}`
      const inner = written(node.item)
      return `${node.item.kind === "sequence" ? `(?:${inner})` : inner}${size}`
    }
  }
}

const membersOf = (body) => {
  const pattern = new RegExp(`[${body}]`)
  return Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).filter((char) => pattern.test(char))
}

const mostKeywords = 64

/** Short texts are made longer with the characters of a class, if they say anything. */
const canGrow = (texts) => texts.every((text) => /[a-z0-9]{2}/i.test(text)) && texts.some((text) => text.length < 3)

/** The texts that a match can begin with, as far as they can be listed. */
const prefixes = (items) => {
  let found = [""]
  for (const item of items) {
    let next
    if (item.kind === "char") next = [item.char]
    else if (item.kind === "class" && canGrow(found)) next = membersOf(item.body)
    else if (item.kind === "alternatives") {
      const options = item.options.map((option) => prefixes(itemsOf(option)))
      const isWhole = options.every(({ isWhole }) => isWhole)
      next = options.flatMap(({ texts }) => texts)
      if (next.length * found.length > mostKeywords) return { texts: found, isWhole: false }
      if (!isWhole) return { texts: found.flatMap((text) => next.map((more) => text + more)), isWhole: false }
    } else if (item.kind === "repeat" && item.item.kind === "class" && item.min > 0 && canGrow(found)) {
      next = membersOf(item.item.body)
      if (next.length * found.length > mostKeywords) return { texts: found, isWhole: false }
      return { texts: found.flatMap((text) => next.map((more) => text + more)), isWhole: false }
    } else return { texts: found, isWhole: false }
    if (next.length * found.length > mostKeywords) return { texts: found, isWhole: false }
    found = found.flatMap((text) => next.map((more) => text + more))
  }
  return { texts: found, isWhole: true }
}

/** The longest repetition in the middle that a match may begin within. */
const longestWithin = 64

/** Repetitions other than the last. */
const inner = (items) =>
  items.flatMap((item, index) =>
    item.kind === "repeat" && index < items.length - 1 ? [item] : item.kind === "alternatives"
    ? item.options.flatMap((option) => inner([...itemsOf(option), { kind: "char", char: "" }]))
    : []
  )

/** A match starts neither after a word character nor within one of its own long repetitions. */
const boundary = (items) => {
  const bodies = new Set(["\\w"])
  for (const { item, max } of inner(items)) {
    if (item.kind === "class" && max > longestWithin) bodies.add(item.body)
    if (item.kind !== "class" && max > 4) throw new Unsupported("a repeated group")
  }
  return [...bodies].map((body) => body === "\\w" ? "(?<!\\w)" : `(?<![${body}])`).join("")
}

const isStrong = (prefix) => prefix.length >= 4 && /[-_.:/]/.test(prefix) || prefix.length >= 8

/** Vendors lengthen their tokens, and logs cut them: the last part of a token may be longer, and in part shorter. */
const loosened = (items, isStrongPrefix) => {
  const last = items.at(-1)
  if (last?.kind !== "repeat" || last.item.kind !== "class") {
    // `={0,2}`, and words that end some tokens
    return last?.kind === "repeat" && last.min === 0 ? loosened(items.slice(0, -1), isStrongPrefix) : items
  }
  if (last.max - last.min < 1 && last.min < 8) return items
  return [...items.slice(0, -1), { ...last, min: isStrongPrefix ? Math.min(last.min, 20) : last.min, max: Infinity }]
}

const rowOf = (id, items, { entropy, isContextual = false }) => {
  const { texts } = prefixes(items)
  const isStrongPrefix = texts.every(isStrong)
  if (isContextual && !isStrongPrefix) throw new Unsupported("the value has no format of its own")
  if (texts.some((text) => text.length < 3)) throw new Unsupported("begins with no literal text of three characters")
  const kept = loosened(items, isStrongPrefix)
  const pattern = `${boundary(kept)}${kept.map(written).join("")}`
  new RegExp(pattern, "dy")
  return {
    id,
    keywords: [...new Set(texts.map((text) => text.toLowerCase()))],
    pattern,
    ...(entropy === undefined || isStrongPrefix ? {} : { entropy })
  }
}

const optionsOf = (node) =>
  node.kind === "alternatives"
    ? node.options.flatMap(optionsOf)
    : node.items?.length === 1 && node.items[0].kind === "alternatives"
    ? optionsOf(node.items[0])
    : [node]

/** A row for each alternative, and the reasons for those without one. */
const rowsOf = (id, source, options = {}) => {
  const problems = []
  const rows = optionsOf(parse(source)).flatMap((option) => {
    try {
      return [rowOf(id, itemsOf(option), options)]
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error
      problems.push(error.message)
      return []
    }
  })
  return { rows, problems }
}

// The rules of gitleaks

const ends = [
  String.raw`(?:[\x60'"\s;]|\\[nr]|$|\b)`,
  String.raw`(?:[\x60'"\s;]|\\[nr]|$)`,
  String.raw`(?:[^\w-]|\z)`,
  String.raw`(?:[^a-zA-Z0-9+/]|\z)`
]

/** A name with the vendor in it, a sign, and the value. */
const context =
  /^(?:\[\\w\.-\]\{0,50\}\?\(\?i:\[\\w\.-\]\{0,50\}\?|\(\?i\)\[\\w\.-\]\{0,50\}\?).*\[\\x60'"\\s=\]\{0,5\}(?=\()/

/** Public by their purpose, or found by the names and the blocks that redaction reads itself. */
const unwanted = {
  "curl-auth-header": "headers are read by their names",
  "curl-auth-user": "a row of our own",
  "generic-api-key": "names are read without a list",
  jwt: "a row of our own, which begins with literal text",
  "twilio-api-key": "a row of our own, in lower case",
  "private-key": "a row of our own, which also finds a part of a key",
  "mailgun-pub-key": "public",
  "flutterwave-public-key": "public",
  "mapbox-api-token": "public",
  "facebook-access-token": "an id and a part of a percent-encoded text look the same",
  "lob-pub-api-key": "public"
}

const { rules } = parseToml(readFileSync(config, "utf8"))
const rows = []
const dropped = []
for (const { entropy, id, regex } of rules) {
  if (unwanted[id] !== undefined || regex === undefined) {
    dropped.push([id, unwanted[id] ?? "finds files by their names"])
    continue
  }
  const isContextual = context.test(regex)
  const source = ends.reduce((text, end) => text.replaceAll(end, ""), isContextual ? `(?i)${regex.replace(context, "")}` : regex)
  try {
    const { problems, rows: found } = rowsOf(id, source, { entropy, isContextual })
    rows.push(...found)
    if (found.length === 0) dropped.push([id, problems[0]])
    else for (const problem of problems) dropped.push([`${id}, in part`, problem])
  } catch (error) {
    if (!(error instanceof Unsupported)) throw error
    dropped.push([id, error.message])
  }
}

const own = JSON.parse(readFileSync(new URL("secretFormats.own.json", import.meta.url), "utf8")).flatMap(
  ([id, pattern, keywords]) => {
    if (keywords !== undefined) return { id, keywords, pattern }
    const { problems, rows } = rowsOf(id, pattern)
    if (problems.length > 0) throw new Error(`${id}: ${problems[0]}`)
    return rows
  }
)

const source = `https://github.com/gitleaks/gitleaks, config/gitleaks.toml at ${commit}, adapted by scripts/secretFormats.mjs`
const lines = [...own, ...rows].map((row) => `    ${JSON.stringify(row)}`)
writeFileSync(
  new URL("../src/safety/secretFormats.json", import.meta.url),
  `{
  "source": ${JSON.stringify(source)},
  "licence": ${JSON.stringify(readFileSync(licence, "utf8").trim())},
  "rows": [
${lines.join(",\n")}
  ]
}
`
)

for (const [id, reason] of dropped) console.log(`${id.padEnd(44)} ${reason}`)
console.log(`${rows.length} rows of ${rules.length} rules, ${own.length} rows of our own, ${dropped.length} rules dropped`)
