/** The one predicate for names of variables, fields, headers, flags and parameters whose values are credentials. */
import * as Words from "./credentialWords.ts"

const setOf = (text: string): ReadonlySet<string> => new Set(text.split(" "))

const telling = setOf(Words.telling)
const tellingAfterWord = setOf(Words.tellingAfterWord)
const harmlessBeforeKey = setOf(Words.harmlessBeforeKey)
const harmlessBeforeToken = setOf(Words.harmlessBeforeToken)
const about = setOf(Words.about)

/** Endings of compound words: `githubtoken`, `PGPASSWORD`, `accountkey`. */
const ending =
  /.(?:secret|passw(?:or)?d|passphrase|pwd|token|credentials?|cookie|pw)$|(?:cert|db|key|root|store|user)pass$|(?:access|account|api|app|auth|client|encryption|master|pass|priv|private|secret|signing|ssh)keys?$/

/** Whole names: parts of logins, and URLs that contain a password. */
const whole = new RegExp(
  "^(?:assertion|client assertion|code verifier|device code|saml ?response|[a-z]*sess(?:ion)?id|sig|signature|x .*signature(?: 256)?|" +
    "x amz credential)$|^mcp input |" +
    "(?:^| )(?:session id|access key id|web ?hook ur[li]|connection ?strings?)$|" +
    "(?:^| )(?:access|api|auth|bearer|refresh|session) tokens$|(?:^| )(?:recovery|seed) phrase$|" +
    "(?:^| )(?:access|activation|backup|pairing|recovery|unlock|verification) codes?$|" +
    "(?:^| )(?:database|db|sql|postgres|postgresql|pg|mysql|mariadb|mongo|mongodb|redis|amqp|rabbitmq|broker|smtp|" +
    "jdbc|elasticsearch|clickhouse) ?ur[li]$"
)

/** Variables of shells that name folders. */
const folders = setOf("PWD OLDPWD")

const longest = 96

/** `xApiKey`, `X-API-Key` and `X_API_KEY` as the words `x api key`. */
const wordsOf = (name: string): ReadonlyArray<string> =>
  name
    .slice(-longest)
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.replace(/(\D)\d+$/, "$1"))
    .filter((word) => word !== "")

const isTelling = (word: string, before: string | undefined): boolean => {
  if (word === "token") return before === undefined || !harmlessBeforeToken.has(before)
  if (tellingAfterWord.has(word)) return before !== undefined && !harmlessBeforeKey.has(before)
  return telling.has(word) || ending.test(word)
}

/** True if the value under this name is a credential. */
export const isCredential = (name: string): boolean => {
  if (folders.has(name)) return false
  const words = wordsOf(name)
  if (name === "KEY" || whole.test(words.join(" "))) return true
  const at = words.findLastIndex((word, index) => isTelling(word, words[index - 1]))
  return at >= 0 && !words.slice(at + 1).some((word) => about.has(word))
}

/** The same for a URL parameter, where a few more words name credentials. */
export const isCredentialParameter = (name: string): boolean =>
  /^(?:code|key|sig|signature|state)$/i.test(name) || isCredential(name)
