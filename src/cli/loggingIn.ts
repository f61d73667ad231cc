/** How somebody at this terminal logs in: the address is shown, a browser opened, and a line taken in its place. */
import type * as Duration from "effect/Duration"
import type * as Layer from "effect/Layer"
import type * as Interaction from "../auth/Interaction.ts"
import * as NodeInteraction from "../node/NodeInteraction.ts"
import type * as Screen from "./Screen.ts"

export interface Options {
  readonly browser: boolean
  readonly timeout: Duration.Duration | undefined
}

export const layer = (
  screen: Screen.Screen["Type"],
  { browser, timeout }: Options
): Layer.Layer<Interaction.Interaction> =>
  NodeInteraction.layer({
    browser,
    ...(timeout === undefined ? {} : { timeout }),
    announce: ({ opens, server, url }) =>
      // not a remark: without it nobody can log in
      screen.err(
        ["Log in to ", { text: server, style: "strong" }, opens ? " in the browser that opens, or here:" : " here:"],
        `  ${url}`
      ),
    ...(screen.isInteractive ? { ask: screen.ask, paste: "also" } : {})
  })
