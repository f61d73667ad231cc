/** A fleet of real processes over a real PostgreSQL, for the demo, the tests and the soak: `startFleet()`. */
import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { freePort, startPostgres } from "./postgres.mjs"

const program = fileURLToPath(new URL("node.mjs", import.meta.url))

/** The sockets to a node pass a proxy, so that they can be cut. */
const startProxy = async (to) => {
  const sockets = new Set()
  const keep = (socket) => sockets.add(socket.once("close", () => sockets.delete(socket)).on("error", () => socket.destroy()))
  const server = createServer((from) => {
    const on = connect({ port: to, host: "127.0.0.1", noDelay: true })
    keep(from.setNoDelay())
    keep(on)
    from.pipe(on).on("close", () => from.destroy())
    on.pipe(from)
    from.on("close", () => on.destroy())
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    port: server.address().port,
    cut: () => sockets.forEach((socket) => socket.destroy()),
    close: () => {
      server.close()
      sockets.forEach((socket) => socket.destroy())
    }
  }
}

const processes = () =>
  execFileSync("ps", ["-eo", "pid=,ppid=,stat=,args="], { encoding: "utf8" }).split("\n").flatMap((line) => {
    const [, pid, parent, state, args] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), state, args }]
  })

export const startFleet = async ({ database } = {}) => {
  const postgres = database ?? await startPostgres()
  const folder = mkdtempSync(join(tmpdir(), "fleet-"))
  const log = join(folder, "log.txt")
  writeFileSync(log, "")
  const nodes = new Set()

  const startNode = async (role, settings = {}) => {
    const listen = await freePort()
    const proxy = role === "caller" || role === "direct" ? undefined : await startProxy(listen)
    const options = { url: postgres.url, role, listen, port: proxy?.port, log, ...settings }
    const child = spawn(process.execPath, ["--max-semi-space-size=16", program, JSON.stringify(options)], {
      stdio: ["pipe", "pipe", "pipe"]
    })
    const stderr = []
    child.stderr.setEncoding("utf8").on("data", (text) => stderr.push(text))
    child.stdin.on("error", () => undefined)
    const waiting = new Map()
    let id = 0
    const exited = new Promise((resolve) => child.once("exit", (code, signal) => resolve(signal ?? code)))
    const node = {
      role,
      pid: child.pid,
      events: [],
      stderr: () => stderr.join(""),
      exited,
      isRunning: () => child.exitCode === null && child.signalCode === null,
      /** One command; what a node that ends has not answered is answered with `gone`. */
      ask: (op, more = {}) =>
        new Promise((resolve) => {
          waiting.set(++id, resolve)
          child.stdin.write(`${JSON.stringify({ id, op, ...more })}\n`)
        }),
      call: (tool, args = {}, timeout) => node.ask("call", { tool, args, timeout }),
      kill: (signal) => child.kill(signal),
      cut: () => proxy?.cut(),
      /** Ends it as a supervisor does. */
      stop: async () => {
        child.stdin.end()
        const ended = await Promise.race([exited, setTimeout(20_000, "timeout", { ref: false })])
        if (ended === "timeout") child.kill("SIGKILL")
        nodes.delete(node)
        return ended
      }
    }
    nodes.add(node)
    void exited.then(() => {
      proxy?.close()
      for (const resolve of waiting.values()) resolve({ ok: false, tag: "gone" })
    })
    await new Promise((resolve, reject) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        // a log line of a library is no message
        if (!line.startsWith("{\"")) return stderr.push(`${line}\n`)
        const message = JSON.parse(line)
        if (message.ready !== undefined) return resolve()
        if (message.event !== undefined) return node.events.push({ at: Date.now(), ...message })
        waiting.get(message.id)?.(message)
        waiting.delete(message.id)
      })
      void exited.then((how) => reject(new Error(`the node ended with ${how}: ${node.stderr()}`)))
    })
    return node
  }

  return {
    postgres,
    nodes,
    startNode,
    /** The executions, line by line. */
    executions: () => readFileSync(log, "utf8").split("\n").filter((line) => line !== ""),
    /** The running servers of this fleet, with the node that each belongs to. */
    servers: () =>
      processes().filter(({ args, state }) => args.includes("fleet/counter.mjs") && !state.startsWith("Z")).map((found) => ({
        ...found,
        node: Array.from(nodes).find(({ pid }) => pid === found.parent)
      })),
    stop: async () => {
      await Promise.all(Array.from(nodes, (node) => node.stop()))
      if (database === undefined) await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

export { setTimeout as sleep }
