import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as TokenStore from "../../src/auth/TokenStore.ts"
import { tokenStoreContract } from "../support/tokenStoreContract.ts"

tokenStoreContract("in memory", TokenStore.makeMemory)

describe("an error of a store of logins", () => {
  it.effect("is told by its reason, and says in a sentence what is wrong", () =>
    Effect.gen(function*() {
      const failed = new TokenStore.TokenStoreError({ reason: "locked", detail: "somebody else is at it" })
      const told = yield* Effect.flip(Effect.fail(failed))
      assert.strictEqual(told.reason, "locked")
      assert.strictEqual(told.message, "logins cannot be kept: somebody else is at it")
    }))
})
