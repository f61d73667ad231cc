/** @internal */

/** The key as it is, or an escape that a letter of it could be behind. */
const suspicious = /__proto__|\\u00[567]/i

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * A JSON text without any key `__proto__`, which is a key to some and the prototype to others. A text without one, or one
 * that is no JSON, stays as it is; nothing, if it is nested too deeply to tell.
 *
 * @internal
 */
export const withoutProto = (body: Buffer): Buffer | undefined => {
  const text = new TextDecoder().decode(body)
  if (!suspicious.test(text) || parsed(text) === undefined) return body
  try {
    const rest: unknown = JSON.parse(text, (key, value: unknown) => key === "__proto__" ? undefined : value)
    return Buffer.from(JSON.stringify(rest))
  } catch {
    return undefined
  }
}
