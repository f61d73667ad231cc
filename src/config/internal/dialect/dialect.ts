/**
 * All hosts, each made of its table by the one reader.
 *
 * @internal
 */
import type * as Dialect from "../../Dialect.ts"
import type { HostTable } from "../../hostRow.ts"
import { hosts } from "../../hosts.ts"
import * as Reader from "../../reader.ts"

const nativeTable = hosts[0]!

const byHost: ReadonlyMap<string, HostTable> = new Map(hosts.map((table) => [table.host, table]))

/** @internal */
export const all: ReadonlyArray<Dialect.Dialect> = hosts.map(Reader.make)

/** @internal */
export const native: Dialect.Dialect = Reader.make(nativeTable)

/**
 * The keys at the top of a document of a host that lead to servers.
 *
 * @internal
 */
export const rootKeys = ({ host }: Dialect.Dialect, context: Dialect.Context): ReadonlyArray<string> =>
  Reader.rootKeys(byHost.get(host) ?? nativeTable, context)

/** @internal */
export const isShared = ({ host, shared }: Dialect.Dialect, context: Dialect.Context): boolean => {
  const table = byHost.get(host)
  return table === undefined ? shared : Reader.isShared(table, context)
}

/**
 * The spelling of a variable with a default in files of this host; `undefined` if the host has none.
 *
 * @internal
 */
export const withDefault = (host: string | undefined, name: string): string | undefined => {
  const syntax = (host === undefined ? nativeTable : byHost.get(host))?.variables?.syntax
  return syntax?.bare === true ? `\${${name}:-…}` : undefined
}

/** @internal */
export { explain } from "../../ConfigIssue.ts"
