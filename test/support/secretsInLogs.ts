/** Random values for texts with secrets, the same in every run, so that no rule can know one of them. */

/** Makers of values, from a seed. */
export const makers = (seed: number) => {
  let state = seed
  const random = (alphabet: string, length: number): string =>
    Array.from({ length }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return alphabet[Math.floor(state / 2 ** 32 * alphabet.length)]!
    }).join("")

  const lower = "abcdefghijklmnopqrstuvwxyz"
  const digits = "0123456789"
  const letters = `${lower}${lower.toUpperCase()}${digits}`
  const hex = (length: number) => random(`${digits}abcdef`, length)
  const word = (length: number) => random(letters, length)
  const upper = (length: number) => random(`${lower.toUpperCase()}${digits}`, length)
  const url64 = (length: number) => random(`${letters}-_`, length)
  const base64 = (length: number) => Buffer.from(random(`${letters}!?$%&/`, length)).toString("base64")
  const uuid = () => [8, 4, 4, 4, 12].map(hex).join("-")
  const password = () => `${word(5)}!${word(4)}#${word(4)}`
  const jwt = () =>
    [{ alg: "RS256", typ: "JWT" }, { sub: word(12), exp: 1764000000 }]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).concat(url64(86)).join(".")
  const lines = (text: string, width: number, end: string) => text.match(new RegExp(`.{1,${width}}`, "g"))!.join(end)
  return { base64, digits, hex, jwt, lines, lower, password, random, upper, url64, uuid, word }
}

/** A text around each secret; every secret of the list must be gone. */
export type Case = readonly [
  name: string,
  secrets: ReadonlyArray<string>,
  text: (...secrets: ReadonlyArray<string>) => string
]

/** White space and continuation marks do not hide a secret that was split. */
const joined = (text: string): string => text.replaceAll(/\\n|\\?\s+/g, "")

/** Secrets of which ten characters in a row are left, or all of a shorter one. */
export const left = (text: string, secrets: ReadonlyArray<string>): ReadonlyArray<string> =>
  secrets.filter((secret) => {
    const whole = joined(secret)
    const size = Math.min(10, whole.length)
    return Array.from({ length: whole.length - size + 1 }, (_, at) => whole.slice(at, at + size))
      .some((window) => joined(text).includes(window))
  })
