/**
 * Whether a call that failed may be made once more, on what its error says and never on its text.
 *
 * @internal
 */
import type * as ServerConfig from "../../config/ServerConfig.ts"
import type * as McpError from "../../McpError.ts"
import type * as CallPolicy from "../CallPolicy.ts"

/** They can be retried, but not now: asking again at once is what they refuse. */
const refusals: ReadonlySet<McpError.RuntimeError["_tag"]> = new Set<McpError.RuntimeError["_tag"]>([
  "CircuitOpen",
  "Overloaded",
  "RateLimited",
  "ServerUnavailable",
  "Unavailable"
])

/** The caller's own limit is used up, so there is no time for another attempt. */
const isOutOfTime = (error: McpError.RuntimeError): boolean => error._tag === "RequestTimeout" && error.kind === "total"

const isHarmless = (config: ServerConfig.ServerConfig, { replay, tool }: CallPolicy.Failed): boolean => {
  if (replay !== undefined) return replay
  if (config.trusted !== true || tool === undefined) return false
  return tool.annotations.readOnlyHint === true || tool.annotations.idempotentHint === true
}

/** @internal */
export const isRepeatable = (config: ServerConfig.ServerConfig, failed: CallPolicy.Failed): boolean => {
  const { connected, error } = failed
  if (!connected || isOutOfTime(error) || refusals.has(error._tag)) return false
  switch (error.outcome) {
    case "not-sent":
      return error.isRetryable
    case "unknown":
      // what is no fault of the way would happen again
      return error.countsForBreaker && isHarmless(config, failed)
    case "executed":
      return false
  }
}

/**
 * Whether a call found its connection gone before it could be sent.
 *
 * @internal
 */
export const hasLostItsWay = (error: McpError.RuntimeError): boolean =>
  error.outcome === "not-sent" &&
  (error._tag === "ConnectionLost" || error._tag === "ProcessExited" || error._tag === "StreamInterrupted")
