// Bundles the command line from its sources, with all that it needs: `node scripts/bundle.mjs [folder]`. What a command
// does not need is in pieces of its own, which are loaded when they are. The licences of all that is in it lie beside it.
import { build } from "esbuild"
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const outdir = process.argv[2] ?? join(root, "dist/bin")
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

rmSync(outdir, { recursive: true, force: true })

const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: { "mcp-runtime": "src/cli/bin.ts" },
  outdir,
  bundle: true,
  splitting: true,
  platform: "node",
  format: "esm",
  target: "node20.19",
  minify: true,
  // messages and logs name classes
  keepNames: true,
  legalComments: "eof",
  metafile: true,
  logLevel: "warning",
  define: { PACKAGE_VERSION: JSON.stringify(version) },
  // they speed up what does not need them, or count what the command line does not count
  external: ["bufferutil", "utf-8-validate", "gpt-tokenizer"],
  // some of what is bundled is CommonJS
  banner: { js: "import{createRequire as __createRequire}from\"node:module\";const require=__createRequire(import.meta.url);" }
})

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
writeFileSync(join(outdir, "LICENSES.txt"), `What mcp-runtime.js and its pieces contain, beside effect-mcp-runtime itself:\n\n${notices.join("\n---\n\n")}`)

const bin = join(outdir, "mcp-runtime.js")
if (!existsSync(bin)) throw new Error("nothing was bundled")
chmodSync(bin, 0o755)
