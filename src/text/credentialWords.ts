/** Words in the names of credentials, separated by spaces. */

/** A name with one of these words is the name of a credential. */
export const telling =
  "apikey auth authorization authtoken bearer cookie cookies cred credential credentials creds crumb csrf dsn hmac jwt " +
  "kennwort kubeconfig mfa mnemonic otp pass passcode passphrase passwd password passwort pat pem pin psk pw pwd salt secret " +
  "secretkey secrets senha tkn token totp webhook xsrf"

/** These words count only after another word, because alone they have other meanings. */
export const tellingAfterWord = "hook key keys session sk"

/** Words before `key`, `keys` and `session` that name something else: `sort_key`, `PUBLIC_KEY`. */
export const harmlessBeforeKey =
  "answer array bucket cache column compare component composite config context dashboard data desktop dict " +
  "dictionary document entry env epic event experiment extra feature field file flag foreign function group " +
  "grouping hash header hot i18n id idempotency index issue item join json keyboard label language locale lookup " +
  "map message meta metadata metric natural node object option order page parent partition pressed primary project " +
  "property public publishable query range react record redis registry row search section segment series " +
  "setting shard shortcut site sort space state store symbol sync table tag team this ticket translation type " +
  "unique unknown value widget"

/** Words before `token` that name a counter, a marker or a shared value. */
export const harmlessBeforeToken =
  "cancel cancellation completion context continuation cursor design end input max min next num output page " +
  "pagination progress prompt public publishable special start stop sync total"

/** Words after a credential word: the name describes a credential, but its value is not one. */
export const about =
  "algorithm algorithms audience budget cache checksum class count digest dir directory domain enabled endpoint env " +
  "error expiration expires expiry field file fingerprint flow format hash header hint host id ids index input " +
  "issuer kind label length level limit limits manager max message method min mode name names path policy port " +
  "prefix price progress prompt provider realm regex region request required response result rotation rules schema " +
  "scheme scope scopes server sha size status store strength suffix text thumbprint timeout ttl type types uri url " +
  "usage user username validator var variable version window"
