/**
 * What an authorization server sends back, read from the address that the browser was sent to.
 *
 * @internal
 */
import type * as Interaction from "../../auth/Interaction.ts"

/**
 * Characters of an answer at most: codes are some hundreds, and a browser sends no more than this in an address.
 *
 * @internal
 */
export const most = 8192

/** @internal */
export interface Came {
  /** Absent, too, if there are several. */
  readonly state: string | undefined
  /** OAuth forbids a parameter to come twice, and of two it could not be said which is meant. */
  readonly answer: Interaction.Answer | "repeated"
}

const names = ["code", "iss", "error", "error_description"]

/** @internal */
export const read = (parameters: URLSearchParams): Came => {
  const state = parameters.getAll("state")
  const value = (name: string): string | undefined => parameters.get(name) ?? undefined
  return {
    state: state.length === 1 ? state[0] : undefined,
    answer: names.some((name) => parameters.getAll(name).length > 1)
      ? "repeated"
      : { code: value("code"), iss: value("iss"), error: value("error"), errorDescription: value("error_description") }
  }
}

/** The address of a line, which some browsers copy without its scheme and some terminals with a break in it. */
const addressIn = (line: string, expected: URL): URL | undefined => {
  const text = line.replaceAll(/\s+/g, "")
  try {
    return new URL(text.startsWith(expected.host) ? `${expected.protocol}//${text}` : text)
  } catch {
    return undefined
  }
}

/**
 * The parameters in a line that a person has put in: the address that the browser ended at, or the end of it. Nothing if
 * it is neither; the address of the page where the login began has a state as well.
 *
 * @internal
 */
export const pasted = (line: string, redirectUri: string): URLSearchParams | undefined => {
  const text = line.trim()
  if (text === "" || text.length > most) return undefined
  if (/^\??(code|state|iss|error)=/.test(text)) return new URLSearchParams(text.replaceAll(/\s+/g, "&"))
  const expected = new URL(redirectUri)
  const address = addressIn(text, expected)
  const isExpected = address !== undefined && address.protocol === expected.protocol &&
    address.host === expected.host && address.pathname === expected.pathname
  return isExpected ? address.searchParams : undefined
}
