/**
 * What was made of stretches of texts that came lately, found without a string of each: the same words come again and
 * again, and to cut one out and look it up costs several times what reading it does.
 *
 * @internal
 */
import type { See } from "./searchWords.ts"

/** The same stretches come again and again. A server with many others only makes this slower. */
const mostRemembered = 20_000

/** Each stretch has one place here, and whoever else has it takes it: a place is looked at before all the others are. */
const places = 8_192

const isAt = (text: string, from: number, run: string): boolean => {
  const { length } = run
  for (let at = 0; at < length; at++) if (text.charCodeAt(from + at) !== run.charCodeAt(at)) return false
  return true
}

/**
 * What is made of a stretch, once for all the times that it comes soon again.
 *
 * @internal
 */
export const recognizing = <A extends NonNullable<unknown>>(make: (run: string) => A): See<A> => {
  const known = new Map<string, A>()
  const find = (run: string): A => {
    const before = known.get(run)
    if (before !== undefined) return before
    if (known.size >= mostRemembered) known.clear()
    const made = make(run)
    known.set(run, made)
    return made
  }
  const runs = Array.from({ length: places }, () => "")
  const lengths = new Uint32Array(places)
  const made: Array<A | undefined> = Array.from({ length: places }, () => undefined)

  return (text, from, to, hash) => {
    const place = hash & (places - 1)
    const near = made[place]
    if (near !== undefined && lengths[place] === to - from && isAt(text, from, runs[place]!)) return near
    const run = text.slice(from, to)
    const value = find(run)
    runs[place] = run
    lengths[place] = to - from
    made[place] = value
    return value
  }
}
