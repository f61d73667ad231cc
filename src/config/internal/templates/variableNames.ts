/**
 * What the name of a variable says of its value.
 *
 * @internal
 */

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
  "KUBECONFIG"
]

/** Only as a word, because many a harmless word holds them. */
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

/** Whatever is kept there is reached by an address with a password in it. */
const stores =
  /(^|_)(DATABASE|DB|SQL|POSTGRES|POSTGRESQL|PG|MYSQL|MARIADB|MONGO|MONGODB|REDIS|AMQP|RABBITMQ|BROKER|SMTP|JDBC|ELASTICSEARCH|CLICKHOUSE)_?(URL|URI)$/

const posix: ReadonlySet<string> = new Set([
  "HOME",
  "HOSTNAME",
  "LANG",
  "LANGUAGE",
  "LOGNAME",
  "PATH",
  "PWD",
  "SHELL",
  "TERM",
  "TMPDIR",
  "TZ",
  "USER",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_RUNTIME_DIR",
  "XDG_STATE_HOME"
])

const windows: ReadonlySet<string> = new Set([
  "APPDATA",
  "COMPUTERNAME",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "NUMBER_OF_PROCESSORS",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "PROGRAMW6432",
  "PUBLIC",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
  "WINDIR"
])

/** @internal */
export const isHarmless = (name: string): boolean =>
  posix.has(name) || /^LC_[A-Z]+$/.test(name) || windows.has(name.toUpperCase())

/** @internal */
export const isCredential = (name: string): boolean => {
  if (isHarmless(name)) return false
  const upper = name.toUpperCase()
  if (telling.some((part) => upper.includes(part)) || stores.test(upper)) return true
  // `apiKey` as well as `API_KEY`
  const parted = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase()
  return parted.split(/[^A-Z0-9]+/).some((word) => words.has(word) || word.endsWith("KEY"))
}
