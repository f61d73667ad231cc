// Loads the sources of this project without a build of them.
import { build } from "esbuild"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

export const root = fileURLToPath(new URL("..", import.meta.url))

/** A module of these lines, with paths from the root of the project. */
export const load = async (lines) => {
  mkdirSync(join(root, "build"), { recursive: true })
  const folder = mkdtempSync(join(root, "build/sources-"))
  try {
    const outfile = join(folder, "module.mjs")
    await build({
      stdin: { contents: lines.join("\n"), resolveDir: root, loader: "ts" },
      absWorkingDir: root,
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      packages: "external",
      logLevel: "warning"
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
