/** The errors that every transport makes. */
import * as McpError from "../McpError.ts"
import * as UntrustedText from "../text/UntrustedText.ts"

/** The error for a request whose outcome is `outcome`. */
export type ByOutcome<E> = (outcome: McpError.Outcome) => E

export const closed = (server: string): ByOutcome<McpError.Closed> => (outcome) =>
  new McpError.Closed({ server, operation: "the request", outcome })

export const lost = (
  server: string,
  reason: McpError.ConnectionLost["reason"],
  detail: string
): ByOutcome<McpError.ConnectionLost> =>
(outcome) => new McpError.ConnectionLost({ server, reason, detail, outcome })

export const tooLarge = (server: string, limit: number, direction: "sent" | "received"): McpError.MessageTooLarge =>
  new McpError.MessageTooLarge({ server, limit, direction })

export const queueFull = (server: string, queued: number, limit: number): McpError.Overloaded =>
  new McpError.Overloaded({ server, queue: "write", queued, limit })

export const violation = (
  server: string,
  what: string,
  excerpt: string,
  rest?: { readonly phase?: McpError.Phase; readonly outcome?: McpError.Outcome }
): McpError.ProtocolViolation =>
  new McpError.ProtocolViolation({
    server,
    what,
    excerpt: UntrustedText.excerpt(excerpt, 256),
    outcome: "unknown",
    phase: "ready",
    ...rest
  })

export const redirected = (
  server: string,
  to: string,
  redirect: McpError.HttpError["redirect"]
): McpError.HttpError =>
  new McpError.HttpError({ server, reason: "redirect", outcome: "not-sent", to: to.slice(0, 2048), redirect })
