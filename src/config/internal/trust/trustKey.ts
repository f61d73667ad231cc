// @effect-diagnostics nodeBuiltinImport:off
// A signature that nobody else can make needs a key that nobody can guess, and only node's own crypto has both.
/**
 * The key with which decisions are signed, and signatures.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"

/** @internal */
export const random: Effect.Effect<string> = Effect.sync(() => randomBytes(32).toString("hex"))

/**
 * Whether a text is a key that `random` could have given.
 *
 * @internal
 */
export const isKey = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

/** @internal */
export const sign = (key: Redacted.Redacted, text: string): string =>
  createHmac("sha256", Redacted.value(key)).update(text).digest("hex")

/** @internal */
export const isSigned = (key: Redacted.Redacted, text: string, signature: string): boolean => {
  const [given, right] = [Buffer.from(signature), Buffer.from(sign(key, text))]
  return given.length === right.length && timingSafeEqual(given, right)
}
