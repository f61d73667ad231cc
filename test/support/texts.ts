import { FastCheck } from "effect"

/**
 * Any character that can be written as UTF-8, those of the basic plane as often as the others. FastCheck's own `binary` keeps a map of all
 * of them for shrinking, which takes seconds and a hundred megabytes in every process.
 */
export const unit: FastCheck.Arbitrary<string> = FastCheck.oneof(
  FastCheck.integer({ min: 0, max: 0xd7ff }),
  FastCheck.integer({ min: 0xe000, max: 0x10ffff })
).map((codePoint) => String.fromCodePoint(codePoint))
