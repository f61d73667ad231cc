// Takes pictures of the command line for the README: `npm run record`. The program runs for real, in a terminal that tmux
// draws, over servers that work, break and are missing; `svg.mjs` makes an image of the screen.
// It needs tmux, and leaves nothing behind but the images in `docs/assets`.
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { build } from "esbuild"
import { render } from "./svg.mjs"

const exec = promisify(execFile)
const root = fileURLToPath(new URL("..", import.meta.url))
const lines = 50
const work = await realpath(await mkdtemp(join(tmpdir(), "mcp-record-")))
const home = join(work, "home")

/** A separate tmux server, without the configuration of the user. */
const tmux = (...args) => exec("tmux", ["-S", join(work, "tmux"), "-f", "/dev/null", ...args], { encoding: "utf8" })

/** The programs whose files are searched for servers: few, because the screen lists them. */
const path = [...new Set([dirname(process.execPath), "/usr/bin", "/bin"])].join(":")

const variables = [`PATH=${path}`, `HOME=${home}`, "TERM=screen-256color", "LANG=C.UTF-8"]

/** Runs a command until its screen is as it should be, and gives the screen. Then it is ended, as Ctrl-C does it. */
const screen = async (args, columns, isReady) => {
  const program = ["env", "-i", ...variables, process.execPath, join(work, "bin/mcp-runtime.cjs"), ...args]
  const size = ["-x", String(columns), "-y", String(lines)]
  // a shell, so that the screen outlives the program
  const shell = ["sh", "-c", "trap : INT; \"$@\"; read -r line", "sh", ...program]
  await tmux("new-session", "-d", "-s", "one", ...size, "-c", join(work, "project"), ...shell)
  const deadline = Date.now() + 60_000
  for (;;) {
    const { stdout } = await tmux("capture-pane", "-e", "-p", "-t", "one")
    if (isReady(stdout.replaceAll(/\u001b\[[\d;]*m/g, ""))) {
      await tmux("send-keys", "-t", "one", "C-c")
      // the line that the shell waits for, if it has not gone with the program
      await tmux("send-keys", "-t", "one", "Enter").catch(() => undefined)
      await ended()
      return stdout
    }
    if (Date.now() > deadline) throw new Error(`this is no screen to show:\n${stdout}`)
    await sleep(50)
  }
}

/** The session goes with its program. */
const ended = async () => {
  for (let n = 0; n < 200; n++) {
    const isThere = await tmux("has-session", "-t", "one").then(() => true, () => false)
    if (!isThere) return
    await sleep(50)
  }
  throw new Error("the program does not end")
}

/** A server that wants credentials. */
const guarded = createServer((_, response) => response.writeHead(401, { "www-authenticate": "Bearer" }).end())
await new Promise((resolve) => guarded.listen(0, "127.0.0.1", resolve))

try {
  await exec(process.execPath, [join(root, "scripts/bundle.mjs"), join(work, "bin")], { cwd: root })
  const demo = join(work, "demo.mjs")
  await build({
    absWorkingDir: root,
    entryPoints: ["src/demo/DemoServer.ts"],
    outfile: demo,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
    // some dependencies use `require`
    banner: { js: "import { createRequire } from \"node:module\"; const require = createRequire(import.meta.url);" }
  })
  const node = (script) => ({ command: "node", args: ["-e", script] })
  const folder = join(home, ".config/mcp-runtime")
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await mkdir(join(work, "project/.git"), { recursive: true })
  const servers = (entries) =>
    writeFile(join(folder, "mcp-client.json"), JSON.stringify({ mcpServers: entries }), { mode: 0o600 })
  await mkdir(join(root, "docs/assets"), { recursive: true })
  /** Shows a command on a terminal of so many columns, as soon as its screen is this. */
  const record = async (args, columns, isReady) => {
    const text = await screen(args, columns, isReady)
    const file = `docs/assets/${args[0]}.svg`
    await writeFile(join(root, file), render(text, { columns, command: ["mcp-runtime", ...args].join(" ") }))
    console.log(file)
  }

  const issues = { url: `http://127.0.0.1:${guarded.address().port}/mcp` }
  const notes = { command: "notes-mcp" }

  await servers({
    demo: { command: "node", args: [demo] },
    issues,
    notes,
    // nothing listens on this port
    search: { url: "http://127.0.0.1:9/mcp" }
  })
  await record(["doctor"], 120, (text) => /^\d+ connected, .*\d failed +\S+ UTC$/m.test(text))

  await servers({
    demo: { command: "node", args: [demo] },
    flaky: node(`setTimeout(() => process.exit(1), 4_000); import(${JSON.stringify(demo)})`),
    issues,
    notes
  })
  const isTelling = (text) => /^demo +connected .*[▁-█]{8}/m.test(text) && /^flaky +waiting /m.test(text)
  await record(["status", "--watch", "--every", "1s"], 100, isTelling)
} finally {
  guarded.close()
  await tmux("kill-server").catch(() => undefined)
  await rm(work, { recursive: true, force: true })
}
