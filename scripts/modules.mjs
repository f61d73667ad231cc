/**
 * Writes the modules of the package: `node scripts/modules.mjs [folder [declarations]]`, by default into `dist`.
 *
 * A module that `exports` of package.json names is an entry. All that the index loads is in one chunk, because loading one
 * file for each source costs an application a third of its start. The declarations that the entries reach are copied from
 * the folder of the compiler.
 */
import { transform } from "esbuild"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { dirname, isAbsolute, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { rollup } from "rollup"

const root = fileURLToPath(new URL("..", import.meta.url))
const [outdir = join(root, "dist"), declarations = join(root, "build/modules")] = process.argv.slice(2)
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const entries = Object.values(exports).flatMap((target) => /^\.\/dist\/(.*)\.js$/.exec(target)?.[1] ?? [])

// the command line is in `bin`, and scripts/bundle.mjs writes it
for (const name of existsSync(outdir) ? readdirSync(outdir) : []) {
  if (name !== "bin") rmSync(join(outdir, name), { recursive: true })
}
const index = join(root, "src/index.ts")
const ofIndex = new Set()
const bundle = await rollup({
  // the program of the demo is for clones only
  input: Object.fromEntries([...entries, "demo/main"].map((entry) => [entry, join(root, `src/${entry}.ts`)])),
  external: (id) => !id.startsWith(".") && !isAbsolute(id),
  plugins: [{
    name: "typescript",
    transform: async (text, file) => {
      if (file.endsWith(".json")) return { code: `export default ${text}`, map: null }
      const { code } = await transform(text, { loader: "ts", target: "node20.19", charset: "utf8", legalComments: "none" })
      return { code, map: null }
    },
    buildEnd() {
      const add = (file) => {
        if (ofIndex.has(file)) return
        ofIndex.add(file)
        for (const next of this.getModuleInfo(file)?.importedIds ?? []) add(next)
      }
      add(index)
    }
  }]
})
await bundle.write({
  dir: outdir,
  // a module that is imported on demand stays in a chunk of its own
  manualChunks: (file) => ofIndex.has(file) ? "core" : undefined,
  chunkFileNames: "chunks/[name].js",
  hoistTransitiveImports: false
})
await bundle.close()

const copied = new Set()
const copy = (path) => {
  const file = join(declarations, path)
  if (copied.has(path) || !existsSync(file)) return
  copied.add(path)
  mkdirSync(dirname(join(outdir, path)), { recursive: true })
  cpSync(file, join(outdir, path))
  for (const [, specifier] of readFileSync(file, "utf8").matchAll(/\b(?:from|import)[ (]"(\.[^"]+)\.[jt]s"/g)) {
    copy(relative(declarations, resolve(dirname(file), `${specifier}.d.ts`)))
  }
}
for (const entry of entries) copy(`${entry}.d.ts`)
