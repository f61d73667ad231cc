/** `mcp-runtime serve` as its users start it, over real servers of both SDKs. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as Built from "../support/built.ts"

const program = await Built.program()

const bin = join(program, "mcp-runtime.cjs")

/** What is compiled is of use to all tests. */
const compiled = join(`${program}.cache`, "mcp-runtime")

const peer = await Built.bundled(fileURLToPath(new URL("../fixtures/peers/stdio.mjs", import.meta.url)))

export interface Command {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
}

export type Servers = Readonly<Record<string, object>>

/** One server of each SDK, and so of each era, with the same tools. */
export const peers: Servers = {
  old: { command: process.execPath, args: [peer, "1.x"] },
  // on a busy machine one that is asked without being told might be taken for the older kind
  new: { command: process.execPath, args: [peer, "2.x"], protocol: "stateless" }
}

export interface Listening {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The text on stderr by now. */
  readonly stderr?: () => string
  /** The text on stdout up to the line with the address, or the document of --json. */
  readonly stdout?: string
}

/** For clients that ask their person themselves. */
const open: ReadonlyArray<string> = ["--caller-decides"]

export interface Place {
  /** What starts a gateway over these servers, for the program that starts it. */
  readonly command: (name: string, servers: Servers, flags?: ReadonlyArray<string>) => Command
  /** A gateway at an address of this machine, to whoever has its token. */
  readonly listen: (name: string, servers: Servers, flags?: ReadonlyArray<string>) => Promise<Listening>
  readonly remove: () => Promise<void>
}

const token = "a-token-for-these-tests"

/** A folder with all that gateways read and write, which are ended with it. */
export const make = (): Place => {
  const folder = mkdtempSync(join(tmpdir(), "mcp-serve-"))
  const ends: Array<() => Promise<unknown>> = []
  const command: Place["command"] = (name, servers, flags = open) => {
    const config = join(folder, `${name}.json`)
    writeFileSync(config, JSON.stringify({ mcpServers: servers }))
    // each remembers for itself what its servers have
    const state = join(folder, name)
    if (!existsSync(state)) {
      mkdirSync(state)
      mkdirSync(compiled, { recursive: true })
      symlinkSync(compiled, join(state, "mcp-runtime"))
    }
    return {
      command: process.execPath,
      args: [bin, "serve", ...flags, "--config", config],
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: state,
        XDG_CACHE_HOME: state,
        XDG_CONFIG_HOME: state,
        XDG_DATA_HOME: state,
        XDG_STATE_HOME: state,
        MCP_RUNTIME_TOKEN: token
      }
    }
  }
  return {
    command,
    listen: async (name, servers, flags) => {
      const { args, command: program, env } = command(name, servers, flags)
      const child = spawn(program, [...args, "--http", "0"], { env, stdio: ["ignore", "pipe", "pipe"] })
      let stderr = ""
      child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text)
      const ended = once(child, "exit")
      ends.push(() => {
        child.kill("SIGTERM")
        return ended
      })
      let stdout = ""
      for await (const line of createInterface({ input: child.stdout })) {
        stdout += `${line}\n`
        const [url] = /http:[^\s"]+/.exec(stdout) ?? []
        if (url !== undefined && (!stdout.startsWith("{") || line === "}")) {
          return { url, headers: { authorization: `Bearer ${token}` }, stderr: () => stderr, stdout }
        }
      }
      throw new Error(`the gateway ${name} has ended before it listened`)
    },
    remove: async () => {
      await Promise.all(ends.map((end) => end()))
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
