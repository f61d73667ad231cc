/**
 * Writes the reference of the public modules into build/reference: `npm run reference`, for each release. TypeDoc and the
 * compiler that it needs are no dependencies: npm installs them in a cache. A warning is an error, such as a type that a
 * public declaration names and the reference does not have.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const tools = join(root, "node_modules/.cache/effect-mcp-runtime-reference")
const dependencies = { typedoc: "0.28.20", "typedoc-plugin-missing-exports": "4.1.4", typescript: "5.9.3" }
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

const run = (command, args, cwd) => {
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}

const manifest = JSON.stringify({ private: true, dependencies })
const file = join(tools, "package.json")
if (!existsSync(file) || readFileSync(file, "utf8") !== manifest) {
  mkdirSync(tools, { recursive: true })
  writeFileSync(file, manifest)
  run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], tools)
}

const modules = Object.values(exports).flatMap((target) => /^\.\/dist\/(.*)\.js$/.exec(target)?.[1] ?? [])
const options = {
  plugin: ["typedoc-plugin-missing-exports"],
  tsconfig: join(root, "tsconfig.json"),
  entryPoints: modules.map((module) => join(root, `src/${module}.ts`)),
  out: join(root, "build/reference"),
  readme: "none",
  placeInternalsInOwningModule: true,
  // npm run check compiles the sources with the rules of Effect
  skipErrorChecking: true,
  excludeExternals: true,
  excludePrivate: true,
  highlightLanguages: ["ts", "js", "json", "jsonc", "sh", "text", "md", "toml", "yaml"],
  treatWarningsAsErrors: true
}
const optionsFile = join(tools, "typedoc.json")
writeFileSync(optionsFile, JSON.stringify(options))
run(process.execPath, [join(tools, "node_modules/typedoc/bin/typedoc"), "--options", optionsFile], root)
