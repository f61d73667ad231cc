/**
 * Headers that no configuration sets: what our own requests are made of, and what belongs to one leg of the way only.
 *
 * @internal
 */
export const ownHeaders: ReadonlyArray<string> = [
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
]
