/** The cause of a failure in a few words and the next step, for `doctor`; and the problems of tool definitions. */
import * as Duration from "effect/Duration"
import * as Launcher from "../config/launcher.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as ErrorRow from "../errorRow.ts"
import * as McpError from "../McpError.ts"
import * as HiddenText from "../safety/HiddenText.ts"
import * as InjectionScan from "../safety/InjectionScan.ts"
import * as StderrReader from "../stderrReader.ts"
import * as ShellWords from "../text/shellWords.ts"
import { excerpt, quote } from "../text/UntrustedText.ts"
import type * as Tool from "../tools/Tool.ts"

/** The context of an error. */
export interface Facts {
  readonly step: string
  readonly config: ServerConfig.ServerConfig
  /** The folders in which its command is looked up. */
  readonly folders: ReadonlyArray<string>
  /** The first line on stdout that was not a message. */
  readonly noise: string | undefined
  readonly stderr: string | undefined
}

/** An absent field leaves the text of the error table. */
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
        hint: `Set ${name} in the environment, or write a value or a default into the file.`
      }
    case "variable-forbidden":
      return {
        cause: `not allowed to read ${quote(name)}`,
        hint: `Servers of a workspace cannot read ${name}. Write the value into "env" of the server, or allow it `
          + `with \`mcp-runtime approve ${ShellWords.quote(server)} --variable ${ShellWords.quote(name)}\`.`
      }
    case undefined:
      return { cause: "invalid configuration" }
  }
}

const spawn = (error: McpError.SpawnFailed, { folders }: Facts): Cause | undefined => {
  const { command = "", errno, reason } = error
  if (reason === "folder") return { cause: "working folder does not exist" }
  if (reason === "file") return { cause: "command not found" }
  if (reason !== "command") return undefined
  if (errno === "EACCES") return { cause: "command not executable" }
  const where = folders.length === 0 ? "an empty PATH" : folders.join(", ")
  return errno !== "ENOENT" ? undefined : {
    cause: "command not found on PATH",
    hint: `Searched for ${quote(command)} in ${where}. ${McpError.forPerson(error)}`
  }
}

/** Text on stdout that is not a message. */
const noisy = ({ noise }: Facts): Cause | undefined => {
  if (noise === undefined) return undefined
  const shown = `stdout: ${quote(noise, 120)}`
  return /^\s*[{[]/.test(noise)
    ? {
      cause: "stdout has JSON that is not an MCP message",
      hint: `${shown} This is a bug in the server: each line must be one JSON-RPC message.`
    }
    : {
      cause: "logs on stdout",
      hint: `${shown} Make the server log to stderr, or check that the command starts an MCP server over stdio.`
    }
}

/** The cause that stderr names. */
const blamed = ({ stderr }: Facts): Cause | undefined => {
  const { fault } = StderrReader.read(stderr)
  return fault && { cause: fault.cause, hint: fault.remedy }
}

const timeout = ({ limit, phase }: McpError.ConnectTimeout, { config, stderr }: Facts): Cause => {
  if (phase === "install") {
    return { cause: `${Launcher.of(config)?.program ?? "the launcher"} is still installing the server` }
  }
  const within = Duration.format(limit)
  if (phase === "spawn" || phase === "open" || phase === "endpoint") {
    return {
      cause: "connect timed out",
      hint: `No answer within ${within}. Check the URL, or increase --timeout.`
    }
  }
  const { line } = StderrReader.read(stderr)
  const output = line === undefined ? "" : ` Its stderr: ${quote(line, 200)}.`
  return {
    cause: "no answer to initialize",
    hint: `It runs, but did not answer within ${within}.${output} Check that it is an MCP server over `
      + `${config.transport}, or increase --timeout.`
  }
}

const lost = ({ code, reason, signal }: McpError.ConnectionLost, { stderr, step }: Facts): Cause | undefined => {
  if (reason === "stream-interrupted") return undefined
  const end = signal ?? `code ${code}`
  const hint = "This is a bug in the server: see the last lines of its stderr."
  if (reason !== "exited") return { cause: "the server closed the connection", hint }
  if (step !== "initialize") return { cause: `the server exited during the request (${end})`, hint }
  return {
    cause: `the server exits at startup (${end})`,
    hint: stderr === undefined
      ? "It printed nothing. Check that the command and arguments start an MCP server."
      : "See the last lines of its stderr; often an argument or a variable (\"env\") is missing."
  }
}

const http = ({ reason, status = 0 }: McpError.HttpError, { config }: Facts): Cause | undefined => {
  if (reason !== "status") return undefined
  if (status >= 500) {
    return {
      cause: `server error (${status})`,
      hint: "The server or a proxy in front of it failed: check its log, and try again later."
    }
  }
  if (status !== 404 && status !== 405 && status !== 410) {
    return {
      cause: `the server rejects the request (${status})`,
      hint: "Check the URL and the headers in the configuration."
    }
  }
  const path = "url" in config && URL.canParse(config.url) ? new URL(config.url).pathname : ""
  const usual = config.transport === "sse" && path.endsWith("/mcp")
    ? `The path looks like Streamable HTTP: set "type" to "http".`
    : config.transport !== "sse" && path.endsWith("/sse")
    ? `The path looks like the legacy HTTP+SSE transport: set "type" to "sse", or try /mcp.`
    : `MCP servers usually use /mcp; legacy HTTP+SSE servers use /sse and "type": "sse".`
  return {
    cause: status === 404 ? "wrong path in the URL" : "this URL does not accept messages",
    hint: `No MCP server at ${path === "" ? "this URL" : quote(path)} (${status}). ${usual}`
  }
}

const authorization = (
  { reason, server }: McpError.AuthorizationFailed,
  { config }: Facts
): Cause | undefined => {
  if (reason !== "unauthorized") return undefined
  const headers = Array.from("headers" in config ? config.headers?.keys() ?? [] : [])
  return {
    hint: headers.some((name) => /^(authorization|x-api-key)$/i.test(name))
      ? "The credentials in its headers are rejected: they may have expired, or belong to another server."
      : `${ErrorRow.logIn(server)} Or add a header to its configuration, such as "Authorization": "Bearer \${TOKEN}".`
  }
}

const unreached: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "no server listens at this URL"],
  ["ENOTFOUND", "unknown host in the URL"],
  ["EAI_AGAIN", "unknown host in the URL"]
])

