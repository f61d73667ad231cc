/** The settings of a login, one row each. */
import { Flag, Port, type Rows, Scopes, SecretText, Text } from "./fieldSchema.ts"

export const login = {
  clientId: { schema: Text, identity: true, template: "header", description: "The client that logs in." },
  clientSecret: {
    schema: SecretText,
    identity: true,
    template: "header",
    secret: true,
    description: "Needs `issuer`. Use ${env:NAME} or ${secret:id} instead of the secret itself."
  },
  clientMetadataUrl: {
    schema: Text,
    identity: true,
    template: "header",
    overlay: "target",
    description: "Where the client describes itself."
  },
  scopes: { schema: Scopes, identity: true, aliases: ["scope"], description: "What is asked for." },
  redirectUri: { schema: Text, identity: true, overlay: "target", description: "Where the login returns to." },
  callbackPort: {
    schema: Port,
    identity: true,
    aliases: ["redirectPort"],
    description: "The port of this machine that the login returns to."
  },
  issuer: {
    schema: Text,
    identity: true,
    template: "header",
    overlay: "target",
    aliases: ["authorizationServerIssuer"],
    description: "The authorization server that gets the secret."
  },
  resource: {
    schema: Text,
    identity: true,
    template: "header",
    overlay: "target",
    description: "The resource that tokens are for; default: the address."
  },
  grantType: { schema: Text, identity: true, description: "authorization_code or client_credentials." },
  tokenEndpointAuthMethod: {
    schema: Text,
    identity: true,
    description: "none, client_secret_basic, client_secret_post or private_key_jwt."
  },
  authServerMetadataUrl: {
    schema: Text,
    identity: true,
    template: "header",
    overlay: "target",
    description: "Where the authorization server describes itself."
  },
  legacy: {
    schema: Flag,
    identity: true,
    description:
      "A server that does not describe itself (2025-03-26): its own origin logs people in, unchecked. Less safe."
  },
  dpop: {
    schema: Flag,
    identity: true,
    description: "Whether tokens are bound to a key (default: where the authorization server can do it)."
  }
} as const satisfies Rows
