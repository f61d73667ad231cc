/** Names that cannot be guessed: 128 random bits in hexadecimal. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

const random = (): string => Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(16))).toString("hex")

/** The generator of such names. It uses the system's source, because numbers of Effect's `Random` can be predicted. */
export class Nonce extends Context.Reference<Nonce>()("effect-mcp-runtime/safety/Nonce", {
  defaultValue: (): Effect.Effect<string> => Effect.sync(random)
}) {}
