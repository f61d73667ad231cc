// Bundles the command line from its sources, with all that it needs: `node scripts/bundle.mjs [folder]`. What a command
// does not need is in the bundle, and is not run. The licences of all that is in it lie beside it.
import { build } from "esbuild"
import { createHash } from "node:crypto"
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const outdir = process.argv[2] ?? join(root, "dist/bin")
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

const { metafile, outputFiles: [bundle] } = await build({
  absWorkingDir: root,
  entryPoints: ["src/cli/bin.ts"],
  outdir,
  write: false,
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20.19",
  charset: "ascii",
  minify: true,
  legalComments: "eof",
  metafile: true,
  logLevel: "warning",
  // a script that is compiled from a cache has no way to load modules but `require`
  supported: { "dynamic-import": false },
  alias: {
    "@modelcontextprotocol/client/_shims": "./scripts/clientShims.mjs",
    // its main module requires its parts by a parameter, which cannot be bundled
    "jsonc-parser": "jsonc-parser/lib/esm/main.js"
  },
  define: { PACKAGE_VERSION: JSON.stringify(version), "import.meta.url": "__url" },
  // they speed up what does not need them, count what the command line does not count, or are machine code
  external: ["bufferutil", "utf-8-validate", "gpt-tokenizer", "@napi-rs/keyring"]
})

// esbuild leaves other characters in regular expressions, where an escape of each code unit means the same
const program = bundle.text.replace(/^#!.*\n/, "").replace(
  /[^\u0000-\u007f]/g,
  (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
)
const url = "const __url=require(\"node:url\").pathToFileURL(__filename).href;"
const text = `(function(require,__filename){${url}const module={exports:{}};let exports=module.exports;${program}\n})`
const id = createHash("sha256").update(text).digest("hex").slice(0, 32)

/** The folders of the packages that anything was taken from. */
const packages = new Set(
  Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput === 0 ? [] : /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []
    )
  )
)

const notices = [...packages].toSorted().map((folder) => {
  const at = join(root, folder)
  const { license, name, version } = JSON.parse(readFileSync(join(at, "package.json"), "utf8"))
  const file = readdirSync(at).find((one) => /^licen[cs]e(\.|$)/i.test(one))
  const text = file === undefined ? "" : `\n\n${readFileSync(join(at, file), "utf8").trim()}`
  return `${name} ${version} (${license})${text}\n`
})

const { licence, source } = JSON.parse(readFileSync(join(root, "src/safety/secretFormats.json"), "utf8"))
notices.push(`${source}\n\n${licence}\n`)

rmSync(outdir, { recursive: true, force: true })
mkdirSync(outdir, { recursive: true })
writeFileSync(
  join(outdir, "LICENSES.txt"),
  `What mcp-runtime.bundle.cjs contains, beside effect-mcp-runtime itself:\n\n${notices.join("\n---\n\n")}`
)
writeFileSync(join(outdir, "mcp-runtime.bundle.cjs"), text)
const launcher = readFileSync(join(root, "scripts/launcher.cjs"), "utf8").replaceAll("BUILD_ID", () => id)
writeFileSync(join(outdir, "mcp-runtime.cjs"), launcher)
chmodSync(join(outdir, "mcp-runtime.cjs"), 0o755)
