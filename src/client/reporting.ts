/**
 * What a connection reports to the application: errors and diagnostics, without the secrets that are known while it
 * lives. Errors leave a connection here and nowhere else, so that no other code has to redact.
 */
import type * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import type * as Redaction from "../safety/Redaction.ts"
import type * as Transport from "../transport/Transport.ts"

export interface Reporting {
  /** How far the connect has come, which errors and timeouts name. */
  phase: McpError.Phase
  /** The error with the phase of the connect and without secrets; the same one where nothing changes. */
  readonly error: <E extends McpError.McpError>(error: E) => E
  readonly text: (text: string) => string
  readonly diagnostic: (diagnostic: Transport.Diagnostic) => void
  /** Reports a deviation of the server that is forgiven. */
  readonly lenient: (detail: string) => void
}

export interface Options {
  readonly server: string
  readonly redaction: Redaction.Redactor
  readonly publish: (event: McpEvent.McpEvent) => void
}

/** The fields that are decided on: a secret that happens to be the same word must not change what happens. */
const decisive: ReadonlySet<string> = new Set([
  "_tag",
  "code",
  "decision",
  "direction",
  "errno",
  "exceeds",
  "kind",
  "operation",
  "outcome",
  "phase",
  "reason",
  "redirect",
  "server",
  "signal",
  "why"
])

/** Errors of the transport, which does not know how far the connect has come. */
const knowsNoPhase = (error: McpError.McpError): error is McpError.ConnectionLost | McpError.ProtocolViolation =>
  "phase" in error &&
  (error._tag === "ProtocolViolation" || (error._tag === "ConnectionLost" && error.reason === "exited"))

/** Of each kind of diagnostic the first 20 are published, then every hundredth. */
const unlimitedCount = 20
const every = 100

export const make = ({ publish, redaction, server }: Options): Reporting => {
  const counts = new Map<Transport.Diagnostic["kind"], number>()
  const reporting: Reporting = {
    phase: "ready",
    text: redaction.text,
    error: (error) => {
      const fields = new Map<string, unknown>(Object.entries(error))
      const { phase } = reporting
      let isChanged = phase !== "ready" && knowsNoPhase(error) && error.phase !== phase
      if (isChanged) fields.set("phase", phase)
      for (const [key, value] of fields) {
        if (decisive.has(key)) continue
        const redacted = redaction.json(value)
        if (redacted === value) continue
        fields.set(key, redacted)
        isChanged = true
      }
      // the cast: the same class with fields of the same types, made anew so that its stack has nothing of the old text
      return isChanged ? Reflect.construct(error.constructor, [Object.fromEntries(fields)]) as typeof error : error
    },
    lenient: (detail) => reporting.diagnostic({ kind: "lenient", detail }),
    diagnostic: ({ detail, kind }) => {
      const count = (counts.get(kind) ?? 0) + 1
      counts.set(kind, count)
      if (count > unlimitedCount && count % every !== 0) return
      publish(McpEvent.McpEvent.Diagnostic({
        server,
        diagnostic: { kind, detail: redaction.text(detail) },
        suppressed: count > unlimitedCount ? every - 1 : 0
      }))
    }
  }
  return reporting
}
