// What is behind this in a text is not looked at.
const maxLength = 128

const gap = 0x5f

/** Case and punctuation are what people and models remember least. */
const folded = (unit: number): number => {
  if (unit >= 0x61 && unit <= 0x7a || unit >= 0x30 && unit <= 0x39 || unit > 0x7f) return unit
  return unit >= 0x41 && unit <= 0x5a ? unit + 32 : gap
}

/** Visits each pair of neighbours in a text that begins and ends with a gap; runs of punctuation are one gap. */
const eachPair = (text: string, visit: (pair: number) => void): void => {
  const end = Math.min(text.length, maxLength)
  let last = gap
  for (let at = 0; at < end; at++) {
    const unit = folded(text.charCodeAt(at))
    if (unit === gap && last === gap) continue
    visit(last * 0x10000 + unit)
    last = unit
  }
  if (last !== gap) visit(last * 0x10000 + gap)
}

/**
 * How many pairs of neighbouring characters a text has, and how many of these are wanted.
 *
 * @internal
 */
export interface Pairs {
  readonly all: number
  readonly wanted: number
}

/**
 * Counts the pairs of texts that a name has too, in time linear in the text.
 *
 * @internal
 */
export const pairsOf = (name: string): { readonly all: number; readonly among: (text: string) => Pairs } => {
  const pairs = new Set<number>()
  eachPair(name, (pair) => pairs.add(pair))
  return {
    all: pairs.size,
    among: (text) => {
      let all = 0
      let wanted = 0
      eachPair(text, (pair) => {
        all += 1
        if (pairs.has(pair)) wanted += 1
      })
      return { all, wanted }
    }
  }
}

/**
 * From 0 to 1: the share of pairs that two texts have in common. A text that has all that was asked for is near, however
 * much more it has.
 *
 * @internal
 */
export const nearness = (asked: number, { all, wanted }: Pairs): number => {
  const share = 2 * Math.min(asked, wanted) / Math.max(1, asked + all)
  return wanted >= asked && asked > 3 ? Math.max(share, 0.5) : share
}

const foldedText = (text: string): string => {
  let result = ""
  eachPair(text, (pair) => result += String.fromCharCode(pair % 0x10000))
  return result
}

/**
 * From 0 to 1: one less the share of characters that must be put in, taken out or replaced to make one text the other.
 *
 * @internal
 */
export const likeness = (a: string, b: string): number => {
  const from = foldedText(a)
  const to = foldedText(b)
  let last = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = last[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      row.push(Math.min(replaced, last[j]! + 1, row[j - 1]! + 1))
    }
    last = row
  }
  return 1 - last[to.length]! / Math.max(1, from.length, to.length)
}
