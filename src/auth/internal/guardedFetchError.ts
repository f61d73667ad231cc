/** @internal */
import * as UntrustedText from "../../text/UntrustedText.ts"
import type * as UrlGuard from "../UrlGuard.ts"

/**
 * Nothing was fetched. `blocked`: the address, or what a name stands for, is one that is not gone to; `redirect`: the answer
 * is elsewhere, and that is not gone to; `unreachable`: there was no answer, or none that can be read.
 *
 * The Fetch Standard has a TypeError for this. Whoever calls a `fetch` tells by it that there was no answer: the SDK goes
 * on with guesses after any other error.
 *
 * @internal
 */
export class GuardedFetchError extends TypeError {
  readonly _tag = "GuardedFetchError"
  readonly reason: "blocked" | "unreachable" | "timeout" | "too-large" | "redirect"
  /** What the rules found wrong with the address, if it was that. */
  readonly fault: UrlGuard.Fault | undefined
  /** What node calls it: `ECONNREFUSED`, `ENOTFOUND`, `CERT_HAS_EXPIRED`. */
  readonly errno: string | undefined

  constructor(
    reason: GuardedFetchError["reason"],
    detail: string,
    more: { readonly fault?: UrlGuard.Fault | undefined; readonly errno?: string | undefined } = {}
  ) {
    super(`not fetched (${reason}): ${UntrustedText.excerpt(detail, 512)}`)
    this.name = "GuardedFetchError"
    this.reason = reason
    this.fault = more.fault
    this.errno = more.errno
  }
}
