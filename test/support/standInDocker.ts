/**
 * A stand-in for the program `docker`: it is asked what Docker is asked, and its gateway is a real MCP server.
 */
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { contentOf } from "./leaks.ts"

const fixture = (path: string): string => fileURLToPath(new URL(`../fixtures/${path}`, import.meta.url))

/** What the plugin prints. */
const helpOfMcp = `cat <<'END'
Docker MCP Toolkit's CLI - Manage your MCP servers and clients.

Usage: docker mcp [OPTIONS]

Available Commands:
  gateway     Manage the MCP Server gateway
END`

/** What Docker 28.2 prints without the plugin, with exit code 0. */
const helpOfDocker = `cat <<'END'
Usage:  docker [OPTIONS] COMMAND

A self-sufficient runtime for containers

Common Commands:
  run         Create and run a new container from an image
END`

const down = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"

/** Ignores the polite signal, and has a child that has left its process group. */
const stubborn = `setsid sleep 600 &
echo "$! child" >> "$home/asked"
trap '' TERM
while :; do sleep 0.05; done`

/** What the stand-in can do when it is asked something: scripts of the shell. */
export const answers = {
  help: {
    plugin: helpOfMcp,
    "no plugin": helpOfDocker,
    "old and no plugin": `echo "docker: 'mcp' is not a docker command." >&2; exit 1`,
    "of another program": "echo 'Usage: podman mcp [OPTIONS]'",
    "in capitals": "echo 'USAGE:'; echo '  docker mcp [command]'",
    hangs: "exec sleep 600",
    killed: "kill -9 $$",
    stubborn,
    /** Answers only once the other question was asked, too. */
    together: `until grep -q ' info ' "$home/asked"; do sleep 0.01; done; ${helpOfMcp}`
  },
  info: {
    up: "echo 28.2.2",
    down: `echo; echo "${down}" >&2; exit 1`,
    /** Docker 28.0. */
    "down, says 0": `echo; echo "${down}" >&2`,
    hangs: "exec sleep 600",
    killed: "kill -9 $$",
    stubborn,
    together: `until grep -q ' mcp --help' "$home/asked"; do sleep 0.01; done; echo 28.2.2`,
    /** Leaves a process that holds its output open. */
    "up, with a child": `sleep 600 & echo "$! child" >> "$home/asked"; echo 28.2.2`,
    floods: "yes 28.2.2 | head -c 4000000"
  },
  gateway: {
    /** A child of Docker's process, as the plugin is. */
    serves: `PEER_JOURNAL="$home/journal" "${process.execPath}" "${fixture("peers/stdio.mjs")}" 2.x`,
    "driven by hand": `"${process.execPath}" "${fixture("process/server.mjs")}"`,
    dies: `echo "error: pulling the images failed" >&2; exit 3`
  }
} as const

/** How the stand-in answers. */
export interface Answers {
  readonly help: keyof typeof answers.help
  readonly info: keyof typeof answers.info
  readonly gateway: keyof typeof answers.gateway
}

/** One process of the stand-in. */
export interface Asked {
  readonly pid: number
  readonly args: string
}

/** A stand-in in a folder of its own. */
export interface StandIn {
  /** The path of the program. */
  readonly command: string
  /** A PATH on which it is the only Docker. */
  readonly path: string
  readonly answer: (answers: Partial<Answers>) => void
  readonly asked: () => ReadonlyArray<Asked>
}

/** Makes one that is well, but for what is said. */
export const make = (different: Partial<Answers> = {}): StandIn => {
  const folder = mkdtempSync(join(tmpdir(), "docker-test-"))
  const command = join(folder, "docker")
  const answer: StandIn["answer"] = ({ gateway, help, info }) => {
    if (help !== undefined) writeFileSync(join(folder, "help"), answers.help[help])
    if (info !== undefined) writeFileSync(join(folder, "info"), answers.info[info])
    if (gateway !== undefined) writeFileSync(join(folder, "gateway"), answers.gateway[gateway])
  }
  answer({ help: "plugin", info: "up", gateway: "serves", ...different })
  writeFileSync(command, `#!/bin/sh\n${readFileSync(fixture("docker/docker.sh"), "utf8")}`)
  chmodSync(command, 0o755)
  return {
    command,
    path: `${folder}:/usr/bin:/bin`,
    answer,
    asked: () =>
      contentOf(join(folder, "asked")).split("\n").filter((line) => line !== "").map((line) => {
        const space = line.indexOf(" ")
        return { pid: Number(line.slice(0, space)), args: line.slice(space + 1) }
      })
  }
}
