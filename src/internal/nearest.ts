/** Letters put in, left out, replaced, or swapped with their neighbours. */
const distance = (a: string, b: string): number => {
  let before: ReadonlyArray<number> = []
  let last = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwapped ? before[j - 2]! + 1 : replaced
      row.push(Math.min(replaced, swapped, last[j]! + 1, row[j - 1]! + 1))
    }
    before = last
    last = row
  }
  return last[b.length]!
}

/** What is longer was not mistyped. */
const longest = 64

/**
 * The names that somebody may have meant, nearest first: few letters away, or longer by what follows.
 *
 * @internal
 */
export const nearest = (typed: string, names: Iterable<string>): ReadonlyArray<string> => {
  const wanted = typed.toLowerCase().slice(0, longest)
  const near: Array<{ readonly name: string; readonly away: number }> = []
  for (const name of names) {
    const other = name.toLowerCase().slice(0, longest)
    const away = distance(wanted, other)
    const most = Math.max(1, Math.floor(Math.max(wanted.length, other.length) / 3))
    if (away <= most) near.push({ name, away })
    else if (wanted.length > 1 && other.startsWith(wanted)) near.push({ name, away: most + 1 })
  }
  return near.toSorted((one, other) => one.away - other.away).slice(0, 3).map(({ name }) => name)
}

const quote = (text: string): string => `"${text}"`

/**
 * `Did you mean "a" or "b"?`, or nothing.
 *
 * @internal
 */
export const suggestion = (names: ReadonlyArray<string>): string | undefined =>
  names.length === 0 ? undefined : `Did you mean ${names.map(quote).join(" or ")}?`
