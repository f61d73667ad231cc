/** The causes of a failed stdio server: it did not start, it ended, it is silent, or its stdout has other text. */
import * as Duration from "effect/Duration"
import * as Launcher from "../config/launcher.ts"
import * as McpError from "../McpError.ts"
import * as StderrReader from "../stderrReader.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type { Cause, Facts } from "./doctorFacts.ts"

/** The party that its stderr blames. */
const blamed = ({ stderr }: Facts): Cause | undefined => {
  const { fault } = StderrReader.read(stderr)
  return fault && { cause: fault.cause, hint: fault.remedy }
}

const shownNoise = (noise: string): string => `It wrote ${UntrustedText.quote(noise.slice(0, 120))} there.`

/** Text on its standard output that is no message. */
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

export const spawn = (error: McpError.SpawnFailed, { folders, hasFolder }: Facts): Cause => {
  const { command = "", errno, reason } = error
  if (reason !== "command") {
    const isMissing = reason === "docker-not-installed" || reason === "docker-no-mcp-plugin"
    return {
      cause: isMissing ? "Docker or its MCP plugin is not installed" : "Docker does not answer",
      hint: McpError.forPerson(error)
    }
  }
  if (!hasFolder) {
    return {
      cause: "its working folder does not exist",
      hint: `Make the folder ${UntrustedText.quote(error.cwd ?? "")}, or correct "cwd" in its configuration.`
    }
  }
  if (errno === "ENOENT" && !/[\\/]/.test(command)) {
    return {
      cause: "command not found on PATH",
      hint:
        `Looked for ${UntrustedText.quote(command)} in ${
          folders.length === 0 ? "no folder: PATH is empty" : folders.join(", ")
        }. `
        + "Install it, or write its whole path into the configuration."
    }
  }
  if (errno === "ENOENT" || errno === "ENOTDIR") {
    return {
      cause: "command not found",
      hint: `Check ${UntrustedText.quote(command)}: the file, and the interpreter in its first line, have to exist.`
    }
  }
  return errno === "EACCES"
    ? { cause: "the command may not be run", hint: `Make it executable: chmod +x ${UntrustedText.quote(command)}.` }
    : { cause: "the system could not start the command", hint: McpError.forPerson(error) }
}

const exited = (error: McpError.ConnectionLost, facts: Facts): Cause => {
  const why = blamed(facts)
  if (why !== undefined) return why
  const end = error.signal ?? `code ${error.code}`
  if (facts.step === "list" || facts.step === "ping") {
    return {
      cause: `it ended when it was asked (${end})`,
      hint: "This is a fault of the server: see the end of its stderr."
    }
  }
  return {
    cause: `it exits at once (${end})`,
    hint: facts.stderr === undefined
      ? "It says nothing. Check that its command and arguments start a server, and not a program that ends by itself."
      : "The end of its stderr says why; it often names an argument or a variable (\"env\") that is missing."
  }
}

export const timeout = (error: McpError.ConnectTimeout, facts: Facts): Cause => {
  const why = noisy(facts) ?? blamed(facts)
  if (why !== undefined) return why
  const limit = Duration.format(error.limit)
  const launcher = Launcher.of(facts.config)
  if (error.phase === "install") {
    return {
      cause: `${launcher?.program ?? "its launcher"} is still installing it`,
      hint: McpError.forPerson(error)
    }
  }
  if (error.phase === "spawn" || error.phase === "open" || error.phase === "endpoint") {
    return {
      cause: "it cannot be reached in time",
      hint: `Nothing came within ${limit}: check the address, or wait longer with --timeout.`
    }
  }
  const { line } = StderrReader.read(facts.stderr)
  const output = line === undefined ? "" : `; its stderr: ${UntrustedText.quote(line.slice(0, 200))}`
  return {
    cause: "it never answers initialize",
    hint: `It runs, but did not answer within ${limit}${output}. Check that it is an MCP server over `
      + `${facts.config.transport}, or wait longer with --timeout.`
  }
}

const closes: Cause = {
  cause: "it closes the connection",
  hint: "This is a fault of the server: see the end of its stderr."
}

export const ended = (error: McpError.ConnectionLost, facts: Facts): Cause => {
  switch (error.reason) {
    case "exited":
      return exited(error, facts)
    case "stream-interrupted":
      return { cause: "its answer broke off", hint: McpError.forPerson(error) }
    default:
      return noisy(facts) ?? blamed(facts) ?? closes
  }
}
