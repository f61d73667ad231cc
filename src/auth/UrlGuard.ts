/**
 * What may be done with an address that a server has chosen: fetched, or shown in a browser. Pure; names are looked up and
 * their addresses checked again when they are dialled.
 *
 * @since 0.1.0
 */
import type * as Either from "effect/Either"

/**
 * Why not.
 *
 * @since 0.1.0
 * @category models
 */
export type Fault =
  | "malformed"
  | "scheme"
  | "userinfo"
  | "not-https"
  | "private-address"
  | "private-name"
  | "too-long"
  | "characters"

/**
 * @since 0.1.0
 * @category models
 */
export interface Rules {
  /** Whether this machine may be reached, and without TLS: only where the person has configured a server on it. */
  readonly loopback: boolean
  /** Hosts that may be private, by name, because the person has said so (`auth.internal.example`, `*.corp.example`). */
  readonly privateHosts: ReadonlyArray<string>
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Rules = { loopback: false, privateHosts: [] }

// to be written:
//   fetchable(url, rules): Either<URL, Fault>
//   openable(url): Either<URL, Fault>
//   isPublic(address: string): boolean       (an IP address as the system's lookup gives it)
export type Verdict = Either.Either<URL, Fault>
