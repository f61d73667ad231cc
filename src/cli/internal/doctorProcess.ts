/**
 * Why a server that is a process is not there: it did not start, it ended, it is silent, or it says something else.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import type * as McpError from "../../McpError.ts"
import * as Advice from "./advice.ts"
import { type Cause, type Facts, quote } from "./doctorFacts.ts"

const launchers = new Set(["npx", "npm", "pnpm", "yarn", "bunx", "bun", "uvx", "uv", "pipx", "deno", "docker"])

const launcherOf = ({ config }: Facts): string | undefined => {
  if (config.transport !== "stdio") return undefined
  const program = config.command.split(/[\\/]/).at(-1)!.replace(/\.(cmd|exe|bat)$/i, "")
  return launchers.has(program) ? program : undefined
}

/** What the programs of others write when the network, the package or a part of it is not there. */
const offline = [
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "ECONNREFUSED",
  "ETIMEDOUT",
  "dns error",
  "ERR_SOCKET_TIMEOUT"
]
const unknownPackage = ["E404", "ERR_PNPM_FETCH_404", "No solution found", "not found in the package registry"]
const missingModule = ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND", "ModuleNotFoundError", "ImportError"]

const says = ({ stderr }: Facts, words: ReadonlyArray<string>): boolean =>
  stderr !== undefined && words.some((word) => stderr.includes(word))

/** Why a process is gone, or was never heard of, as its launcher tells it. */
const launched = (facts: Facts): Cause | undefined => {
  const launcher = launcherOf(facts)
  if (launcher !== undefined && says(facts, offline)) {
    return {
      cause: "the package cannot be fetched: no network",
      hint:
        `${launcher} fetches the package from its registry, and does not reach it. Check the network, the proxy and `
        + "the registry it is set to, or install the package and name its own command."
    }
  }
  if (launcher !== undefined && says(facts, unknownPackage)) {
    return {
      cause: "there is no such package",
      hint: `${launcher} does not find the package: check how it is spelt in the arguments.`
    }
  }
  return says(facts, missingModule)
    ? { cause: "a module of it is missing", hint: "Install what it depends on, in the folder that it lies in." }
    : undefined
}

const shownNoise = (noise: string): string => `It wrote ${quote(noise.slice(0, 120))} there.`

/**
 * What has come on its standard output in the place of messages.
 *
 * @internal
 */
export const noisy = ({ noise }: Facts): Cause | undefined => {
  if (noise === undefined) return undefined
  return noise.trimStart().startsWith("{") || noise.trimStart().startsWith("[")
    ? {
      cause: "it writes JSON that is no message",
      hint: `${shownNoise(noise)} This is a fault of the server: one whole JSON-RPC message belongs on each line.`
    }
    : {
      cause: "it prints logs on its standard output",
      hint: `${shownNoise(noise)} Only messages belong on it: have it log to its standard error, or check that the `
        + "command starts an MCP server over stdio."
    }
}

/** @internal */
export const spawn = (error: McpError.SpawnFailed, { folders, hasFolder }: Facts): Cause => {
  if (!hasFolder) {
    return {
      cause: "its working folder does not exist",
      hint: `Make the folder ${quote(error.cwd ?? "")}, or correct "cwd" in its configuration.`
    }
  }
  if (error.errno === "ENOENT" && !/[\\/]/.test(error.command)) {
    return {
      cause: "command not found on PATH",
      hint:
        `Looked for ${quote(error.command)} in ${
          folders.length === 0 ? "no folder: PATH is empty" : folders.join(", ")
        }. `
        + "Install it, or write its whole path into the configuration."
    }
  }
  if (error.errno === "ENOENT" || error.errno === "ENOTDIR") {
    return {
      cause: "command not found",
      hint: `Check ${quote(error.command)}: the file, and the interpreter in its first line, have to exist.`
    }
  }
  return error.errno === "EACCES"
    ? { cause: "the command may not be run", hint: `Make it executable: chmod +x ${quote(error.command)}.` }
    : { cause: "the system could not start the command", hint: Advice.next(error) }
}

/** @internal */
export const exited = (error: McpError.ProcessExited, facts: Facts): Cause => {
  const why = launched(facts)
  if (why !== undefined) return why
  const end = error.signal ?? `code ${error.code}`
  if (facts.step === "list" || facts.step === "ping") {
    return { cause: `it ended when it was asked (${end})`, hint: "This is a fault of the server: see its last words." }
  }
  return {
    cause: `it exits at once (${end})`,
    hint: facts.stderr === undefined
      ? "It says nothing. Check that its command and arguments start a server, and not a program that ends by itself."
      : "Its last words say why; they often name an argument or a variable (env) that its configuration lacks."
  }
}

/** @internal */
export const timeout = (error: McpError.ConnectTimeout, facts: Facts): Cause => {
  const why = noisy(facts) ?? launched(facts)
  if (why !== undefined) return why
  const limit = Duration.format(error.limit)
  if (error.phase === "spawn" || error.phase === "open" || error.phase === "endpoint") {
    return {
      cause: "it cannot be reached in time",
      hint: `Nothing came within ${limit}: check the address, or give it longer with --timeout.`
    }
  }
  return {
    cause: "it never answers initialize",
    hint: launcherOf(facts) === undefined
      ? `It runs, and says nothing within ${limit}. Check that it is an MCP server over ${facts.config.transport}, or give `
        + "it longer with --timeout."
      : `It says nothing within ${limit}: its package may still be on the way. Give it longer with --timeout.`
  }
}

/** @internal */
export const ending = (cause: string) => (_: McpError.McpError, facts: Facts): Cause =>
  noisy(facts) ?? launched(facts) ?? { cause, hint: "This is a fault of the server: see its last words." }
