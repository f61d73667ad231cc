/**
 * @internal
 */
import * as UntrustedText from "../../../text/UntrustedText.ts"
import type * as ConfigIssue from "../../ConfigIssue.ts"

/**
 * What a person should know before agreeing.
 *
 * @internal
 */
export interface Hazard {
  readonly kind: Extract<
    ConfigIssue.Warning,
    "unpinned-package" | "near-name" | "remote-code" | "privileged-container" | "visible-secret" | "launch-override"
  >
  readonly at: string
  readonly detail: string
}

/**
 * A name as it can stand in a sentence, after a space; nothing if it is no name, but an address with a token in it, say.
 *
 * @internal
 */
export const shown = (name: string): string =>
  /^[@\w.~+/:[\]-]{1,214}$/.test(name) && !name.includes("://") ? ` ${UntrustedText.excerpt(name)}` : ""
