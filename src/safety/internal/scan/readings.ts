/**
 * The ways a text can be read: as it stands, and without each of the disguises it may wear.
 *
 * @internal
 */
import * as Embedded from "./embedded.ts"
import * as Folding from "./folding.ts"
import * as Hidden from "./hidden.ts"
import * as Respelled from "./respelled.ts"

/** What all readings beyond the first may have together, as a multiple of the text, and at least. */
const factor = 3
const least = 65_536

/** @internal */
export const of = function*(text: string): Generator<Folding.Reading> {
  const plain = Folding.read(text)
  yield plain
  let left = text.length * factor + least
  const afford = (reading: Folding.Reading): boolean => {
    left -= reading.text.length
    return left >= 0
  }
  const disguised: Array<Folding.Reading> = []
  for (const raw of [...Hidden.of(text), ...Embedded.of(text)]) {
    const folded = Folding.read(raw.text, raw)
    if (!afford(folded)) return
    yield folded
    disguised.push(folded)
    for (const inner of Embedded.of(raw.text, raw)) {
      const read = Folding.read(inner.text, inner)
      if (!afford(read)) return
      yield read
    }
  }
  for (const reading of [plain, ...disguised]) {
    for (const respelled of Respelled.of(reading)) {
      if (!afford(respelled)) return
      yield respelled
    }
  }
}
