/**
 * What is used of the OAuth of `@modelcontextprotocol/client`, so that a bundle has nothing else of it.
 *
 * @internal
 */
export {
  buildDiscoveryUrls,
  createPrivateKeyJwtAuth,
  DpopSession,
  exchangeAuthorization,
  fetchToken,
  generateDpopKeyPair,
  OAuthError,
  refreshAuthorization,
  registerClient,
  requestJwtAuthorizationGrant,
  resolveClientMetadata,
  startAuthorization,
  validateAuthorizationResponseIssuer
} from "@modelcontextprotocol/client"
