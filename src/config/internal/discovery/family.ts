/**
 * Hosts whose files are of several kinds, each a dialect of its own: whoever names the host means all of them.
 *
 * @internal
 */

const parents: ReadonlyMap<string, string> = new Map([
  ["continue-json", "continue"],
  ["devin-local", "windsurf"],
  ["kilo-legacy", "kilo"]
])

/**
 * Whether a dialect is meant by the id of a host.
 *
 * @internal
 */
export const isOf = (dialect: string, host: string): boolean => dialect === host || parents.get(dialect) === host
