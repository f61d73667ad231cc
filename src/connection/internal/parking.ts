/**
 * The time for which a server has asked that no requests be made: one answer of it holds for all who use its connection.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as McpError from "../../McpError.ts"

/**
 * The errors that say when to come back.
 *
 * @internal
 */
export type Later = McpError.RateLimited | McpError.Unavailable

/** @internal */
export interface Parking {
  readonly until: number
  readonly error: Later
}

/** How long one answer may keep all requests away: a mistake in it must not be for ever. */
const longest = 3_600_000

/**
 * What holds after this answer: the later of the two ends.
 *
 * @internal
 */
export const extended = (
  parking: Parking | undefined,
  error: Later,
  retryAfter: Duration.Duration,
  now: number
): Parking => {
  const until = now + Math.min(Duration.toMillis(retryAfter), longest)
  return parking !== undefined && parking.until >= until ? parking : { until, error }
}

/**
 * The refusal of a request that was not even sent.
 *
 * @internal
 */
export const refusal = ({ error, until }: Parking, now: number): Later => {
  const retryAfter = Duration.millis(until - now)
  return error._tag === "RateLimited"
    ? new McpError.RateLimited({ ...error, retryAfter })
    : new McpError.Unavailable({ ...error, retryAfter })
}
