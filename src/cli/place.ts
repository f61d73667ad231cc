import type * as ConfigIssue from "../config/ConfigIssue.ts"

/** Where in which file. */
export const of = ({ at, line, path, provider }: ConfigIssue.ConfigIssue): string =>
  `${path ?? provider}${line === undefined ? "" : `:${line}`}${at === undefined ? "" : ` (${at})`}`

/** A path as short as a person here would write it: below the current folder, or below home. */
export const near = (path: string, folder: string, home: string | undefined): string => {
  const below = (parent: string) => parent.length > 1 && path.startsWith(`${parent}/`)
  if (below(folder)) return path.slice(folder.length + 1)
  return home !== undefined && below(home) ? `~${path.slice(home.length)}` : path
}
