/**
 * Servers that are off: how that is told, and what those hear who ask for one.
 *
 * @internal
 */
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import type * as Link from "./Link.ts"
import { ServerStatus } from "./ServerStatus.ts"

/**
 * Why a server is off. What is blocked is so whatever anybody switches.
 *
 * @internal
 */
export type Why = Link.Down | NonNullable<ServerConfig.ServerConfig["blocked"]>

const details: { readonly [W in Why]: readonly [why: McpError.ServerUnavailable["why"], detail: string] } = {
  configuration: ["disabled", "it is disabled in the configuration; enable it first"],
  disabled: ["disabled", "it was disabled; enable it first"],
  disconnected: ["disconnected", "it was disconnected; connect it first"],
  denied: [
    "denied",
    "a policy denies it, or allows only others; whoever keeps that policy has to allow it, and nobody can approve it instead"
  ],
  untrusted: ["untrusted", "nobody has agreed to start it as it is configured now; approve it first"]
}

/** @internal */
export const status = (why: Why): ServerStatus =>
  why === "denied" || why === "untrusted" ? ServerStatus.Blocked({ why }) : ServerStatus.Disabled({ why })

/** @internal */
export const refusal = (server: string, why: Why): McpError.ServerUnavailable => {
  const [said, detail] = details[why]
  return new McpError.ServerUnavailable({ server, why: said, detail })
}

/**
 * Whether a server of this status has no connection any more, and begins none.
 *
 * @internal
 */
export const isOff = ({ _tag }: ServerStatus): boolean => _tag === "Disabled" || _tag === "Blocked" || _tag === "Closed"
