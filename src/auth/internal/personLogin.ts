/**
 * A person logs in: OAuth 2.1 with PKCE.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as McpError from "../../McpError.ts"
import type * as Interaction from "../Interaction.ts"
import * as UrlGuard from "../UrlGuard.ts"
import * as Authority from "./authority.ts"
import * as Exchange from "./exchange.ts"
import type * as KeptLogin from "./keptLogin.ts"
import * as OAuthSdk from "./oauthSdk.ts"
import * as Registration from "./registration.ts"
import * as Renewal from "./renewal.ts"

/** @internal */
export interface Options {
  readonly server: string
  readonly kept: KeptLogin.KeptLogin
  readonly authority: Authority.Authority
  readonly interaction: Interaction.Interaction["Type"]
  readonly nonce: Effect.Effect<string>
  readonly fetch: OAuthSdk.Fetch
  readonly clientName: string
  readonly clientMetadataUrl: string | undefined
}

const wrongIssuer = { reason: "answer", detail: "the answer came from another authorization server" } as const

/**
 * From the page to what is kept. Interrupted, it leaves nothing.
 *
 * @internal
 */
export const make = (options: Options): Effect.Effect<void, McpError.AuthorizationFailed> => {
  const { authority, clientMetadataUrl, clientName, fetch, interaction, kept, nonce, server } = options

  const failed = (reason: McpError.AuthorizationFailed["reason"], detail: string) =>
    new McpError.AuthorizationFailed({ server, reason, detail })

  /** The error of an authorization server that cannot give a code safely; `undefined` if it can. */
  const fault = ({ found }: Authority.Prepared) => {
    const { authorization_endpoint, code_challenge_methods_supported } = found.metadata
    if (authorization_endpoint === undefined) return failed("metadata", "it has no page to log in on")
    return code_challenge_methods_supported?.includes("S256") === true
      ? undefined
      : failed(
        "metadata",
        "its metadata does not declare PKCE with S256, without which another login could be exchanged for ours"
      )
  }

  const answered = (
    prepared: Authority.Prepared,
    page: Interaction.Page,
    client: Parameters<typeof Registration.information>[0],
    scope: string | undefined
  ) =>
    Effect.gen(function*() {
      const { exchange, found, oauth } = prepared
      const state = yield* Effect.zipWith(nonce, nonce, (one, other) => one + other)
      const { authorizationUrl, codeVerifier } = yield* OAuthSdk.attempt(
        oauth,
        server,
        { reason: "metadata", detail: "it cannot be asked for a code" },
        () =>
          oauth.startAuthorization(found.issuer, {
            metadata: OAuthSdk.metadata(found.metadata),
            clientInformation: Registration.information(client),
            redirectUrl: page.redirectUri,
            state,
            resource: found.resource,
            ...(scope === undefined ? {} : { scope })
          })
      )
      const shown = yield* Effect.mapError(
        UrlGuard.openable(authorizationUrl.href),
        () => failed("blocked", "its page is at an address that is not shown in a browser")
      )
      const { code, error, iss } = yield* page.ask(shown, state)
      // before anything else of the answer is believed
      const issParameterSupported = found.metadata.authorization_response_iss_parameter_supported === true
      yield* OAuthSdk.attempt(oauth, server, wrongIssuer, () =>
        Promise.resolve(oauth.validateAuthorizationResponseIssuer({
          iss,
          expectedIssuer: found.issuer,
          issParameterSupported
        })))
      if (error !== undefined) {
        return yield* new McpError.AuthorizationFailed({
          server,
          reason: "refused",
          ...OAuthSdk.codeOf(error),
          detail: "the authorization server, or whoever was asked, said no"
        })
      }
      if (code === undefined) {
        return yield* failed("answer", "the answer has no code")
      }
      return yield* Exchange.code(exchange, client, {
        code,
        iss,
        verifier: codeVerifier,
        redirectUri: page.redirectUri
      })
    })

  return Effect.scoped(Effect.gen(function*() {
    yield* kept.known
    const prepared = yield* authority.prepare
    const { before, found, now, oauth, settings: { configured } } = prepared
    const problem = fault(prepared)
    if (problem !== undefined) return yield* problem
    const page = yield* interaction.open({
      server,
      redirectUri: configured?.redirectUri,
      callbackPort: configured?.callbackPort
    })
    const scope = authority.scope(prepared, before?.tokens === undefined ? undefined : before.asked)
    const client = yield* Registration.clientFor(
      { server, oauth, fetch, configured, clientName, clientMetadataUrl, now },
      found,
      before?.client,
      page.redirectUri,
      scope
    )
    const tokens = yield* Effect.tapError(
      answered(prepared, page, client, scope),
      // it will be registered anew next time
      ({ code }) =>
        Renewal.isUnknownClient(code) && client.how === "registered" ? kept.locked(kept.remove) : Effect.void
    )
    yield* kept.locked(kept.put(Authority.recordOf(prepared, client, tokens, scope)))
    authority.satisfied()
  }))
}