/** By tag, where doctor knows more than the error table. */
const rows: { readonly [E in McpError.McpError as E["_tag"]]?: (error: E, facts: Facts) => Cause | undefined } = {
  ConfigurationError: configuration,
  SpawnFailed: spawn,
  ConnectTimeout: (error, facts) => noisy(facts) ?? blamed(facts) ?? timeout(error, facts),
  ConnectionLost: (error, facts) =>
    (error.reason === "exited" ? undefined : noisy(facts)) ?? blamed(facts) ?? lost(error, facts),
  ProtocolViolation: ({ reason }, facts) => reason === "message" ? noisy(facts) : undefined,
  NetworkError: ({ code }) => {
    const cause = unreached.get(code)
    return cause === undefined ? undefined : { cause }
  },
  HttpError: http,
  AuthorizationFailed: authorization,
  RemoteError: ({ code }, { step }) => ({
    cause: `${step === "list" ? "tools/list failed" : "the server returned an error"} (${code})`,
    hint: "It is connected but cannot list its tools: see its message and its log."
  }),
  RequestTimeout: (_, { step }) => ({
    cause: step === "list" ? "no answer to tools/list" : "request timed out",
    hint: "It is connected but hangs: check its log, or increase --timeout."
  })
}

export const ofError = (error: McpError.McpError, facts: Facts) => ({
  cause: ErrorRow.fault(error),
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
  malformed: "malformed tool",
  "name-empty": "tool without a name",
  "name-too-long": "tool name too long",
  "name-characters": "invalid characters in a tool name",
  "name-reserved": "reserved tool name",
  duplicate: "duplicate tool name",
  "schema-malformed": "malformed tool schema",
  "schema-too-large": "tool schema too large",
  "schema-too-deep": "tool schema nested too deeply",
  "schema-remote-ref": "remote reference in a tool schema",
  "header-annotation": "invalid header annotations of a tool"
}

const shown = (name: string): string => `the tool ${quote(name, 64)}`

const rejected = ({ detail, name, reason }: Tool.RejectedTool): Finding => ({
  isError: true,
  cause: reasons[reason],
  message: `${shown(name)} is not offered: ${detail}`,
  hint: "The other tools work. This is a bug in the server: report it to its author."
})

const suspicious = (tool: Tool.Tool): ReadonlyArray<Finding> => {
  const signals = InjectionScan.scanTool(tool).filter(({ level }) => level !== "low")
  const first = signals.find(({ level }) => level === "high") ?? signals[0]
  if (first === undefined) return []
  const more = signals.length === 1 ? "" : `, and ${signals.length - 1} more`
  return [{
    isError: false,
    cause: "possible prompt injection in a tool definition",
    message: `${shown(tool.name)}, at ${excerpt(first.path, 64)} (${first.category}, ${first.level}${more}): `
      + first.excerpt,
    hint: "Read it with `mcp-runtime show` before a model uses it."
  }]
}

const hidden = ({ description = "", name, title = "" }: Tool.Tool): ReadonlyArray<Finding> => {
  const findings = [title, description].flatMap((text) => HiddenText.clean(text, "metadata").findings)
  const kinds = Array.from(new Set(findings.map(({ kind }) => kind)))
  return kinds.length === 0 ? [] : [{
    isError: false,
    cause: "hidden characters in a tool definition",
    message: `${shown(name)} has invisible characters (${kinds.join(", ")})`,
    hint: "They are removed before a model gets the definition."
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
    cause: "more problems in tools",
    message: `${all.length - most} more problems in its tools are not shown`,
    hint: "List all tools with `mcp-runtime tools`."
  }]
}
