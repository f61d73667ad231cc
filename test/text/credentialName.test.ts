import { assert, describe, it } from "@effect/vitest"
import { isCredential, isCredentialParameter } from "../../src/text/credentialName.ts"

const words = (text: string): ReadonlyArray<string> => text.split(/\s+/)

describe("isCredential", () => {
  it("is true for the names of credentials, however they are written", () => {
    const names = words(`
      MY_TOKEN MY_SECRET MY_KEY PASSWORD X_AUTH apiKey OPENAI_API_KEY OPENAI_KEY ACME_KEY STRIPE_SK SALT githubToken DB_PWD
      GH_PAT SLACK_HOOK SLACK_WEBHOOK_URL AWS_CREDS MONGO_URI REDIS_URL KUBECONFIG POSTGRES_URL DATABASE_URL APP_PW
      MFA_CODE KEY_PEM X-API-Key authorization Proxy-Authorization set-cookie _authToken client_secret clientSecret
      refresh_token id_token PGPASSWORD MYSQL_PWD accountkey AccountKey SharedAccessKey aws_secret_access_key
      AWS_ACCESS_KEY_ID sessionid mcp-session-id x-amz-signature SENTRY_DSN signingKey code_verifier KEY pwd
      spring.datasource.password MCP_INPUT_REGION connectionString API_TOKENS PHP_SESSION Passwort`.trim())
    assert.deepStrictEqual(names.filter((name) => !isCredential(name)), [])
  })

  it("is false for names that only contain such a word, or are about a credential", () => {
    const names = words(`
      MAX_TOKENS AUTHOR AUTHORITY MONKEY PUBLIC_KEY publicKey KEYBOARD HOTKEY TURKEY MONKEYS_DIR HOME PWD OLDPWD PATH TASK
      SKIP HOOKS_DIR BASE_URL API_URL REGION TZ sort_key primaryKey partition-key cacheKey issueKey nextPageToken
      progressToken continuation_token total_tokens tokenizer token_type TOKEN_URL AUTH_METHOD API_KEY_FILE SECRET_NAME
      PASSWORD_MIN_LENGTH session_timeout passport compass secretary key keys code spine pinned functionSignature
      salted DESKTOP_SESSION cookie_policy`.trim())
    assert.deepStrictEqual(names.filter(isCredential), [])
  })

  it("knows more parameters of addresses", () => {
    assert.deepStrictEqual(["code", "key", "sig", "state", "page", "sort"].filter(isCredentialParameter), [
      "code",
      "key",
      "sig",
      "state"
    ])
  })
})
