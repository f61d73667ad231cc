/** Names that nobody can guess: 128 random bits in hexadecimal. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

const random = (): string => {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
}

/**
 * Where such names come from: the system's own source, unless another is provided. Effect's `Random` would not do, because
 * its numbers follow from those before.
 */
export class Nonce extends Context.Reference<Nonce>()("effect-mcp-runtime/safety/Nonce", {
  defaultValue: (): Effect.Effect<string> => Effect.sync(random)
}) {}
