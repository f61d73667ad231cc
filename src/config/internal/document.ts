/**
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as ConfigDocument from "../ConfigDocument.ts"

/** @internal */
export const decode = (
  _bytes: Uint8Array,
  _format: ConfigDocument.Format,
  _limits?: Partial<ConfigDocument.Limits>
): Effect.Effect<ConfigDocument.ConfigDocument> =>
  Effect.succeed({ root: new Map(), issues: [], line: () => undefined })
