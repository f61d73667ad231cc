/**
 * All hosts, each made of its table by the one reader.
 *
 * @internal
 */
import type * as Dialect from "../Dialect.ts"
import { agentCode } from "./dialects/agentCode.ts"
import { cocode } from "./dialects/cocode.ts"
import { codex } from "./dialects/codex.ts"
import { continueJson, continueYaml } from "./dialects/continue.ts"
import { crush } from "./dialects/crush.ts"
import { dockerMcp } from "./dialects/dockerMcp.ts"
import { goose } from "./dialects/goose.ts"
import { grokBuild } from "./dialects/grokBuild.ts"
import { hermes } from "./dialects/hermes.ts"
import { mcporter } from "./dialects/mcporter.ts"
import { mistralVibe } from "./dialects/mistralVibe.ts"
import { native as nativeTable } from "./dialects/native.ts"
import { ohMyPi } from "./dialects/ohMyPi.ts"
import type { HostTable } from "./dialects/table.ts"
import * as Reader from "./reader.ts"

/** In the order in which they count among files of the same scope. */
const tables: ReadonlyArray<HostTable> = [
  nativeTable,
  codex,
  cocode,
  agentCode,
  mistralVibe,
  grokBuild,
  continueYaml,
  continueJson,
  goose,
  hermes,
  crush,
  mcporter,
  ohMyPi,
  dockerMcp
]

const byHost: ReadonlyMap<string, HostTable> = new Map(tables.map((table) => [table.host, table]))

/** @internal */
export const all: ReadonlyArray<Dialect.Dialect> = tables.map(Reader.make)

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

/** @internal */
export { explain } from "./explain.ts"
