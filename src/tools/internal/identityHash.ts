// @effect-diagnostics nodeBuiltinImport:off
// Names need a cryptographic hash at once, in pure code, which only node's own gives.
import { hash } from "node:crypto"

// No vowels, so that no word that people use looks like a hash; one case, for readers that tell none.
const alphabet = "0123456789bcdfghjklmnpqrstvwxyz"

/**
 * The hash of an identity in as many characters as asked for, up to 32, of almost 5 bits each. The texts are hashed as
 * JSON, which keeps apart what UTF-8 makes one: unpaired surrogates.
 *
 * @internal
 */
export const identityHash = (server: string, tool: string, length: number): string => {
  const digest = hash("sha256", JSON.stringify([server, tool]), "binary")
  let text = ""
  for (let at = 0; at < length; at++) text += alphabet[digest.charCodeAt(at) % alphabet.length]
  return text
}
