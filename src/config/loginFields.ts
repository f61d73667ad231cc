/** The settings of a login, one row each. */
import { Flag, Port, type Rows, Scopes, SecretText, Text } from "./fieldSchema.ts"

export const login = {
  clientId: { schema: Text, identity: true, template: "header", description: "The OAuth client id." },
  clientSecret: {
    schema: SecretText,
    identity: true,
    template: "header",
    secret: true,
    description: "The client secret. Requires `issuer`. Use ${env:NAME} or ${secret:id} in place of the secret."
  },
  clientMetadataUrl: {
    schema: Text,
    identity: true,
    template: "header",
    overlay: "target",
    description: "The URL of the client metadata document."
  },
  scopes: { schema: Scopes, identity: true, aliases: ["scope"], description: "The scopes to request." },
  redirectUri: { schema: Text, identity: true, overlay: "target", description: "The redirect URI." },
  callbackPort: {
    schema: Port,
    identity: true,
    aliases: ["redirectPort"],
    description: "The local port of the redirect."
  },
  issuer: {
    schema: Text,
    identity: true,
    template: "header",
    overlay: "target",
    aliases: ["authorizationServerIssuer"],
    description: "The issuer URL of the authorization server that may receive the client secret."
  },
  resource: {
    schema: Text,
    identity: true,
    template: "header",
    overlay: "target",
    description: "The resource of the tokens (default: the address)."
  },
  grantType: { schema: Text, identity: true, description: "`authorization_code` or `client_credentials`." },
  tokenEndpointAuthMethod: {
    schema: Text,
    identity: true,
    description: "`none`, `client_secret_basic`, `client_secret_post` or `private_key_jwt`."
  },
  authServerMetadataUrl: {
    schema: Text,
    identity: true,
    template: "header",
    overlay: "target",
    description: "The URL of the authorization server metadata."
  },
  legacy: {
    schema: Flag,
    identity: true,
    description:
      "For servers of 2025-03-26 without metadata: their origin is the authorization server, unchecked. Less safe."
  },
  dpop: {
    schema: Flag,
    identity: true,
    description: "Binds tokens to a key (default: if the authorization server supports it)."
  }
} as const satisfies Rows
