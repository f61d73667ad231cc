/**
 * What a server is shown to let us in: headers, from wherever they come, and the settings of a login.
 *
 * @internal
 */
import type * as ConfigDocument from "../../ConfigDocument.ts"
import type * as ConfigEntry from "../../ConfigEntry.ts"
import * as Table from "./dialects/table.ts"
import * as Checks from "./readerChecks.ts"
import { all, some, tellLacking, type Uses, variableName } from "./readerUses.ts"
import * as Values from "./readerValues.ts"

const meanings: ReadonlyArray<Table.Meaning> = ["headers", "headerVariables", "bearer", "bearerVariable"]

/** @internal */
export const headers = (to: Values.Reading, from: Uses): ReadonlyMap<string, ConfigEntry.Template> | undefined => {
  if (!some(from, meanings)) return undefined
  const headers = new Map<string, ConfigEntry.Template>()
  const spelled = new Map<string, string>()
  const set = (name: string, value: ConfigEntry.Template): void => {
    // which of the two is sent would depend on who sends it
    const spelling = spelled.get(name.toLowerCase()) ?? name
    if (spelling !== name) to.fail("invalid-header", name, "it is there twice, in other letters")
    spelled.set(name.toLowerCase(), name)
    headers.set(name, value)
  }
  for (const { key, value } of all(to, from, "headers")) {
    for (const [name, held] of Values.entries(to, value, key)) {
      const at = `${key}.${name}`
      const text = Values.scalar(to, held, at)
      Checks.header(to, name, text, at)
      set(name, Values.template(to, text, "headers", at))
    }
  }
  for (const { key, value } of all(to, from, "headerVariables")) {
    for (const [name, held] of Values.entries(to, value, key)) {
      const variable = variableName(to, held, `${key}.${name}`)
      Checks.header(to, name, "", key)
      set(name, `\${env:${variable}}`)
    }
  }
  const isSet = (): boolean => Array.from(headers.keys()).some((name) => name.toLowerCase() === "authorization")
  for (const { key, value } of all(to, from, "bearerVariable")) {
    const variable = variableName(to, value, key)
    // what was written out in full is what was meant
    if (isSet()) to.warn("unused-field", key)
    else headers.set("Authorization", `Bearer \${env:${variable}}`)
  }
  for (const { key, value } of all(to, from, "bearer")) {
    const token = Values.text(to, value, key)
    Checks.header(to, "Authorization", token, key)
    if (isSet()) to.warn("unused-field", key)
    else headers.set("Authorization", `Bearer ${Values.template(to, token, "headers", key)}`)
  }
  return headers.size === 0 ? undefined : headers
}

/** Nothing in it that a shell would read as more than a word. */
const isPlain = (word: string): boolean => /^[\w@%+=:,./\\~-]*$/.test(word.replaceAll(/\$\{[\w:.]+\}/g, ""))

/** @internal */
export const headersCommand = (to: Values.Reading, from: Uses): ReadonlyArray<ConfigEntry.Template> | undefined => {
  let argv: ReadonlyArray<ConfigEntry.Template> | undefined
  const take = (key: string, written: ReadonlyArray<string>): void => {
    Checks.command(to, written[0] ?? "", key)
    argv ??= written.map((word, index) => {
      Checks.argument(to, word, `${key}.${index}`)
      return Values.template(to, word, "headers", `${key}.${index}`)
    })
  }
  for (const { key, value } of all(to, from, "headersCommand")) take(key, Values.texts(to, value, key))
  for (const { key, value } of all(to, from, "headersLine")) {
    const line = Values.text(to, value, key).trim().split(/[ \t]+/).filter((word) => word !== "")
    // a line that needs a shell is not run at all: no shell is ever given a text of a file
    if (line.every(isPlain)) take(key, line)
    else to.warn("unused-field", key)
  }
  return argv
}

type OAuth = { -readonly [Part in keyof ConfigEntry.OAuth]: ConfigEntry.OAuth[Part] }

type Read = (to: Values.Reading, oauth: OAuth, value: ConfigDocument.Value, at: string) => void

