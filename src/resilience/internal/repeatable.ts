/**
 * Which requests may be sent again, decided on the fields of the error and never on its text.
 *
 * @internal
 */
import type * as ServerConfig from "../../config/ServerConfig.ts"
import type * as McpError from "../../McpError.ts"
import type * as CallPolicy from "../CallPolicy.ts"

/** Methods that read, or whose second execution changes nothing. `tools/call` and unknown methods are not among them. */
const idempotent: ReadonlySet<string> = new Set([
  "completion/complete",
  "initialize",
  "logging/setLevel",
  "ping",
  "prompts/get",
  "prompts/list",
  "resources/list",
  "resources/read",
  "resources/subscribe",
  "resources/templates/list",
  "resources/unsubscribe",
  "server/discover",
  "subscriptions/listen",
  "tasks/cancel",
  "tasks/get",
  "tasks/list",
  "tasks/result",
  "tools/list"
])

/** @internal */
export const isIdempotent = (method: string): boolean => idempotent.has(method)

/** Retryable, but not now, because they refuse requests that come too soon. */
const refusals: ReadonlySet<McpError.RuntimeError["_tag"]> = new Set<McpError.RuntimeError["_tag"]>([
  "CircuitOpen",
  "Overloaded",
  "RateLimited",
  "ServerUnavailable",
  "Unavailable"
])

/** The caller's own limit is used up, so there is no time for another attempt. */
const isOutOfTime = (error: McpError.RuntimeError): boolean => error._tag === "RequestTimeout" && error.kind === "total"

/** Annotations that allow a second execution count only where the server is trusted. */
const isHarmless = (config: ServerConfig.ServerConfig, { idempotent, tool }: CallPolicy.Failed): boolean => {
  if (idempotent !== undefined) return idempotent
  if (config.trusted !== true || tool === undefined) return false
  return tool.annotations.readOnlyHint === true || tool.annotations.idempotentHint === true
}

/**
 * Annotations that forbid a second execution count for every server. The specification's defaults forbid nothing, but a
 * tool that its server does not list may have any annotations.
 */
const isHarmful = ({ idempotent, tool }: CallPolicy.Failed): boolean => {
  if (idempotent !== undefined) return !idempotent
  if (tool === undefined) return true
  const { destructiveHint, idempotentHint, readOnlyHint } = tool.annotations
  return destructiveHint === true && idempotentHint !== true && readOnlyHint !== true
}

/** @internal */
export const isRepeatable = (config: ServerConfig.ServerConfig, failed: CallPolicy.Failed): boolean => {
  const { connected, error, sent } = failed
  if (!connected || isOutOfTime(error) || refusals.has(error._tag)) return false
  switch (error.outcome) {
    case "not-sent":
      return error.isRetryable
    case "unknown":
      // by the specification this refusal means that the request was not executed; one such answer is believed
      if (error._tag === "SessionExpired") return sent === 1 && !isHarmful(failed)
      // an error that is no fault of the connection would come again
      return error.countsForBreaker && isHarmless(config, failed)
    case "executed":
      return false
  }
}

/**
 * The first repetition needs no delay of its own: it waits for the next connection, or for the new session.
 *
 * @internal
 */
export const isAtOnce = ({ attempts, error }: CallPolicy.Failed): boolean =>
  error._tag === "SessionExpired" || (attempts === 1 && error.outcome === "not-sent" &&
    (error._tag === "ConnectionLost" || error._tag === "ProcessExited" || error._tag === "StreamInterrupted"))
