// @effect-diagnostics nodeBuiltinImport:off
// Identities and checksums are computed in pure code, at once, which only node's own hash can do.
import { hash } from "node:crypto"

/**
 * The SHA-256 of bytes or of a text in hexadecimal. JSON text tells all strings apart; other text should be written as
 * JSON first, because UTF-8 makes unpaired surrogates one.
 *
 * @internal
 */
export const sha256 = (content: string | Uint8Array): string => hash("sha256", content)