const templated =
  (part: "clientId" | "clientSecret" | "clientMetadataUrl" | "issuer" | "resource" | "authServerMetadataUrl"): Read =>
  (to, oauth, value, at) => {
    oauth[part] = Values.template(to, Values.text(to, value, at), "oauth", at)
  }

const plain = (part: "redirectUri" | "grantType" | "tokenEndpointAuthMethod"): Read => (to, oauth, value, at) => {
  oauth[part] = Values.text(to, value, at)
}

const switched = (part: "enabled" | "public" | "legacy" | "dpop"): Read => (to, oauth, value, at) => {
  oauth[part] = Values.flag(to, value, at)
}

const parts: { readonly [Part in keyof Required<ConfigEntry.OAuth>]: Read } = {
  enabled: switched("enabled"),
  clientId: templated("clientId"),
  clientSecret: templated("clientSecret"),
  clientMetadataUrl: templated("clientMetadataUrl"),
  scopes: (to, oauth, value, at) => {
    oauth.scopes = Values.words(to, value, at)
  },
  redirectUri: plain("redirectUri"),
  callbackPort: (to, oauth, value, at) => {
    const port = Values.port(to, value, at)
    if (port !== undefined) oauth.callbackPort = port
  },
  issuer: templated("issuer"),
  resource: templated("resource"),
  grantType: plain("grantType"),
  tokenEndpointAuthMethod: plain("tokenEndpointAuthMethod"),
  authServerMetadataUrl: templated("authServerMetadataUrl"),
  public: switched("public"),
  legacy: switched("legacy"),
  dpop: switched("dpop")
}

/** The hosts' spellings, in lower case and without what joins words. */
const spellings: ReadonlyMap<string, keyof ConfigEntry.OAuth> = new Map([
  ["enabled", "enabled"],
  ["clientid", "clientId"],
  ["clientsecret", "clientSecret"],
  ["clientmetadataurl", "clientMetadataUrl"],
  ["scope", "scopes"],
  ["scopes", "scopes"],
  ["redirecturi", "redirectUri"],
  ["callbackport", "callbackPort"],
  ["redirectport", "callbackPort"],
  ["issuer", "issuer"],
  ["authorizationserverissuer", "issuer"],
  ["resource", "resource"],
  ["granttype", "grantType"],
  ["tokenendpointauthmethod", "tokenEndpointAuthMethod"],
  ["authservermetadataurl", "authServerMetadataUrl"],
  ["public", "public"],
  ["legacy", "legacy"],
  ["dpop", "dpop"]
])

const discovered = "the server's metadata names the address"

/** Settings of hosts that have no effect here. */
const others: ReadonlyMap<string, Table.Field> = new Map([
  ["audiences", "no audience is asked for"],
  ["authorizationurl", discovered],
  ["enterprisemanaged", Table.otherLogin],
  ["registrationurl", discovered],
  ["tokenparamname", "the token is sent in the header Authorization"],
  ["tokenurl", discovered]
].map(([word, lacking]) => [word!, { is: "extra", lacking, unless: [false] }]))

/** @internal */
export const oauth = (to: Values.Reading, from: Uses): false | ConfigEntry.OAuth | undefined => {
  if (!from.has("oauth")) return undefined
  const found: OAuth = {}
  let isOff = false
  for (const { field, key, value } of all(to, from, "oauth")) {
    if (field.part !== undefined) parts[field.part](to, found, value, key)
    else if (value === false) isOff = true
    else if (value === true || value === "oauth") found.enabled = true
    else {
      for (const [name, held] of Values.entries(to, value, key)) {
        const word = name.toLowerCase().replaceAll(/[_-]/g, "")
        const part = spellings.get(word)
        const other = others.get(word)
        if (other !== undefined) tellLacking(to, other, `${key}.${name}`, held, "auto")
        else if (part === undefined) to.warn("unknown-key", `${key}.${name}`)
        else parts[part](to, found, held, `${key}.${name}`)
      }
    }
  }
  if (isOff) return false
  return Object.keys(found).length === 0 ? undefined : found
}
