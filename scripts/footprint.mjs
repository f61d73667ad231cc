/**
 * What the package costs an application: `npm run footprint`. Packs it, installs it in clean folders, and prints its size,
 * the packages beside those of Effect and of the MCP SDK, and the processor time of importing it. Fails beyond a limit.
 * It needs a registry.
 */
import { effect, pack, run } from "./packed.mjs"

const failures = []
const report = (name, value, limit, isGood) => {
  if (!isGood) failures.push(name)
  console.log(`${isGood ? "ok    " : "FAILED"} ${name}: ${value} (at most ${limit})`)
}

const { install, size, tarball, unpackedSize } = await pack()
report("packed", `${(size / 1e6).toFixed(2)} MB`, "1.5 MB", size <= 1.5e6)
report("unpacked", `${(unpackedSize / 1e6).toFixed(2)} MB`, "6 MB", unpackedSize <= 6e6)

const ofEffect = await install("effect", effect)
const ofSdk = await install("sdk", ["@modelcontextprotocol/sdk"])
const application = await install("application", [...effect, tarball])
const more = [...application.packages].filter((path) => !ofEffect.packages.has(path) && !ofSdk.packages.has(path))
const names = more.map((path) => path.replace(/^node_modules\//, ""))
report("packages beside those of Effect and of the SDK", `${more.length}: ${names.join(", ")}`, "15", more.length <= 15)
console.log(`       Effect has ${ofEffect.packages.size}, the SDK ${ofSdk.packages.size}, together with ours ${application.packages.size}`)

for (const version of ["ai@6", "ai@7"]) {
  const problem = await install(version, [...effect, version, tarball]).then(() => undefined, (error) => error.stderr)
  report(`${version} beside it`, problem ?? "installs", "no conflict", problem === undefined)
}

/** Milliseconds of processor time of a new process that imports a module, and of one that imports nothing. */
const modules = ["", "effect", "effect-mcp-runtime", "effect-mcp-runtime/node/NodeMcpRuntime"]
const times = modules.map(() => [])
const rounds = 20
for (let round = 0; round < rounds; round++) {
  for (const [at, module] of modules.entries()) {
    const imported = module === "" ? "" : `await import(${JSON.stringify(module)})\n`
    const script = `${imported}const { system, user } = process.cpuUsage()\nconsole.log((system + user) / 1000)`
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], { cwd: application.folder })
    times[at].push(Number(stdout))
  }
}
const [nothing, ofEffectAlone, ...imports] = times.map((all) => all.toSorted((a, b) => a - b)[rounds / 2])
for (const [at, time] of imports.entries()) {
  const ratio = (time - nothing) / (ofEffectAlone - nothing)
  const text = `${(time - nothing).toFixed(0)} ms, ${ratio.toFixed(2)} of effect`
  // the second has the modules of @effect/platform-node too
  const limit = [1.3, 1.5][at]
  report(`import of ${modules[at + 2]}`, text, limit, ratio <= limit)
}

console.log(failures.length === 0 ? "footprint: within the limits" : `footprint: ${failures.join(", ")} beyond the limits`)
process.exitCode = failures.length === 0 ? 0 : 1
