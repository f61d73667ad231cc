/** The functions of the SDK that logins use: imported on demand, and alone, so that a bundle contains nothing else of it. */
export {
  buildDiscoveryUrls,
  checkResourceAllowed,
  createPrivateKeyJwtAuth,
  DpopSession,
  fetchToken,
  IssuerMismatchError,
  OAuthError,
  parseErrorResponse,
  registerClient,
  requestJwtAuthorizationGrant,
  resolveClientMetadata,
  selectClientAuthMethod,
  startAuthorization,
  validateAuthorizationResponseIssuer
} from "@modelcontextprotocol/client"
