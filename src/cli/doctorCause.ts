/** The cause of a failed server in a few words, and the next step, with what the doctor has seen beside the error. */
import * as Duration from "effect/Duration"
import * as Launcher from "../config/launcher.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as StderrReader from "../stderrReader.ts"
import * as ShellWords from "../text/shellWords.ts"
import { quote } from "../text/UntrustedText.ts"

export type Step =
  | "config"
  | "trust"
  | "variables"
  | "connect"
  | "initialize"
  | "list"
  | "ping"
  | "close"
  | "leaks"
  | "lint"

/** What is known beside the error. */
export interface Facts {
  readonly step: Step
  readonly config: ServerConfig.ServerConfig
  /** The folders in which its command is looked up. */
  readonly folders: ReadonlyArray<string>
  /** Whether its working folder exists. */
  readonly hasFolder: boolean
  /** The first thing on its standard output that was no message. */
  readonly noise: string | undefined
  readonly stderr: string | undefined
}

export interface Cause {
  readonly cause: string
  /** Absent where the advice of the error fits. */
  readonly hint?: string | undefined
}

const configuration = ({ server, variable }: McpError.ConfigurationError): Cause => {
  const name = variable?.from ?? variable?.name ?? ""
  switch (variable?.why) {
    case "input-required":
      return { cause: `unanswered ${variable.name.replace(":", " \"")}"` }
    case "variable-unset":
      return {
        cause: `${quote(name)} is not set`,
        hint: `Set ${name} before this program starts, or write its value or a default for it into the file.`
      }
    case "variable-forbidden":
      return {
        cause: `${quote(name)} may not be read`,
        hint: `A file of the workspace may not read ${name}: write its value into "env" of the server, or grant it `
          + `with \`mcp-runtime approve ${ShellWords.quote(server)} --variable ${ShellWords.quote(name)}\`.`
      }
    case undefined:
      return { cause: "its configuration cannot be used" }
  }
}

const spawn = ({ command = "", cwd, errno, reason }: McpError.SpawnFailed, { folders, hasFolder }: Facts): Cause => {
  if (reason !== "command") return { cause: reason.replaceAll("-", " ").replace(/^docker/, "Docker") }
  if (!hasFolder) {
    return {
      cause: "its working folder does not exist",
      hint: `Make the folder ${quote(cwd ?? "")}, or correct "cwd" in its configuration.`
    }
  }
  if (errno === "ENOENT" && !/[\\/]/.test(command)) {
    const where = folders.length === 0 ? "no folder: PATH is empty" : folders.join(", ")
    return {
      cause: "command not found on PATH",
      hint: `Looked for ${quote(command)} in ${where}. Install it, or write its whole path into the configuration.`
    }
  }
  if (errno === "ENOENT" || errno === "ENOTDIR") {
    return {
      cause: "command not found",
      hint: `Check ${quote(command)}: the file, and the interpreter in its first line, have to exist.`
    }
  }
  return errno === "EACCES"
    ? { cause: "the command may not be run", hint: `Make it executable: chmod +x ${quote(command)}.` }
    : { cause: "the system could not start the command" }
}

