/**
 * @internal
 */
import * as Interpolation from "../../Interpolation.ts"
import type { Line } from "../../launcher.ts"
import type { Hazard } from "./hazard.ts"

/** Beginnings that only keys and tokens have. */
const token =
  /(^|[\s=:"'])(sk-[\w-]{16,}|sk_live_\w{10,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|(AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|npm_\w{30,}|eyJ[\w-]{8,}\.eyJ[\w-]{8,})/

/** What is about a credential, and not one. */
const about = /(file|path|dir|name|id|env|var|url|uri|type|header|tokens|length|limit|count|size|ttl)$/i

const isCredential = (name: string): boolean =>
  name.length > 0 && name.length <= 128 && !about.test(name) && Interpolation.isCredential(name.replaceAll("-", "_"))

const isValue = (text: string | undefined): boolean =>
  text !== undefined && text !== "" && !/^(true|false|\d{1,6})$/i.test(text)

/** The part of an address that asks for something, and the one that says who asks. */
const inAddress = (text: string): boolean => {
  const start = text.indexOf("://")
  if (start === -1) return false
  const rest = text.slice(start + 3)
  const host = rest.slice(0, rest.search(/[/?#]|$/))
  const user = host.slice(0, Math.max(0, host.lastIndexOf("@")))
  if (user.includes(":") && !user.endsWith(":")) return true
  const question = rest.indexOf("?")
  if (question === -1) return false
  return rest.slice(question + 1).split("#", 1)[0]!.split("&").some((pair) => {
    const equals = pair.indexOf("=")
    const name = pair.slice(0, equals)
    return equals > 0 && isValue(pair.slice(equals + 1)) && (isCredential(name) || /^(key|sig|signature)$/i.test(name))
  })
}

/** `TOKEN=value`, `--env=TOKEN=value`, `-eTOKEN=value`, `--token=value`, `Authorization: value`. */
const inWord = (word: string): boolean => {
  const plain = word.replace(/^(--env=|-e(?=[A-Z_]))/, "")
  const end = plain.search(/[=:]/)
  if (end <= 0) return false
  const name = plain.slice(0, end).replace(/^-+/, "")
  return /^[\w.-]+$/.test(name) && isCredential(name) && isValue(plain.slice(end + 1).trim())
}

const isSecretOption = (word: string | undefined): boolean =>
  word !== undefined && word.startsWith("--") && !word.includes("=") && isCredential(word.slice(2))

/** @internal */
export const ofWords = ({ at, words }: Line): ReadonlyArray<Hazard> =>
  words.flatMap((word, index): ReadonlyArray<Hazard> => {
    if (index === 0) return []
    const follows = isSecretOption(words[index - 1]) && !word.startsWith("-") && isValue(word)
    return follows || inWord(word) || token.test(word) || inAddress(word)
      ? [{
        kind: "visible-secret",
        at: at(index),
        detail: "A secret in the arguments of a program is seen by every program of this machine; put it into env."
      }]
      : []
  })

/** @internal */
export const ofAddress = (url: string): ReadonlyArray<Hazard> =>
  inAddress(url)
    ? [{
      kind: "visible-secret",
      at: "url",
      detail: "A secret in an address is kept in logs on the way to the server; put it into headers."
    }]
    : []
