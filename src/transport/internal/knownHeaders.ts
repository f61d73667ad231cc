/**
 * The headers of a connection, known as secrets before they are sent: a server may send back what it was sent.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Hold from "../../internal/hold.ts"
import * as Redaction from "../../safety/Redaction.ts"
import type * as RemoteHeaders from "../RemoteHeaders.ts"

/** What these hold is no secret of anybody's, and errors speak of it. */
const harmless: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "baggage",
  "cache-control",
  "content-type",
  "mcp-protocol-version",
  "origin",
  "referer",
  "traceparent",
  "tracestate",
  "user-agent"
])

const scheme = /^[A-Za-z][\w-]{1,20}\s+/

/** The whole of a value, what follows the name of its scheme, and the password in that. */
const secretsOf = (header: string): ReadonlyArray<string> => {
  const named = scheme.exec(header)
  if (named === null) return header.split(/;\s*/).flatMap((pair) => [pair, pair.slice(pair.indexOf("=") + 1)])
  const credential = header.slice(named[0].length)
  if (!/^basic\s/i.test(header)) return [credential]
  const pair = Buffer.from(credential, "base64").toString("utf8")
  return [credential, pair, pair.slice(pair.indexOf(":") + 1)]
}

/** Shorter values of a header that nobody knows are `1`, `true` and `eu-west`. */
const shortest = 8

const isSecret = (name: string, value: string): boolean =>
  value.length >= shortest || (value !== "" && /auth|cookie|key|pass|secret|token/i.test(name))

/**
 * A source that knows what it gives, until the scope closes.
 *
 * @internal
 */
export const make = (
  source: RemoteHeaders.Source
): Effect.Effect<RemoteHeaders.Source, never, Scope.Scope> =>
  Effect.gen(function*() {
    const redaction = yield* Redaction.Redaction
    const held: Array<() => void> = []
    yield* Hold.letGo(() => {
      for (const release of held) release()
    })
    let seen: ReadonlyMap<string, Redacted.Redacted> | undefined
    return {
      login: source.login,
      refused: source.refused,
      current: () => {
        const headers = source.current()
        if (headers === seen) return headers
        seen = headers
        for (const [name, header] of headers) {
          if (harmless.has(name.toLowerCase())) continue
          const values = secretsOf(Redacted.value(header))
          for (const value of values) if (isSecret(name, value)) held.push(redaction.unsafeKnow(Redacted.make(value)))
        }
        return headers
      }
    }
  })
