/**
 * @internal
 */
import { launched, type Line } from "../../../internal/launched.ts"
import type * as ConfigEntry from "../../ConfigEntry.ts"
import { ofContainer } from "./containers.ts"
import { ofAddress, ofWords } from "./exposure.ts"
import type { Hazard } from "./hazard.ts"
import { ofRunner } from "./packageRunners.ts"
import { ofShell } from "./shells.ts"

const ofLine = (line: Line): ReadonlyArray<Hazard> => [
  ...launched(line).flatMap((one) => ofShell(one).concat(ofRunner(one), ofContainer(one))),
  ...ofWords(line)
]

/** @internal */
export const hazards = (entry: ConfigEntry.ConfigEntry): ReadonlyArray<Hazard> => {
  if (entry.transport === "stdio") {
    return ofLine({
      words: [entry.command, ...entry.args],
      at: (word) => word === 0 ? "command" : `args.${word - 1}`
    })
  }
  return [
    ...ofAddress(entry.url),
    ...ofLine({ words: entry.headersCommand ?? [], at: (word) => `headersCommand.${word}` })
  ]
}