/** Text on its standard output that is no message. */
const noisy = ({ noise }: Facts): Cause | undefined => {
  if (noise === undefined) return undefined
  const shown = `It wrote ${quote(noise.slice(0, 120))} there.`
  return /^\s*[{[]/.test(noise)
    ? {
      cause: "it writes JSON that is no message",
      hint: `${shown} This is a fault of the server: one whole JSON-RPC message belongs on each line.`
    }
    : {
      cause: "it prints logs on its standard output",
      hint: `${shown} Only messages belong on it: have it log to its standard error, or check that the command starts `
        + "an MCP server over stdio."
    }
}

/** The party that its stderr blames. */
const blamed = ({ stderr }: Facts): Cause | undefined => {
  const { fault } = StderrReader.read(stderr)
  return fault && { cause: fault.cause, hint: fault.remedy }
}

const timeout = ({ limit, phase }: McpError.ConnectTimeout, facts: Facts): Cause => {
  if (phase === "install") {
    return { cause: `${Launcher.of(facts.config)?.program ?? "its launcher"} is still installing it` }
  }
  const within = Duration.format(limit)
  if (phase === "spawn" || phase === "open" || phase === "endpoint") {
    return {
      cause: "it cannot be reached in time",
      hint: `Nothing came within ${within}: check the address, or wait longer with --timeout.`
    }
  }
  const { line } = StderrReader.read(facts.stderr)
  const output = line === undefined ? "" : `; its stderr: ${quote(line.slice(0, 200))}`
  return {
    cause: "it never answers initialize",
    hint: `It runs, but did not answer within ${within}${output}. Check that it is an MCP server over `
      + `${facts.config.transport}, or wait longer with --timeout.`
  }
}

const lost = ({ code, reason, signal }: McpError.ConnectionLost, { stderr, step }: Facts): Cause => {
  if (reason === "stream-interrupted") return { cause: "its answer broke off" }
  const hint = "This is a fault of the server: see the end of its stderr."
  if (reason !== "exited") return { cause: "it closes the connection", hint }
  const end = signal ?? `code ${code}`
  if (step === "list" || step === "ping") return { cause: `it ended when it was asked (${end})`, hint }
  return {
    cause: `it exits at once (${end})`,
    hint: stderr === undefined
      ? "It says nothing. Check that its command and arguments start a server, and not a program that ends by itself."
      : "The end of its stderr says why; it often names an argument or a variable (\"env\") that is missing."
  }
}

/** No MCP endpoint is at the address: suggests the usual one. */
const elsewhere = (status: number, { config }: Facts): Cause => {
  const url = "url" in config && URL.canParse(config.url) ? new URL(config.url).pathname : ""
  const usual = config.transport === "sse"
    ? url.endsWith("/mcp")
      ? `The path looks like Streamable HTTP: set "type" to "http".`
      : `An old HTTP+SSE server is usually at /sse; one of Streamable HTTP is at /mcp, with "type": "http".`
    : url.endsWith("/sse")
    ? `The path looks like the old HTTP+SSE transport: set "type" to "sse", or try /mcp.`
    : url.endsWith("/mcp")
    ? `Look up its address; an old HTTP+SSE server is usually at /sse, with "type": "sse".`
    : `MCP servers are usually at /mcp; old ones of HTTP+SSE are at /sse, with "type": "sse".`
  return {
    cause: status === 404 ? "the path of the URL is wrong" : "nothing at this URL takes messages",
    hint: `There is no MCP server at ${url === "" ? "this address" : quote(url)} (${status}). ${usual}`
  }
}

const answers: Readonly<Record<Exclude<McpError.HttpError["reason"], "status">, string>> = {
  "content-type": "something else answers there",
  forbidden: "the credentials do not suffice (403)",
  redirect: "the URL leads elsewhere",
  origin: "it sends its clients to another origin",
  "rate-limited": "it was asked too often (429)",
  unavailable: "it is unavailable for a while (503)"
}

const http = ({ reason, status = 0 }: McpError.HttpError, facts: Facts): Cause => {
  if (reason !== "status") return { cause: answers[reason] }
  if (status === 404 || status === 405 || status === 410) return elsewhere(status, facts)
  return status >= 500
    ? {
      cause: `the server fails (${status})`,
      hint: "The fault is at the server, or at what stands before it: look at its log, and try again later."
    }
    : {
      cause: `the server refuses the request (${status})`,
      hint: "Check the address and the headers in its configuration."
    }
}

const authorization = ({ reason, server }: McpError.AuthorizationFailed, { config }: Facts): Cause => {
  if (reason !== "unauthorized") return { cause: `it needs a login (${reason})` }
  const headers = Array.from("headers" in config ? config.headers?.keys() ?? [] : [])
  return {
    cause: "it wants credentials (401)",
    hint: headers.some((name) => /^(authorization|x-api-key)$/i.test(name))
      ? "Those in its headers are refused: they may have expired, or be meant for another server."
      : `${McpError.logIn(server)} Or put them into "headers" of its configuration, for example "Authorization": `
        + "\"Bearer ${TOKEN}\"."
  }
}

const unreached: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "no server listens at the URL"],
  ["ENOTFOUND", "the host of the URL is not known"],
  ["EAI_AGAIN", "the host of the URL is not known"]
])

/** The rows by tag. */
const rows: { readonly [E in McpError.McpError as E["_tag"]]?: (error: E, facts: Facts) => Cause } = {
  ConfigurationError: configuration,
  SpawnFailed: spawn,
  ConnectTimeout: (error, facts) => noisy(facts) ?? blamed(facts) ?? timeout(error, facts),
  ConnectionLost: (error, facts) =>
    (error.reason === "exited" ? undefined : noisy(facts)) ?? blamed(facts) ?? lost(error, facts),
  ProtocolViolation: ({ reason }, facts) =>
    (reason === "message" ? noisy(facts) : undefined)
      ?? { cause: reason === "pagination" ? "its list never ends" : "it breaks the protocol" },
  HandshakeFailed: ({ code, got = "", reason, supported = [] }) =>
    reason === "rejected" ? { cause: `it refuses to initialize (${code})` } : {
      cause: "the protocol version is wrong",
      hint: `It speaks ${quote(got)}, and this client ${supported.join(", ")}: update the server.`
    },
  NetworkError: ({ code, reason }) => ({
    cause: reason === "tls" ? `its TLS cannot be used (${code})` : unreached.get(code) ?? `the network fails (${code})`
  }),
  HttpError: http,
  AuthorizationFailed: authorization,
  RemoteError: ({ code }, { step }) => ({
    cause: `${step === "list" ? "tools/list fails" : "it answers with an error"} (${code})`,
    hint: "It is connected, and cannot tell its tools: see its own words and its log."
  }),
  RequestTimeout: (_, { step }) => ({
    cause: step === "list" ? "it never answers tools/list" : "it does not answer in time",
    hint: "It is connected, and then hangs: see what it says, or give it longer with --timeout."
  })
}

export const of = (error: McpError.McpError, facts: Facts): Cause => ({
  cause: error._tag.replaceAll(/(?<=[a-z])[A-Z]/g, " $&").toLowerCase(),
  hint: McpError.forPerson(error),
  // the row of a tag takes the errors of that tag
  ...rows[error._tag]?.(error as never, facts)
})
