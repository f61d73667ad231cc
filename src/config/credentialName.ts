/** Whether the name of a variable says that its value is a credential. */
import { isHarmless } from "./environmentVariables.ts"

/** Anywhere in a name, in capitals. */
const telling = [
  "TOKEN",
  "SECRET",
  "PASSWORD",
  "PASSWD",
  "PASSPHRASE",
  "PASSCODE",
  "CREDENTIAL",
  "AUTH",
  "APIKEY",
  "ACCESSKEY",
  "PRIVATEKEY",
  "BEARER",
  "COOKIE",
  "CONNECTION_STRING",
  "WEBHOOK",
  "KUBECONFIG",
  // answers to inputs, which are usually secrets
  "MCP_INPUT_"
]

/** Only as a whole word, because harmless words contain them. */
const words: ReadonlySet<string> = new Set([
  "KEY",
  "KEYS",
  "PASS",
  "PAT",
  "PSK",
  "PWD",
  "PIN",
  "OTP",
  "JWT",
  "DSN",
  "CERT",
  "SESSION",
  "SIGNATURE",
  "SALT",
  "CRED",
  "CREDS",
  "PW",
  "PEM",
  "MFA",
  "TOTP",
  "HMAC",
  "HOOK",
  "SK"
])

/** The address of a store has a password in it. */
const stores =
  /(^|_)(DATABASE|DB|SQL|POSTGRES|POSTGRESQL|PG|MYSQL|MARIADB|MONGO|MONGODB|REDIS|AMQP|RABBITMQ|BROKER|SMTP|JDBC|ELASTICSEARCH|CLICKHOUSE)_?(URL|URI)$/

export const isCredential = (name: string): boolean => {
  if (isHarmless(name)) return false
  const upper = name.toUpperCase()
  if (telling.some((part) => upper.includes(part)) || stores.test(upper)) return true
  // `apiKey` as well as `API_KEY`
  const parted = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase()
  return parted.split(/[^A-Z0-9]+/).some((word) => words.has(word) || word.endsWith("KEY"))
}
