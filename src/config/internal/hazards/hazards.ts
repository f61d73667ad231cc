/**
 * @internal
 */
import type * as ConfigEntry from "../../ConfigEntry.ts"
import { launched, type Line } from "../../launcher.ts"
import { ofContainer } from "./containers.ts"
import { ofAddress, ofWords } from "./exposure.ts"
import type { Hazard } from "./hazard.ts"
import * as Overrides from "./overrides.ts"
import { ofRunner } from "./packageRunners.ts"
import { ofShell } from "./shells.ts"

const ofLine = (line: Line): ReadonlyArray<Hazard> => [
  ...launched(line).flatMap((one) => ofShell(one).concat(ofRunner(one), ofContainer(one))),
  ...ofWords(line)
]

/** @internal */
export const hazards = (entry: ConfigEntry.ConfigEntry): ReadonlyArray<Hazard> => {
  if (entry.transport === "stdio") {
    const line: Line = {
      words: [entry.command, ...entry.args],
      at: (word) => word === 0 ? "command" : `args.${word - 1}`
    }
    return [...Overrides.ofProgram(entry, line), ...ofLine(line)]
  }
  const helper: Line = { words: entry.headersCommand ?? [], at: (word) => `headersCommand.${word}` }
  return [...Overrides.ofWords(helper), ...ofAddress(entry.url), ...ofLine(helper)]
}
