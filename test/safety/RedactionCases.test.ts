import { assert, describe, it } from "@effect/vitest"
import { FastCheck, Redacted } from "effect"
import { readFileSync } from "node:fs"
import * as Redaction from "../../src/safety/Redaction.ts"
import { samples } from "../support/runs.ts"

/** Values that look random and are the same in every run, so that no token stands in this file as a whole. */
const made = (alphabet: string) => (length: number, seed = 1): string => {
  let state = (seed * 2_654_435_761 + length * 40_503) >>> 0
  let value = ""
  while (value.length < length) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    value += alphabet[(state >>> 8) % alphabet.length]
  }
  return value
}

const hex = made("0123456789abcdef")
const digits = made("0123456789")
const upper = made("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
const alnum = made("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
const base64 = made("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
const url = made("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

type Case = readonly [before: string, secret: string, after?: string]

/** Written before the redaction of 0.2, and not changed for it. */
const secrets: ReadonlyArray<Case> = [
  // names of variables
  ["OPENAI_KEY=", hex(32, 2)],
  ["ACME_KEY: ", alnum(32, 3)],
  ["export ACME_KEY='", alnum(24, 4), "'"],
  ["STRIPE_SK=", alnum(32, 5)],
  ["SALT=", hex(32, 6)],
  ["PASSWORD_SALT: ", alnum(22, 7)],
  ["GH_PAT=", alnum(40, 8)],
  ["APP_PW=", "corr3ct-horse-7"],
  ["SESSION_HMAC=", hex(64, 9)],
  ["{\"MAPS_KEY\":\"", alnum(39, 10), "\"}"],
  ["docker run -e ACME_KEY=", alnum(28, 11), " acme/server"],
  ["env: ACME_CREDS=", alnum(30, 12)],
  ["WEATHER_APP_KEY=", hex(32, 13), "\nWEATHER_CITY=Paris"],
  ["ENCRYPTION_KEY=", base64(43, 14), "="],
  ["SENTRY_DSN=https://", hex(32, 15), "@o1.ingest.example/42"],
  ["$env:ACME_KEY = \"", alnum(26, 16), "\""],
  ["set ACME_KEY=", alnum(26, 17), "&& server"],
  ["acmeKey=", alnum(26, 18)],
  ["opts.githubToken = '", alnum(40, 19), "';"],
  ["[server] ACME_SECRET => ", alnum(26, 20)],
  // headers
  ["X-Acme-Key: ", alnum(32, 21)],
  ["Ocp-Apim-Subscription-Key: ", hex(32, 22)],
  ["> authorization: Bearer ", url(43, 23)],
  ["authorization: Basic ", "YWRtaW46U3VwM3JTM2NyZXQh"],
  ["'Private-Token': '", url(20, 24), "'"],
  ["Cookie: connect.sid=", `s%3A${alnum(32, 25)}`, "; Path=/"],
  // vendors
  [`xoxb-${digits(12)}-${digits(13)}-`, alnum(24, 26)],
  ["https://hooks.slack.com/services/T0ABCDEF1/B0ABCDEF2/", alnum(24, 27)],
  ["https://api.telegram.org/bot", `${digits(10, 3)}:AA${url(33, 28)}`, "/getMe"],
  ["bot token ", `${digits(10, 4)}:AA${url(33, 29)}`],
  ["", `gh${"p"}_${alnum(36, 30)}`, ","],
  ["(", `github${"_pat"}_${alnum(22, 31)}_${alnum(59, 32)}`, ")"],
  ["", `AKI${"A"}${upper(16, 33)}`, "."],
  ["", `sk-ant${"-api03"}-${url(93, 34)}AA`],
  ["", `sk-proj${"-"}${url(74, 35)}T3Blbk${"FJ"}${url(74, 36)}`],
  ["key is ", `AIz${"a"}${url(35, 37)}`],
  ["", `sk${"_live_"}${alnum(24, 38)}`],
  ["", `glp${"at"}-${url(20, 39)}`],
  ["", `hf${"_"}${alnum(34, 40)}`],
  ["", `dop${"_v1_"}${hex(64, 41)}`],
  ["", `np${"m_"}${alnum(36, 42)}`],
  ["", `SG.${url(22, 43)}.${url(43, 44)}`],
  ["", `sh${"pat_"}${hex(32, 45)}`],
  ["", `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4eXoxIn0.${url(43, 46)}`],
  ["", `PMA${"K"}-${hex(24, 47)}-${hex(34, 48)}`],
  ["", `dt0c01.${upper(24, 49)}.${upper(64, 50)}`],
  ["", `hv${"s."}${url(95, 51)}`],
  ["", `lin${"_api_"}${alnum(40, 52)}`],
  ["", `sntr${"yu_"}${hex(64, 53)}`],
  ["mailchimp says ", `${hex(32, 54)}-us14`],
  ["", `S${"K"}${hex(32, 55)}`, " is revoked"],
  // Azure
  ["https://acme.blob.core.windows.net/c/f?sv=2022-11-02&sp=r&sig=", `${base64(42, 56).replaceAll("/", "%2F")}%3D`],
  ["SharedAccessSignature sr=acme&sig=", `${alnum(43, 57)}%3D`, "&se=1700000000&skn=root"],
  ["AccountName=acme;AccountKey=", `${base64(86, 58)}==`, ";EndpointSuffix=core.windows.net"],
  ["client secret ", `abc8Q~${url(34, 59)}`],
  // addresses
  ["postgres://app:", alnum(12, 60), "@db.internal:5432/app"],
  ["cloning https://", `x-access-token:${alnum(36, 61)}`, "@github.com/a/b.git"],
  ["https://", alnum(40, 62), "@git.acme.test/a.git"],
  ["amqps://svc:", "p%40ss%2Fw0rd", "@mq.acme.test/vhost"],
  ["GET /v1/items?page=2&acme_key=", alnum(24, 63), " 401"],
  ["wss://acme.test/socket?token=", url(32, 64), "#top"],
  // percent-encoded, and escaped in other ways
  ["redirect=https%3A%2F%2Facme.test%2F%3Faccess_token%3D", alnum(32, 65), "%26page%3D2"],
  ["next=https%3A%2F%2Fapp%3A", alnum(14, 66), "%40db.acme.test%2F"],
  ["body: api_key%3D", hex(32, 67), "%26x%3D1"],
  ["{\"log\":\"{\\\"acme_key\\\":\\\"", alnum(26, 68), "\\\"}\"}"],
  ["&lt;add key=&quot;ApiSecret&quot; value=&quot;", alnum(26, 69), "&quot; /&gt;"],
  ["\\u0022token\\u0022: \\u0022", alnum(26, 70), "\\u0022"],
  ["line\\nDB_PASSWORD=", alnum(16, 71), "\\nPORT=1"],
  ["\u001b[33mACME_KEY\u001b[0m=\u001b[32m", alnum(26, 72), "\u001b[0m"],
  // sentences
  ["Incorrect API key provided: ", alnum(32, 73), "."],
  ["Error: invalid token ", alnum(32, 74), " for user bob"],
  // blocks
  ["-----BEGIN PRIVATE KEY-----\\nMIIE", base64(64, 75), "\\n-----END PRIVATE KEY-----"],
  ["{\"kty\":\"RSA\",\"n\":\"abc\",\"d\":\"", url(64, 76), "\"}"],
  ["machine git.acme.test login bob password ", alnum(14, 77)],
  ["acme --acme-key ", alnum(26, 78), " --verbose"],
  ["args: [\"--api-token\", \"", alnum(26, 79), "\"]"],
  ["curl -u bob:", "hunter2hunter2", " https://acme.test"]
]

const harmless: ReadonlyArray<string> = [
  "MAX_TOKENS=8192",
  "AUTHOR=Jane Doe 1984-2001",
  "author: jane.doe+1984@acme.test",
  "MONKEY=business-class-1",
  `PUBLIC_KEY=${alnum(40, 80)}`,
  `publicKey: '${base64(43, 81)}='`,
  `{"sort_key":"${alnum(24, 82)}"}`,
  `primaryKey: "${hex(24, 83)}"`,
  `cache-key: ${hex(40, 84)}`,
  `partition_key = "${alnum(30, 85)}"`,
  `next_page_token: "${alnum(30, 86)}"`,
  `nextPageToken=${alnum(30, 87)}`,
  `"progressToken":"${alnum(30, 88)}"`,
  `continuation-token: ${alnum(30, 89)}`,
  "KEYBOARD_LAYOUT=us-intl-2024-v12",
  "HOTKEY=ctrl+shift+f12",
  "AUTHORITY=https://login.acme.test/tenant12345",
  "OAUTH_REDIRECT_URI=https://acme.test/callback/12345678",
  "AUTH_METHOD=client_secret_post",
  "TOKEN_URL=https://acme.test/oauth2/token/v12345",
  "API_KEY_FILE=/run/secrets/api_key_12345",
  "SECRET_NAME=prod-db-2024-v12",
  "TOKENIZER=cl100k_base_v2_2024",
  "passport=1.0.0-rc.12",
  "PWD=/home/bob/project-2024/x1",
  "password: must be 12 to 64 characters, with 1 digit",
  "The API key is missing. Set ACME_KEY.",
  "missing ACME_KEY: see https://acme.test/keys/12345",
  "ACME_KEY=${ACME_KEY}",
  "ACME_KEY=<your-key-here>",
  "ACME_KEY=your_key_goes_here",
  "ACME_KEY: string",
  "const ACME_KEY = process.env.ACME_KEY ?? loadKey(config)",
  "key: 3f786850e387550fdab836ed7e6dc881de23001b",
  `commit ${hex(40, 90)}`,
  `sha256:${hex(64, 91)}`,
  `"integrity": "sha512-${base64(86, 92)}=="`,
  "id=550e8400-e29b-41d4-a716-446655440000",
  `etag: "${hex(32, 93)}"`,
  `traceparent: 00-${hex(32, 94)}-${hex(16, 95)}-01`,
  `x-request-id: ${hex(32, 96)}`,
  "https://acme.test/a/b?page=2&sort=key&order=asc",
  "https://acme.test:8443/@scope/pkg@1.2.3/index.js",
  "git@github.com:acme/monkey.git",
  "C:\\new\\token\\secret.txt was not found",
  "https%3A%2F%2Facme.test%2F%3Fpage%3D2%26sort%3Dkey",
  "100%25 of the tokens%2C or 12%20%",
  "2024-01-02T03:04:05.678Z INFO [auth] listening on 0.0.0.0:8080",
  "npm_lifecycle_event=test npm_package_version=1.2.3",
  "error TS2345: Argument of type 'Token2' is not assignable to parameter of type 'SecretKey'",
  "the secret of success: work 12 hours",
  "sk-learn and hf_transfer and pat_metheny_group_2",
  "SKIP=1 SKU=SK12345678 TASK=build",
  "session: started in 1200 ms on node-20.19.4",
  "<key>CFBundleIdentifier</key><string>com.acme.app.v2</string>",
  "color: #a1b2c3d4; salt and pepper; 12 pins"
]

const { text } = Redaction.make()

describe("Redaction on the cases of this project", () => {
  it("hides at least 95 of 100 secrets", () => {
    const shown = secrets.filter(([before, secret, after = ""]) => text(before + secret + after).includes(secret))
    assert.isAtMost(shown.length / secrets.length, 0.05, shown.map((one) => one.join("")).join("\n"))
  })

  it("leaves harmless texts as they are", () => {
    assert.deepStrictEqual(harmless.filter((one) => text(one) !== one), [])
  })

  it("hides what 0.1 left in plain sight", () => {
    for (
      const [before, secret, after = ""] of [
        ["OPENAI_KEY=", hex(32, 101)],
        ["ACME_KEY: ", alnum(24, 102)],
        ["STRIPE_SK=", alnum(24, 103)],
        ["SALT=", hex(32, 104)],
        ["body: api_key%3D", hex(32, 105), "%26x%3D1"],
        ["next=https%3A%2F%2Fapp%3A", alnum(14, 106), "%40db.acme.test%2F"]
      ] as ReadonlyArray<Case>
    ) {
      assert.notInclude(text(before + secret + after), secret)
    }
  })
})

describe("a known value that is written in pieces", () => {
  const secret = `plum-${alnum(30, 107)}`
  const redaction = Redaction.make({ formats: false })
  redaction.unsafeKnow(Redacted.make(secret))
  const [head, tail] = [secret.slice(0, 17), secret.slice(17)]

  const pieces: Readonly<Record<string, string>> = {
    "broken by a line": `${head}\n${tail}`,
    "broken by an indented line": `${head}\r\n    ${tail}`,
    "broken by a line with a backslash": `${head}\\\n${tail}`,
    "joined in a program": `"${head}" + "${tail}"`,
    "coloured within": `${head}\u001b[31m${tail}\u001b[0m`,
    "with characters of no width within": `${head}\u200b${tail}`,
    "with a written line break within": `${head}\\n${tail}`,
    "with every character percent-encoded": [...secret].map((char) => `%${char.charCodeAt(0).toString(16)}`).join(""),
    "with every character escaped": [...secret].map((char) => `\\u00${char.charCodeAt(0).toString(16)}`).join(""),
    "in base64 with line breaks": Buffer.from(`user:${secret}`).toString("base64").replace(/(.{20})/g, "$1\n")
  }

  for (const [name, written] of Object.entries(pieces)) {
    it(`is hidden ${name}`, () => {
      const shown = redaction.text(`before ${written} after`)
      assert.match(shown, /^before .{0,40}\[redacted\].{0,40} after$/s)
      assert.notInclude(shown, tail)
      assert.notInclude(shown, written.slice(8, -8))
    })
  }
})

const json = (value: string): string => JSON.stringify(value).slice(1, -1)

const html = (value: string): string =>
  value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\"", "&quot;").replaceAll("'", "&#39;")

const escapings: Readonly<Record<string, (value: string) => string>> = {
  json,
  "json in json": (value) => json(json(value)),
  "percent-encoded": encodeURIComponent,
  html,
  "html in json": (value) => json(html(value)),
  "percent-encoded json": (value) => encodeURIComponent(json(value))
}

describe("an escaped text", () => {
  const secret = "p1um \"orchard\" & <l4ntern>/\\näö"
  const redaction = Redaction.make({ formats: false })
  redaction.unsafeKnow(Redacted.make(secret))
  const around = FastCheck.string({ unit: "grapheme", maxLength: 40 })

  for (const [name, escape] of Object.entries(escapings)) {
    it.prop(`loses the secret and nothing else: ${name}`, { before: around, after: around }, ({ after, before }) => {
      const hidden = redaction.text(`${escape(before)}${escape(secret)}${escape(after)}`)
      assert.strictEqual(hidden, `${escape(before)}[redacted]${escape(after)}`)
    })
  }
})

interface Format {
  readonly id: string
  readonly keywords: ReadonlyArray<string>
  readonly pattern: string
  readonly entropy?: number
}

const data = JSON.parse(readFileSync(new URL("../../src/safety/secretFormats.json", import.meta.url), "utf8")) as {
  readonly source: string
  readonly licence: string
  readonly rows: ReadonlyArray<Format>
}

/** Without the conditions for the text before and after, which no generator of texts has. */
const body = (pattern: string): string => pattern.replace(/\(\?<![^)]*\)|\(\?!\\w\)$/g, "")

describe("every row of secretFormats.json", () => {
  it("comes with its source and its licence", () => {
    assert.match(data.source, /gitleaks\.toml at [0-9a-f]{40}/)
    assert.include(data.licence, "MIT License")
    assert.isAbove(data.rows.length, 200)
  })

  it("has keywords that the finder can look for", () => {
    const faults = data.rows.flatMap(({ keywords }) => keywords).filter((word) =>
      word.length < 3 || word !== word.toLowerCase()
    )
    assert.deepStrictEqual(faults, [])
  })

  it("repeats without a limit only at its end, or what it cannot begin within", () => {
    const faults = data.rows.filter(({ pattern }) => {
      const classes = /(\[(?:[^\]\\]|\\.)*\]|\\\w)(?:\{\d+,\}|[+*])/g
      const endless = Array.from(pattern.matchAll(classes)).filter(({ 0: whole, index }) =>
        !/^\)?$/.test(pattern.slice(index + whole.length))
      )
      return /\)(?:\{\d+,\}|[+*])/.test(pattern) || endless.some(([, set]) => !pattern.includes(`(?<!${set})`))
    })
    assert.deepStrictEqual(faults.map(({ pattern }) => pattern), [])
  })

  it("hides its own tokens, whatever is around them", () => {
    const plain = data.rows.filter(({ entropy, pattern }) => entropy === undefined && !/\(\?[<!=]/.test(body(pattern)))
    assert.isAbove(plain.length, 200)
    const missed = samples(plain).flatMap(({ pattern }) =>
      FastCheck.sample(FastCheck.stringMatching(new RegExp(`^${body(pattern)}$`)), { seed: 1, numRuns: 1 })
        .filter((token) =>
          [token, `"${token}"`, `one ${token}, and more`, `a\\n${token}\\n`].some((one) => text(one).includes(token))
        )
        .map((token) => `${pattern} ${token}`)
    )
    assert.deepStrictEqual(missed, [])
  })
})

describe("Redaction of a hostile text", () => {
  // a time that is not linear would exceed the limit of the test
  it("ends for 4 MB in which a long value could begin at each character, and hides the value", () => {
    const redaction = Redaction.make({ formats: false })
    for (const last of ["a", "b"]) {
      const secret = "a".repeat(3_999) + last
      redaction.unsafeKnow(Redacted.make(secret))
      const hidden = redaction.text(`start ${"a".repeat(4_000_000)} then ${secret} end`)
      assert.notInclude(hidden, secret)
      assert.match(hidden, /^start .* then .* end$/s)
    }
  })

  it("ends for 1 MB of nothing but beginnings", () => {
    const beginnings = [
      "dnkey-",
      "eyJ-",
      "token:x.",
      "-----BEGIN PRIVATE KEY-----\n",
      "login a password ",
      "://a:",
      "%25",
      "\\\\"
    ]
    for (const beginning of samples(beginnings)) {
      const whole = beginning.repeat(Math.ceil(1e6 / beginning.length))
      assert.isAbove(text(whole).length, 0)
    }
  })
})
