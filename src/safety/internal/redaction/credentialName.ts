/**
 * What the name of a variable, a field, a header or a flag says of its value.
 *
 * @internal
 */

/** Each makes a credential of whatever it names, unless a later word says that it is only about one. */
const telling: ReadonlySet<string> = new Set([
  "apikey",
  "apikeys",
  "auth",
  "authorization",
  "authtoken",
  "bearer",
  "cookie",
  "cookies",
  "credential",
  "credentials",
  "jwt",
  "kennwort",
  "otp",
  "pass",
  "passcode",
  "passphrase",
  "passwd",
  "password",
  "passwort",
  "pat",
  "pin",
  "psk",
  "pwd",
  "secret",
  "secretkey",
  "secrets",
  "senha",
  "token"
])

/** Makes a credential of a key: `api key`, but not `sort key`. */
const keyed: ReadonlySet<string> = new Set([
  "access",
  "account",
  "admin",
  "api",
  "app",
  "application",
  "auth",
  "client",
  "deploy",
  "encryption",
  "license",
  "master",
  "private",
  "secret",
  "service",
  "shared",
  "signing",
  "ssh",
  "storage",
  "webhook",
  "wrapping"
])

/** What the name is about is not the credential itself. */
const about: ReadonlySet<string> = new Set([
  "algorithm",
  "algorithms",
  "audience",
  "budget",
  "class",
  "count",
  "dir",
  "directory",
  "domain",
  "enabled",
  "endpoint",
  "env",
  "error",
  "expiration",
  "expires",
  "expiry",
  "field",
  "file",
  "flow",
  "format",
  "hash",
  "header",
  "hint",
  "host",
  "id",
  "index",
  "input",
  "issuer",
  "kind",
  "label",
  "length",
  "level",
  "limit",
  "limits",
  "max",
  "message",
  "method",
  "min",
  "mode",
  "name",
  "names",
  "path",
  "policy",
  "port",
  "prefix",
  "price",
  "progress",
  "prompt",
  "provider",
  "realm",
  "regex",
  "region",
  "request",
  "required",
  "response",
  "result",
  "rotation",
  "rules",
  "schema",
  "scheme",
  "scope",
  "scopes",
  "server",
  "size",
  "status",
  "store",
  "strength",
  "suffix",
  "text",
  "timeout",
  "ttl",
  "type",
  "types",
  "uri",
  "url",
  "usage",
  "user",
  "username",
  "validator",
  "var",
  "variable",
  "version",
  "window"
])

/** Of requests that log in, and of addresses that are signed. */
const exact: ReadonlySet<string> = new Set([
  "assertion",
  "client_assertion",
  "code",
  "code_verifier",
  "device_code",
  "mcp-session-id",
  "saml_response",
  "samlresponse",
  "sessionid",
  "sig",
  "signature",
  "x-amz-credential",
  "x-amz-security-token",
  "x-amz-signature",
  "x-goog-signature"
])

/** Tokens that are none: counted, marked, or made for one exchange and known to both sides. */
const harmless: ReadonlySet<string> = new Set([
  "cancellation",
  "cancel",
  "context",
  "completion",
  "continuation",
  "cursor",
  "design",
  "input",
  "max",
  "next",
  "num",
  "output",
  "page",
  "pagination",
  "progress",
  "prompt",
  "public",
  "publishable",
  "special",
  "stop",
  "sync",
  "total"
])

const longest = 96

/** `xApiKey`, `X-API-Key` and `X_API_KEY` as the words `x api key`. */
const wordsOf = (name: string): ReadonlyArray<string> =>
  name
    .slice(-longest)
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.replace(/\d+$/, ""))
    .filter((word) => word !== "")

/**
 * Whether what has this name is a secret.
 *
 * @internal
 */
export const isCredential = (name: string): boolean => {
  if (exact.has(name.toLowerCase())) return true
  const words = wordsOf(name)
  let found = -1
  for (const [index, word] of words.entries()) {
    const before = words[index - 1]
    const isKey = (word === "key" || word === "keys") && before !== undefined && keyed.has(before)
    const isToken = telling.has(word) && !(word === "token" && before !== undefined && harmless.has(before))
    const isGrown = word.length > 5 && /(?:apikey|secret|password|passwd|token)$/.test(word)
    if (isKey || isToken || isGrown) found = index
  }
  return found >= 0 && !words.slice(found + 1).some((word) => about.has(word))
}

/**
 * Whether it is a name that people write in capitals, for variables of an environment.
 *
 * @internal
 */
export const isShouted = (name: string): boolean => /^[A-Z][A-Z0-9_]{2,}$/.test(name)

/**
 * Whether a password is what it names: those are made up by people.
 *
 * @internal
 */
export const isPassword = (name: string): boolean =>
  /(?:pass|pwd|passwd|password|passwort|kennwort|senha|passphrase|passcode)\d*$/i.test(name)
