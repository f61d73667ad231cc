import * as HiddenText from "../HiddenText.ts"
import { disarmed } from "./wrapper.ts"

/** Alone it sends whoever prints it back to the beginning of the line, to write over what stands there. */
const alone = /\r(?!\n)/g

/**
 * What a model may see of a text: what hides in it is gone or visible, and nothing in it ends the wrapper.
 *
 * @internal
 */
export const shown = (
  text: string
): { readonly text: string; readonly findings: ReadonlyArray<HiddenText.Finding> } => {
  const clean = HiddenText.clean(text, "result")
  return { text: disarmed(clean.text.replaceAll(alone, "\\r")), findings: clean.findings }
}
