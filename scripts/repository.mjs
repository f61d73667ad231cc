/**
 * Writes the address of the repository into every document: `npm run repository`, after `repository.url` in package.json
 * was set. `homepage` holds the address that the documents have now. npm runs it before it packs; with `--publish` it only
 * refuses a repository of the placeholder OWNER.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const read = (file) => readFileSync(`${root}${file}`, "utf8")
const manifest = JSON.parse(read("package.json"))
const address = manifest.repository.url.replace(/^git\+/, "").replace(/\.git$/, "")

if (process.argv.includes("--publish")) {
  if (address.includes("/OWNER/")) {
    console.error(`This package cannot be published: OWNER in ${manifest.repository.url} is a placeholder.`)
    console.error("Set repository.url in package.json to the repository of the package.")
    process.exitCode = 1
  }
} else {
  const previous = manifest.homepage.replace(/#.*/, "")
  const documents = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md"]
    .concat(readdirSync(`${root}docs`).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`))
  for (const file of previous === address ? [] : documents) {
    const text = read(file)
    if (text.includes(previous)) writeFileSync(`${root}${file}`, text.replaceAll(previous, address))
  }
  const written = { ...manifest, homepage: `${address}#readme`, bugs: `${address}/issues` }
  if (previous !== address) writeFileSync(`${root}package.json`, `${JSON.stringify(written, null, 2)}\n`)
}
