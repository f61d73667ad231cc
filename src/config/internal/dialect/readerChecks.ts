/**
 * What may stand in a name, a command, a header or an address, whoever wrote it.
 *
 * @internal
 */
import * as HeaderField from "../../../text/headerField.ts"
import * as ClearText from "../../clearText.ts"
import type * as ConfigEntry from "../../ConfigEntry.ts"
import * as Interpolation from "../../Interpolation.ts"
import { lookAlike } from "../names/lookAlike.ts"
import * as Address from "../servers/address.ts"
import type * as Table from "./dialects/table.ts"
import { ownHeaders } from "./ownHeaders.ts"
import { isReserved, type Reading } from "./readerValues.ts"

/** No such character can be handed to a program, or stand in a line, without becoming something else. */
// eslint-disable-next-line no-control-regex
const lineBreak = /[\u0000\r\n]/

/** @internal */
export const name = (to: Reading, written: string): void => {
  if (isReserved(written)) to.fail("reserved-name")
  // a name that begins like an option is one on a command line
  // eslint-disable-next-line no-control-regex
  else if (written.length > 128 || !/^[^-\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$/.test(written)) {
    to.fail("invalid-name")
  } else if (!/^[A-Za-z0-9_-]{1,64}$/.test(written)) {
    const why = lookAlike(written)
    if (why === undefined) to.warn("name-not-portable")
    else to.fail("invalid-name", undefined, why)
  }
}

const flagWhitespace = (to: Reading, written: string, at: string): void => {
  if (written !== written.trim()) to.warn("whitespace", at)
}

/** On somebody else's machine: to look there is enough to show Windows' credentials. */
const isElsewhere = (path: string): boolean => /^\s*[\\/]([\\/]|\?\?[\\/])/.test(path)

/** @internal */
export const command = (to: Reading, written: string, at: string): void => {
  if (written.trim() === "") to.fail("empty-command", at)
  else if (lineBreak.test(written)) to.fail("invalid-value", at)
  else if (isElsewhere(written)) to.fail("invalid-value", at)
  else flagWhitespace(to, written, at)
}

/** @internal */
export const argument = (to: Reading, written: string, at: string): void => {
  if (lineBreak.test(written)) to.fail("invalid-value", at)
}

/** @internal */
export const path = (to: Reading, written: string, at: string): void => {
  if (written.trim() === "" || lineBreak.test(written) || isElsewhere(written)) to.fail("invalid-value", at)
}

/** @internal */
export const variable = (to: Reading, name: string, written: string): void => {
  if (name === "" || /[=\u0000]/.test(name) || written.includes("\u0000")) to.fail("invalid-env", name)
}

const ours: ReadonlySet<string> = new Set(ownHeaders)

/** @internal */
export const header = (to: Reading, name: string, written: string, at: string): void => {
  const lower = name.toLowerCase()
  if (
    !HeaderField.isName(name) || ours.has(lower) || lower.startsWith("mcp-") ||
    lower.startsWith("sec-websocket-") || !HeaderField.isValue(written.trim()) || /[^\u0000-\u00ff]/.test(written)
  ) to.fail("invalid-header", name)
  else flagWhitespace(to, written, at)
}

const schemes: ReadonlyMap<string, ReadonlyArray<Table.Transport>> = new Map([
  ["http:", ["streamable-http", "sse", "auto"]],
  ["https:", ["streamable-http", "sse", "auto"]],
  ["ws:", ["ws"]],
  ["wss:", ["ws"]]
])

/** Nobody answers a longer one, and to parse millions of characters takes longer than anybody waits. */
const longestAddress = 65_536

/** What a template begins with, if that says already who is asked. */
const startsWithHost = /^[a-z]+:\/\/[^/?#]+[/?#]/i

/**
 * That what a stranger has written sends no credentials in the clear. Where a variable says who is asked, that is seen
 * when it is known.
 *
 * @internal
 */
export const confidential = (to: Reading, entry: ConfigEntry.ConfigEntry): void => {
  if (entry.transport === "stdio") return
  const parts = Interpolation.parse(entry.url.trim())
  const begin = parts[0]
  const stand = parts.map((part) => typeof part === "string" ? part : "x").join("")
  if (typeof begin !== "string" || !(parts.length === 1 || startsWithHost.test(begin)) || !URL.canParse(stand)) return
  const url = new URL(stand)
  const { headers = [], headersCommand, oauth } = entry
  const clientSecret = oauth === false ? undefined : oauth?.clientSecret
  const isTold = url.username !== "" || url.password !== "" ||
    ClearText.hasCredentials({ headers, headersCommand, clientSecret })
  if (isTold && ClearText.isClear(url)) to.fail("insecure-url", "url", "it is sent credentials")
}

/**
 * An address, as far as it can be told before its variables are known, and the transport it has.
 *
 * @internal
 */
export const address = (
  to: Reading,
  template: string,
  at: string,
  said: Table.Transport
): Table.Transport => {
  const trimmed = template.trim()
  if (trimmed === "") to.fail("empty-url", at)
  if (lineBreak.test(trimmed) || trimmed.length > longestAddress) to.fail("invalid-url", at)
  if (to.fault() !== undefined) return said
  flagWhitespace(to, template, at)
  const parts = Interpolation.parse(trimmed)
  const begin = parts[0]
  // the variable says where it leads
  if (typeof begin !== "string") return said
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*:)/.exec(begin)?.[1]?.toLowerCase()
  const transports = scheme === undefined ? undefined : schemes.get(scheme)
  if (scheme !== undefined && transports === undefined) {
    to.fail("unsupported-url-scheme", at)
    return said
  }
  const isWhole = parts.length === 1
  const stand = parts.map((part) => typeof part === "string" ? part : "x").join("")
  // of an encrypted one nothing is left to be said
  const isEvident = scheme === "https:" && Address.isPlain(stand)
  if (scheme === undefined || (isWhole && !isEvident && !URL.canParse(stand))) {
    to.fail("invalid-url", at)
    return said
  }
  const decided = said === "auto" && transports?.includes("ws") === true ? "ws" : said
  if (transports?.includes(decided) === false) to.fail("transport-mismatch", at)
  if (!isEvident && URL.canParse(stand)) {
    const url = new URL(stand)
    if (url.username !== "" || url.password !== "") to.warn("url-userinfo")
    if (ClearText.isClear(url) && (isWhole || startsWithHost.test(begin))) {
      if (to.table.encrypted === true) to.fail("insecure-url", at)
      else to.warn("insecure-url")
    }
  }
  return decided
}
