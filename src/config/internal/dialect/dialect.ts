/**
 * All hosts, each made of its table by the one reader.
 *
 * @internal
 */
import type * as Dialect from "../../Dialect.ts"
import { agentCode } from "./dialects/agentCode.ts"
import { agentPlugins } from "./dialects/agentPlugins.ts"
import { amp } from "./dialects/amp.ts"
import { claudeCode } from "./dialects/claudeCode.ts"
import { claudeDesktop } from "./dialects/claudeDesktop.ts"
import { cline, kiloLegacy, roo } from "./dialects/cline.ts"
import { cocode } from "./dialects/cocode.ts"
import { codex } from "./dialects/codex.ts"
import { continueJson, continueYaml } from "./dialects/continue.ts"
import { copilotCli, copilotCloud } from "./dialects/copilot.ts"
import { crush } from "./dialects/crush.ts"
import { cursor } from "./dialects/cursor.ts"
import { dockerMcp } from "./dialects/dockerMcp.ts"
import { factory } from "./dialects/factory.ts"
import { geminiCli, qwenCode } from "./dialects/gemini.ts"
import { goose } from "./dialects/goose.ts"
import { grokBuild } from "./dialects/grokBuild.ts"
import { hermes } from "./dialects/hermes.ts"
import { jetbrainsAi, junie } from "./dialects/jetbrains.ts"
import { amazonQ, kiro } from "./dialects/kiro.ts"
import { mcporter } from "./dialects/mcporter.ts"
import { mistralVibe } from "./dialects/mistralVibe.ts"
import { native as nativeTable } from "./dialects/native.ts"
import { ohMyPi } from "./dialects/ohMyPi.ts"
import { kilo, opencode } from "./dialects/opencode.ts"
import { antigravity, codebuddy, kimiCode, lmstudio, sidecar, trae, warp } from "./dialects/plain.ts"
import { sep2633 } from "./dialects/sep2633.ts"
import type { HostTable } from "./dialects/table.ts"
import { vscode } from "./dialects/vscode.ts"
import { devinLocal, windsurf } from "./dialects/windsurf.ts"
import { zed } from "./dialects/zed.ts"
import * as Reader from "./reader.ts"

/** In the order in which they count among files of the same scope. */
const tables: ReadonlyArray<HostTable> = [
  nativeTable,
  claudeCode,
  claudeDesktop,
  cursor,
  vscode,
  copilotCli,
  copilotCloud,
  windsurf,
  devinLocal,
  codex,
  geminiCli,
  qwenCode,
  zed,
  opencode,
  kilo,
  kiloLegacy,
  amp,
  cline,
  roo,
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
  dockerMcp,
  factory,
  junie,
  jetbrainsAi,
  lmstudio,
  kiro,
  amazonQ,
  antigravity,
  trae,
  warp,
  kimiCode,
  sidecar,
  codebuddy,
  sep2633,
  agentPlugins
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
export { explain } from "./explain.ts"
