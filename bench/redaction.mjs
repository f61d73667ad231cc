/**
 * Redaction: the hidden secrets of the corpus by encoding, the changes to harmless texts, and the time. Part of `npm
 * run bench -- safety`, or `node bench/redaction.mjs` after a build.
 */
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8")

const corpus = (name) => JSON.parse(read(`test/fixtures/safety/${name}.json`))

const whole = ({ after, before, secret }) => ({
  text: [...before, ...secret, ...after].join(""),
  secret: secret.join("")
})

const json = (text) => JSON.stringify(text).slice(1, -1)

const html = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\"", "&quot;").replaceAll("'", "&#39;")

const encodings = {
  plain: (text) => text,
  "escaped for JSON": json,
  "escaped for HTML": html,
  base64: (text) => Buffer.from(text).toString("base64"),
  base64url: (text) => Buffer.from(text).toString("base64url"),
  hex: (text) => Buffer.from(text).toString("hex")
}

const row = (label, ...cells) => `  ${label.padEnd(34)}${cells.map((cell) => String(cell).padStart(12)).join("")}`

const percent = (met, of) => `${((100 * met) / of).toFixed(1)} %`

const duration = (text, run) => {
  const times = Array.from({ length: 5 }, () => {
    const began = performance.now()
    run(text)
    return performance.now() - began
  })
  return `${times.toSorted((left, right) => left - right)[2].toFixed(0)} ms`
}

/** The scores of redaction, as lines. */
export const redaction = (Redaction) => {
  const { text } = Redaction.make()
  const known = corpus("secrets").map((one) => ({ ...one, ...whole(one) }))
  const lines = ["redaction: secrets that are hidden"]
  const recall = (label, samples, written) => {
    const met = samples.filter((one) => {
      const told = text(written(one.text))
      return ![one.secret, json(one.secret), html(one.secret)].some((form) => told.includes(form)) &&
        (written(one.text) === one.text || told !== written(one.text))
    }).length
    lines.push(row(label, `${met}/${samples.length}`, percent(met, samples.length), "≥ 95 %"))
  }
  for (const [label, written] of Object.entries(encodings)) recall(label, known, written)
  const { benign, secrets } = corpus("secrets-unseen")
  recall("held out, tuned on once", secrets.map(whole), encodings.plain)
  const fresh = corpus("secrets-fresh")
  recall("by others, tuned on once", fresh.secrets.map(whole), encodings.plain)
  lines.push("redaction: harmless texts that are altered")
  const altered = (label, texts) =>
    lines.push(row(label, `${texts.filter((one) => text(one) !== one).length}/${texts.length}`, "", "0"))
  altered("negatives of the corpus", known.flatMap(({ negatives }) => negatives))
  altered("look-alikes", [...benign, ...fresh.benign])
  altered("injection, benign", corpus("injection-benign").cases.map((one) => one.text))
  altered("the lock file", [read("package-lock.json")])
  lines.push("redaction: time for 1 MB")
  const prose = "The quick brown fox reads the token of the key file; const a = b.c(d) { return 12345 }\n"
  const bytes = Buffer.from(Array.from({ length: 750_000 }, (_, at) => (at * 7919 + at * at * 31) % 251))
  lines.push(row("clean text", duration(prose.repeat(Math.ceil(1e6 / prose.length)), text), "", "< 100 ms"))
  lines.push(row("base64", duration(bytes.toString("base64"), text), "", "< 100 ms"))
  lines.push(row("the lock file, repeated", duration(read("package-lock.json").repeat(9).slice(0, 1e6), text), "", "< 100 ms"))
  const entry = `{"level":"info","msg":"GET \\"/v1/items?page=2\\" done","requestId":"8f14e45f-ceea-467a-9a36-dedd4bea2543"}\n`
  lines.push(row("log of JSON", duration(entry.repeat(Math.ceil(1e6 / entry.length)), text), "", "< 100 ms"))
  const each = (whole) => whole.split("\n").forEach((line) => text(line))
  lines.push(row("the same, line by line", duration(entry.repeat(Math.ceil(1e6 / entry.length)), each), "", "< 100 ms"))
  for (const name of ["token:x.", "password: ", "api_key=\"", "8Q~", "eyJ-", "dnkey-", "-----BEGIN PRIVATE KEY-----\n", "\\\"token\\\":"]) {
    const whole = name.repeat(Math.ceil(1e6 / name.length))
    lines.push(row(`nothing but ${name}`, duration(whole.slice(0, 5e5), text), duration(whole, text), "< 100 ms"))
  }
  return lines
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) {
  const dist = fileURLToPath(new URL("../build/modules/safety/Redaction.js", import.meta.url))
  console.log(redaction(await import(pathToFileURL(dist).href)).join("\n"))
}
