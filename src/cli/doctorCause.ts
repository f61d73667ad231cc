/** What is wrong with a server, in a few words, and the next step: after an error, or in its tools. */
import * as Duration from "effect/Duration"
import * as Launcher from "../config/launcher.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as HiddenText from "../safety/HiddenText.ts"
import * as InjectionScan from "../safety/InjectionScan.ts"
import * as StderrReader from "../stderrReader.ts"
import * as ShellWords from "../text/shellWords.ts"
import { excerpt, quote } from "../text/UntrustedText.ts"
import type * as Tool from "../tools/Tool.ts"

/** What is known beside the error. */
export interface Facts {
  readonly step: string
  readonly config: ServerConfig.ServerConfig
  /** The folders in which its command is looked up. */
  readonly folders: ReadonlyArray<string>
  /** The first thing on its standard output that was no message. */
  readonly noise: string | undefined
  readonly stderr: string | undefined
}

/** Where one is absent, the error's own fault or advice fits. */
interface Cause {
  readonly cause?: string
  readonly hint?: string
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

const spawn = (error: McpError.SpawnFailed, { folders }: Facts): Cause | undefined => {
  const { command = "", errno, reason } = error
  if (reason === "folder") return { cause: "its working folder does not exist" }
  if (reason === "file") return { cause: "command not found" }
  if (reason !== "command") return undefined
  if (errno === "EACCES") return { cause: "the command may not be run" }
  const where = folders.length === 0 ? "no folder: PATH is empty" : folders.join(", ")
  return errno !== "ENOENT" ? undefined : {
    cause: "command not found on PATH",
    hint: `Looked for ${quote(command)} in ${where}. ${McpError.forPerson(error)}`
  }
}

/** Text on its standard output that is no message. */
const noisy = ({ noise }: Facts): Cause | undefined => {
  if (noise === undefined) return undefined
  const shown = `It wrote ${quote(noise, 120)} there.`
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

const timeout = ({ limit, phase }: McpError.ConnectTimeout, { config, stderr }: Facts): Cause => {
  if (phase === "install") {
    return { cause: `${Launcher.of(config)?.program ?? "its launcher"} is still installing it` }
  }
  const within = Duration.format(limit)
  if (phase === "spawn" || phase === "open" || phase === "endpoint") {
    return {
      cause: "it cannot be reached in time",
      hint: `Nothing came within ${within}: check the address, or wait longer with --timeout.`
    }
  }
  const { line } = StderrReader.read(stderr)
  const output = line === undefined ? "" : `; its stderr: ${quote(line, 200)}`
  return {
    cause: "it never answers initialize",
    hint: `It runs, but did not answer within ${within}${output}. Check that it is an MCP server over `
      + `${config.transport}, or wait longer with --timeout.`
  }
}

const lost = ({ code, reason, signal }: McpError.ConnectionLost, { stderr, step }: Facts): Cause | undefined => {
  if (reason === "stream-interrupted") return undefined
  const end = signal ?? `code ${code}`
  const hint = "This is a fault of the server: see the end of its stderr."
  if (reason !== "exited") return { cause: "it closes the connection", hint }
  if (step !== "initialize") return { cause: `it ended when it was asked (${end})`, hint }
  return {
    cause: `it exits at once (${end})`,
    hint: stderr === undefined
      ? "It says nothing. Check that its command and arguments start a server, and not a program that ends by itself."
      : "The end of its stderr says why; it often names an argument or a variable (\"env\") that is missing."
  }
}

const http = ({ reason, status = 0 }: McpError.HttpError, { config }: Facts): Cause | undefined => {
  if (reason === "forbidden") return { cause: "the credentials do not suffice (403)" }
  if (reason === "content-type") return { cause: "something else answers there" }
  if (reason !== "status") return undefined
  if (status >= 500) {
    return {
      cause: `the server fails (${status})`,
      hint: "The fault is at the server, or at what stands before it: look at its log, and try again later."
    }
  }
  if (status !== 404 && status !== 405 && status !== 410) {
    return {
      cause: `the server refuses the request (${status})`,
      hint: "Check the address and the headers in its configuration."
    }
  }
  const path = "url" in config && URL.canParse(config.url) ? new URL(config.url).pathname : ""
  const usual = config.transport === "sse" && path.endsWith("/mcp")
    ? `The path looks like Streamable HTTP: set "type" to "http".`
    : config.transport !== "sse" && path.endsWith("/sse")
    ? `The path looks like the old HTTP+SSE transport: set "type" to "sse", or try /mcp.`
    : `MCP servers are usually at /mcp; old ones of HTTP+SSE are at /sse, with "type": "sse".`
  return {
    cause: status === 404 ? "the path of the URL is wrong" : "nothing at this URL takes messages",
    hint: `There is no MCP server at ${path === "" ? "this address" : quote(path)} (${status}). ${usual}`
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

/** By tag, where the words of the label do not do. */
const rows: { readonly [E in McpError.McpError as E["_tag"]]?: (error: E, facts: Facts) => Cause | undefined } = {
  ConfigurationError: configuration,
  SpawnFailed: spawn,
  ConnectTimeout: (error, facts) => noisy(facts) ?? blamed(facts) ?? timeout(error, facts),
  ConnectionLost: (error, facts) =>
    (error.reason === "exited" ? undefined : noisy(facts)) ?? blamed(facts) ?? lost(error, facts),
  ProtocolViolation: ({ reason }, facts) => reason === "message" ? noisy(facts) : undefined,
  HandshakeFailed: ({ code, got = "", reason, supported = [] }) =>
    reason === "rejected" ? { cause: `it refuses to initialize (${code})` } : {
      cause: "the protocol version is wrong",
      hint: `It speaks ${quote(got)}, and this client ${supported.join(", ")}: update the server.`
    },
  NetworkError: ({ code, proxy, reason }) => ({
    cause: reason === "proxy"
      ? `the proxy ${proxy} does not connect to it (${code})`
      : reason === "tls"
      ? `its TLS cannot be used (${code})`
      : unreached.get(code) ?? `the network fails (${code})`
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

export const ofError = (error: McpError.McpError, facts: Facts) => ({
  cause: McpError.fault(error),
  hint: McpError.forPerson(error),
  // the row of a tag takes the errors of that tag
  ...rows[error._tag]?.(error as never, facts)
})

/** A problem of one tool. */
interface Finding {
  readonly cause: string
  readonly message: string
  readonly hint: string
  readonly isError: boolean
}

const reasons: Record<Tool.RejectedTool["reason"], string> = {
  malformed: "a tool is malformed",
  "name-empty": "a tool has no name",
  "name-too-long": "the name of a tool is too long",
  "name-characters": "the name of a tool has characters that are not allowed in one",
  "name-reserved": "the name of a tool is reserved",
  duplicate: "two tools have one name",
  "schema-malformed": "the schema of a tool is malformed",
  "schema-too-large": "the schema of a tool is too large",
  "schema-too-deep": "the schema of a tool is nested too deeply",
  "schema-remote-ref": "the schema of a tool refers to another place",
  "header-annotation": "the header annotations of a tool are wrong"
}

const shown = (name: string): string => `the tool ${quote(name, 64)}`

const rejected = ({ detail, name, reason }: Tool.RejectedTool): Finding => ({
  isError: true,
  cause: reasons[reason],
  message: `${shown(name)} cannot be offered: ${detail}`,
  hint: "The other tools are unharmed. This is a fault of the server: tell its author."
})

const suspicious = (tool: Tool.Tool): ReadonlyArray<Finding> => {
  const signals = InjectionScan.scanTool(tool).filter(({ level }) => level !== "low")
  const first = signals.find(({ level }) => level === "high") ?? signals[0]
  if (first === undefined) return []
  const more = signals.length === 1 ? "" : `, and ${signals.length - 1} more`
  return [{
    isError: false,
    cause: "the definition of a tool reads like orders to a model",
    message: `${shown(tool.name)}, at ${excerpt(first.path, 64)} (${first.category}, ${first.level}${more}): `
      + first.excerpt,
    hint: "Read it with `mcp-runtime show` before you let a model use it."
  }]
}

const hidden = ({ description = "", name, title = "" }: Tool.Tool): ReadonlyArray<Finding> => {
  const findings = [title, description].flatMap((text) => HiddenText.clean(text, "metadata").findings)
  const kinds = Array.from(new Set(findings.map(({ kind }) => kind)))
  return kinds.length === 0 ? [] : [{
    isError: false,
    cause: "the definition of a tool hides something",
    message: `${shown(name)} has characters that a person does not see (${kinds.join(", ")})`,
    hint: "They are taken out before a model is given the definition."
  }]
}

/** A server can have thousands of bad tools. */
const most = 20

export const ofTools = (
  { rejected: bad, tools }: Pick<Tool.ToolList, "rejected" | "tools">
): ReadonlyArray<Finding> => {
  const all = [...bad.map(rejected), ...tools.flatMap(suspicious), ...tools.flatMap(hidden)]
  return all.length <= most ? all : [...all.slice(0, most), {
    isError: false,
    cause: "there is more of that kind",
    message: `${all.length - most} more were found in its tools`,
    hint: "See all tools with `mcp-runtime tools`."
  }]
}
