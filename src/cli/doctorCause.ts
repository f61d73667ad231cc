/** The cause of an error in a few words, and the next step, with the facts that the doctor has seen. */
import * as McpError from "../McpError.ts"
import * as ShellWords from "../text/shellWords.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type { Cause, Facts } from "./doctorFacts.ts"
import * as Process from "./doctorProcess.ts"
import * as Remote from "./doctorRemote.ts"

type Table = {
  readonly [T in McpError.McpError["_tag"]]: (
    error: Extract<McpError.McpError, { readonly _tag: T }>,
    facts: Facts
  ) => Cause
}

/** The advice of the table of errors fits as it is. */
const known = (cause: string) => (error: McpError.McpError): Cause => ({ cause, hint: McpError.forPerson(error) })

const isNotSet = (name: string): Cause => ({
  cause: `${UntrustedText.quote(name)} is not set`,
  hint: `Set ${name} before this program starts, or write its value or a default for it into the file.`
})

const configuration = (error: McpError.ConfigurationError): Cause => {
  const { variable } = error
  switch (variable?.why) {
    case "input-required":
      return { cause: `unanswered ${variable.name.replace(":", " \"")}"`, hint: McpError.forPerson(error) }
    case "variable-unset":
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
      return known("its list never ends")(error)
    case "input-rounds":
      return known("it asks for input without end")(error)
    case "tool-result":
      return known("a result does not fit its schema")(error)
    case "message":
      return Process.noisy(facts) ?? known("it breaks the protocol")(error)
  }
}

const denied = (error: McpError.PermissionDenied): Cause => {
  switch (error.why) {
    case "policy":
      return known("a policy denies it")(error)
    case "quarantined":
      return known("a tool has changed")(error)
    default:
      return known("a rule denies it")(error)
  }
}

const table: Table = {
  AuthorizationFailed: Remote.authorization,
  Cancelled: known("the request was cancelled"),
  CapabilityMissing: known("it lacks a capability"),
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
  NotFound: known("it was not found"),
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
  RequiredServersFailed: known("required servers did not start"),
  ServerUnavailable: known("it is not available"),
  SessionExpired: known("the session has expired"),
  SpawnFailed: Process.spawn,
  ToolError: known("a tool failed"),
  RegistryError: known("the registry gave no entry for it"),
  TrustNotKept: known("a decision could not be kept")
}

export const of = <E extends McpError.McpError>(error: E, facts: Facts): Cause => {
  // the entry of a tag takes the errors of that tag
  const entry = table[error._tag] as (error: E, facts: Facts) => Cause
  return entry(error, facts)
}
