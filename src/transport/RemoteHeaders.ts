/**
 * The headers that a remote server wants beside those of the protocol: from its configuration, an environment variable
 * or a program, and, where a Layer says so, from a login.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { fromConfig, type Headers, type RemoteServer } from "../config/remoteHeaders.ts"
import * as Secrets from "../config/secrets.ts"
import type * as McpError from "../McpError.ts"
import * as Redaction from "../safety/Redaction.ts"
import type * as HeaderField from "../text/headerField.ts"

export { fromConfig, type Headers, type RemoteServer }

/** A request that the server refused for its login. */
export interface Refusal {
  readonly status: 401 | 403
  readonly challenge: HeaderField.Challenge
  /** What `Login.headers` gave for the request. */
  readonly sent: Headers
  /** How often the request was sent before. */
  readonly attempt: number
  /** True for a call that a caller waits for, false for what keeps a connection. */
  readonly foreground: boolean
  /** To be called when a person is asked, and when that is over: clocks stand still meanwhile. */
  readonly waiting: (open: boolean) => void
}

/** Credentials that change while a connection lives. */
export interface Login {
  /** The headers of a request where no question to a person or server is needed; the time is in milliseconds. */
  readonly now: (time: number) => Headers | undefined
  /** The headers of one request, asked for right before it is sent. */
  readonly headers: (
    request: { readonly method: string; readonly url: string }
  ) => Effect.Effect<Headers, McpError.AuthorizationFailed>
  /** A number for the next proof (`DPoP-Nonce`), which can come with any response. */
  readonly nonce: (nonce: string) => void
  /** True if there are other headers now, and the request is to be sent again. */
  readonly refused: (refusal: Refusal) => Effect.Effect<boolean, McpError.AuthorizationFailed>
}

/** The headers of one connection. */
export interface Source {
  /** Asked before each request; the same map as long as nothing has changed. */
  readonly current: () => Headers
  /** Told when the server has refused them. */
  readonly refused: (error: McpError.AuthorizationFailed | McpError.HttpError) => void
  readonly login?: Login | undefined
}

/** Headers that stay the same for a connection's life. */
export const constant = (headers: Headers): Source => ({ current: () => headers, refused: () => undefined })

/** Turns the configuration of a server into headers, at each connect. By default: the configuration alone. */
export class RemoteHeaders extends Context.Reference<RemoteHeaders>()("effect-mcp-runtime/transport/RemoteHeaders", {
  defaultValue: (): {
    readonly resolve: (config: RemoteServer) => Effect.Effect<Source, McpError.ConnectError, Scope.Scope>
  } => ({ resolve: (config) => Effect.map(fromConfig(config), constant) })
}) {}

/**
 * The headers of the fiber that opens a connection, because the credentials of a runtime may be made after its transports;
 * without any, those of the environment that this is run in.
 */
export const whenOpened: Effect.Effect<RemoteHeaders["Type"]> = Effect.map(RemoteHeaders, (built) => ({
  resolve: (config) =>
    Effect.contextWithEffect((context: Context.Context<never>) =>
      (context.unsafeMap.has(RemoteHeaders.key) ? Context.get(context, RemoteHeaders) : built).resolve(config)
    )
}))

/** Makes `Redaction` hide what the source gives until the scope closes, because servers echo what they were sent. */
export const secret = (source: Source): Effect.Effect<Source, never, Scope.Scope> =>
  Effect.gen(function*() {
    const redaction = yield* Redaction.Redaction
    const releases: Array<() => void> = []
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const release of releases) release()
      })
    )
    let seen: Headers | undefined
    const current = (): Headers => {
      const headers = source.current()
      if (headers === seen) return headers
      seen = headers
      const secrets = Array.from(headers).flatMap(([name, header]) => Secrets.ofHeader(name, header))
      releases.push(...secrets.map((secret) => redaction.unsafeKnow(secret)))
      return headers
    }
    return { login: source.login, refused: source.refused, current }
  })
