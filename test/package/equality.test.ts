import { assert, describe, it } from "@effect/vitest"
import { Either, Option } from "effect"

describe("the equality of the tests", () => {
  it("tells a value from none, wherever they stand", () => {
    const pairs: ReadonlyArray<readonly [one: unknown, other: unknown]> = [
      [Option.some(1), Option.none()],
      [Option.none(), Option.some(undefined)],
      [Option.some(1), Option.some(2)],
      [{ a: [Option.some(1)] }, { a: [Option.none()] }],
      [Option.some(Option.some(1)), Option.some(Option.none())],
      [Either.right(1), Either.left(1)]
    ]
    for (const [one, other] of pairs) {
      assert.throws(() => assert.deepStrictEqual(one, other))
      assert.throws(() => assert.deepInclude({ value: one }, { value: other }))
      assert.deepStrictEqual(one, one)
    }
    assert.deepStrictEqual({ a: [Option.some({ b: 1 })] }, { a: [Option.some({ b: 1 })] })
    assert.deepStrictEqual(Option.none(), Option.none())
  })
})
