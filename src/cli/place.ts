import type * as ConfigIssue from "../config/ConfigIssue.ts"

/** The file with line and column, as far as they are known, and the field. */
export const of = ({ at, column, line, path, provider }: ConfigIssue.ConfigIssue): string =>
  [path ?? provider, line ?? [], column ?? []].flat().join(":") + (at === undefined ? "" : ` (${at})`)

/** A path as short as a person here would write it: below the current folder, or below home. */
export const near = (path: string, folder: string, home: string | undefined): string => {
  const below = (parent: string) => parent.length > 1 && path.startsWith(`${parent}/`)
  if (below(folder)) return path.slice(folder.length + 1)
  return home !== undefined && below(home) ? `~${path.slice(home.length)}` : path
}
