import type * as ConfigIssue from "../../config/ConfigIssue.ts"

/**
 * Where in which file.
 *
 * @internal
 */
export const of = ({ at, line, path, provider }: ConfigIssue.ConfigIssue): string =>
  `${path ?? provider}${line === undefined ? "" : `:${line}`}${at === undefined ? "" : ` (${at})`}`
