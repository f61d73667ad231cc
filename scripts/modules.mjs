/**
 * Writes the modules of the package: `node scripts/modules.mjs [folder [declarations]]`, by default into `dist`.
 *
 * A module that `exports` of package.json names is an entry; what they share is in chunks, because loading one file for
 * each source costs an application a third of its start. The declarations that the entries reach are copied from a folder
 * in which the compiler has written them.
 */
import { build } from "esbuild"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const [outdir = join(root, "dist"), declarations = join(root, "build/modules")] = process.argv.slice(2)
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const entries = Object.values(exports).flatMap((target) => /^\.\/dist\/(.*)\.js$/.exec(target)?.[1] ?? [])

// the command line is in `bin`, and scripts/bundle.mjs writes it
for (const name of existsSync(outdir) ? readdirSync(outdir) : []) {
  if (name !== "bin") rmSync(join(outdir, name), { recursive: true })
}
await build({
  absWorkingDir: root,
  // the program of the demo is for clones only
  entryPoints: [...entries, "demo/main"].map((entry) => `src/${entry}.ts`),
  outdir,
  outbase: "src",
  chunkNames: "chunks/[hash]",
  bundle: true,
  splitting: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node20.19",
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning"
})

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
