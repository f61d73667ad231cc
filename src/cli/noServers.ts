/** What is said where nothing is configured at all, and a name that was typed is not to blame. */
import * as Effect from "effect/Effect"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as Screen from "./Screen.ts"
import { Usage } from "./Usage.ts"

const detail = "There are no servers here."
const next = "Name a file with --config, or other hosts with --import all."

export const note = Effect.flatMap(Screen.Screen, (screen) => screen.note(detail, next))

/** For commands that are told the name of something. */
export const refuse = ({ servers }: ConfigDiscovery.Discovery): Effect.Effect<void, Usage> =>
  servers.length > 0 ? Effect.void : Effect.fail(new Usage({ detail, next }))

/** What is told where nothing was found. */
export const or = (found: string, { servers }: ConfigDiscovery.Discovery) =>
  servers.length === 0 ? note : Effect.flatMap(Screen.Screen, (screen) => screen.note(found))
