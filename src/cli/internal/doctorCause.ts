/**
 * What an error means for whoever set the server up: the cause in a few words, and what to do about it. One table, by
 * the tag of the error and its fields.
 *
 * @internal
 */
import * as ErrorAdvice from "../../errorAdvice.ts"
import type * as McpError from "../../McpError.ts"
import * as ShellWords from "../../text/shellWords.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import type { Cause, Facts } from "./doctorFacts.ts"
import * as Process from "./doctorProcess.ts"
import * as Remote from "./doctorRemote.ts"

type Table = {
  readonly [T in McpError.McpError["_tag"]]: (
    error: Extract<McpError.McpError, { readonly _tag: T }>,
    facts: Facts
  ) => Cause
}

/** Nothing is known of it but what is always said. */
const known = (cause: string) => (error: McpError.McpError): Cause => ({ cause, hint: ErrorAdvice.forPerson(error) })

const isNotSet = (name: string): Cause => ({
  cause: `${UntrustedText.quote(name)} is not set`,
  hint: `Set ${name} before this program starts, or write its value or a default for it into the file.`
})

const configuration = (error: McpError.ConfigurationError): Cause => {
  const { variable } = error
  switch (variable?.why) {
    case "variable-unset":
    case "input-required":
      return isNotSet(variable.from ?? variable.name)
    case "variable-forbidden": {
      const name = variable.from ?? variable.name
      return {
        cause: `${UntrustedText.quote(name)} may not be read`,
        hint: `A file of the workspace may not read ${name}: write its value into "env" of the server, or grant it `
          + `with \`mcp-runtime approve ${ShellWords.quote(error.server)} --variable ${ShellWords.quote(name)}\`.`
      }
    }
    case undefined:
      return {
        cause: "its configuration cannot be used",
        hint: `Correct ${UntrustedText.quote(error.path)} in its file.`
      }
  }
}

const docker: Partial<Record<McpError.SpawnFailed["reason"], Cause>> = {
  "docker-not-installed": {
    cause: "Docker is not installed",
    hint: "Install Docker with its MCP Toolkit, or set \"command\" to where it is."
  },
  "docker-no-mcp-plugin": {
    cause: "Docker cannot run it",
    hint: "Install Docker with its MCP Toolkit, or set \"command\" to where it is."
  },
  "docker-daemon-down": {
    cause: "Docker cannot run it",
    hint: "Start Docker, and look at DOCKER_HOST and the Docker context."
  },
  "docker-timeout": {
    cause: "Docker cannot run it",
    hint: "Start Docker, and look at DOCKER_HOST and the Docker context."
  }
}

const handshake = ({ code, got = "", reason, supported = [] }: McpError.HandshakeFailed): Cause =>
  reason === "version"
    ? {
      cause: "the protocol version is wrong",
      hint: `It speaks ${UntrustedText.quote(got)}, and this client ${supported.join(", ")}: update the server.`
    }
    : {
      cause: `it refuses to initialize (${code})`,
      hint: "Its own words say why; often a variable, a licence or an argument is missing in its configuration."
    }

const violation = (error: McpError.ProtocolViolation, facts: Facts): Cause => {
  switch (error.reason) {
    case "pagination":
      return { cause: "its list never ends", hint: "This is a fault of the server: its pages lead to each other." }
    case "input-rounds":
      return known("it asks for input without end")(error)
    case "tool-result":
      return known("a result is not what was promised")(error)
    case "message":
      return Process.noisy(facts) ?? {
        cause: "it breaks the protocol",
        hint: `This is a fault of the server: ${UntrustedText.excerpt(error.what, 200)}. Update it, or tell whoever `
          + "wrote it."
      }
  }
}

const denied = (error: McpError.PermissionDenied): Cause => {
  switch (error.why) {
    case "policy":
      return { cause: "a policy denies it", hint: "Ask whoever wrote the policy of this machine or workspace." }
    case "quarantined":
      return known("a tool is not what it was")(error)
    default:
      return known("a rule denies it")(error)
  }
}

const table: Table = {
  AuthorizationFailed: Remote.authorization,
  Cancelled: known("the request was cancelled"),
  CapabilityMissing: known("it does not have what it was asked for"),
  CircuitOpen: known("it failed too often"),
  Closed: known("the connection is closed"),
  ConfigurationError: configuration,
  ConnectTimeout: Process.timeout,
  ConnectionLost: Process.ended,
  HandshakeFailed: handshake,
  HttpError: Remote.http,
  InvalidArguments: known("the arguments are wrong"),
  MessageTooLarge: () => ({
    cause: "a message is too large",
    hint: "Have the server send less, or raise \"maxMessageBytes\" in its configuration."
  }),
  NetworkError: Remote.network,
  NotFound: known("there is no such thing"),
  Overloaded: known("too many requests wait"),
  PermissionDenied: denied,
  ProtocolViolation: violation,
  RemoteError: ({ code }, { step }) =>
    step === "list"
      ? {
        cause: `tools/list fails (${code})`,
        hint: "It is connected, and cannot tell its tools: see its own words and its log."
      }
      : { cause: `it answers with an error (${code})`, hint: "See its own words and its log." },
  RequestTimeout: (_, { step }) => ({
    cause: step === "list" ? "it never answers tools/list" : "it does not answer in time",
    hint: "It is connected, and then hangs: see what it says, or give it longer with --timeout."
  }),
  RequiredServersFailed: known("servers that are required are not there"),
  ServerUnavailable: known("it is not available"),
  SessionExpired: known("the session has expired"),
  SpawnFailed: (error, facts) => docker[error.reason] ?? Process.spawn(error, facts),
  ToolError: known("a tool failed"),
  TrustNotKept: known("what was agreed to could not be kept")
}

/** @internal */
export const of = <E extends McpError.McpError>(error: E, facts: Facts): Cause => {
  const [unset] = "unset" in error ? error.unset ?? [] : []
  if (unset !== undefined) return isNotSet(unset.name)
  // the table has, for the tag of an error, what takes that error
  const entry = table[error._tag] as (error: E, facts: Facts) => Cause
  return entry(error, facts)
}
