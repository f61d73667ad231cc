// The strings of JSON as they were before they were escaped: an order that needs a line of its own has one here.

/** More is not shown either. */
const mostChars = 64 * 1024
const mostValues = 20_000

/**
 * The keys and strings of a value, each on its own line, as far as it goes.
 *
 * @internal
 */
export const words = (value: unknown): string => {
  const lines: Array<string> = []
  let room = mostChars
  const say = (line: string): void => {
    lines.push(line.slice(0, room))
    room -= line.length
  }
  // a stack and no recursion, since a server decides how deep it is
  const stack: Array<unknown> = [value]
  for (let left = mostValues; left > 0 && stack.length > 0 && room > 0; left--) {
    const next = stack.pop()
    if (typeof next === "string") say(next)
    if (typeof next !== "object" || next === null) continue
    if (Array.isArray(next)) {
      for (let at = Math.min(next.length, left) - 1; at >= 0; at--) stack.push(next[at])
    } else {
      const keys = Object.keys(next).slice(0, left)
      for (const key of keys.toReversed()) stack.push(Object.getOwnPropertyDescriptor(next, key)?.value, key)
    }
  }
  return lines.join("\n")
}
