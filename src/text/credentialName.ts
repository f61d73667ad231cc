/** The one predicate for names of variables, fields, headers, flags and parameters whose values are credentials. */

const setOf = (text: string): ReadonlySet<string> => new Set(text.split(" "))

/** Words that make a name one of a credential. */
const telling = setOf(
  "apikey auth authorization authtoken bearer cookie cookies cred credential credentials creds dsn hmac jwt " +
    "kennwort kubeconfig mfa otp pass passcode passphrase passwd password passwort pat pem pin psk pw pwd salt secret " +
    "secretkey secrets senha token totp webhook"
)

/** Words that do so only after another word, because they have other meanings on their own. */
const tellingAfterWord = setOf("hook key keys session sk")

/** Endings of words written as one: `githubtoken`, `PGPASSWORD`, `accountkey`. */
const ending =
  /.(?:secret|passw(?:or)?d|passphrase|pwd|token|credentials?)$|(?:access|account|api|auth|encryption|master|private|secret|signing|ssh)keys?$/

/** Words before `key`, `keys` and `session` that name something else: `sort_key`, `PUBLIC_KEY`. */
const harmlessBeforeKey = setOf(
  "answer array bucket cache column compare component composite config context dashboard data desktop dict " +
    "dictionary document entry env epic event experiment extra feature field file flag foreign function group " +
    "grouping hash header hot i18n id idempotency index issue item join json keyboard label language locale lookup " +
    "map message meta metadata metric natural node object option order page parent partition pressed primary project " +
    "property public publishable query range react record redis registry routing row search section segment series " +
    "setting shard shortcut site sort space state store symbol sync table tag team this ticket translation type " +
    "unique unknown value widget"
)

/** Words before `token` that name a counter, a marker or something both sides know. */
const harmlessBeforeToken = setOf(
  "cancel cancellation completion context continuation cursor design end input max min next num output page " +
    "pagination progress prompt public publishable special start stop sync total"
)

/** Words after the telling one: the name is about a credential, and its value is none. */
const about = setOf(
  "algorithm algorithms audience budget cache checksum class count digest dir directory domain enabled endpoint env " +
    "error expiration expires expiry field file fingerprint flow format hash header hint host id ids index input " +
    "issuer kind label length level limit limits manager max message method min mode name names path policy port " +
    "prefix price progress prompt provider realm regex region request required response result rotation rules schema " +
    "scheme scope scopes server sha size status store strength suffix text thumbprint timeout ttl type types uri url " +
    "usage user username validator var variable version window"
)

/** Whole names: parts of logins, and addresses that have a password in them. */
const whole = new RegExp(
  "^(?:assertion|client assertion|code verifier|device code|saml ?response|[a-z]*sess(?:ion)?id|sig|signature|x .*signature|" +
    "x amz credential)$|^mcp input |" +
    "(?:^| )(?:session id|access key id|web ?hook ur[li]|connection ?strings?)$|" +
    "(?:^| )(?:access|api|auth|bearer|refresh|session) tokens$|" +
    "(?:^| )(?:database|db|sql|postgres|postgresql|pg|mysql|mariadb|mongo|mongodb|redis|amqp|rabbitmq|broker|smtp|" +
    "jdbc|elasticsearch|clickhouse) ?ur[li]$"
)

/** Names of folders, in the spelling of shells. */
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

/** The same for a parameter of an address, where a few more words name credentials. */
export const isCredentialParameter = (name: string): boolean =>
  /^(?:code|key|sig|signature|state)$/i.test(name) || isCredential(name)
