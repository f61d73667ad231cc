/** `mcp-runtime revoke`: takes an approval back. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as ConfigDiscovery from "../../config/ConfigDiscovery.ts"
import * as Scope from "../../config/Scope.ts"
import * as McpError from "../../McpError.ts"
import { nearest } from "../../text/nearest.ts"
import type * as Command from "../Command.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Lookup from "../lookup.ts"
import * as Screen from "../Screen.ts"

/** The document of `revoke --json`: of what was agreed to, or what is so no longer. */
export const Agreed = Schema.Struct({
  servers: Schema.Array(Schema.Struct({
    server: Schema.String,
    fingerprint: Schema.String,
    /** The variables of the environment that it may read, or might. */
    variables: Schema.Array(Schema.String),
    revoked: Schema.Boolean
  }))
})

const grantsOf = ({ config }: ConfigDiscovery.Found): ReadonlyArray<string> => config?.expansion?.grants ?? []

/** Whether a server would be blocked without its approval. */
const isAgreed = ({ config, provenance, sources, state }: ConfigDiscovery.Found): boolean =>
  (state._tag === "Ready" || state._tag === "Disabled") && config !== undefined && config.blocked === undefined &&
  [provenance, ...sources].some(({ origin }) => !Scope.rights(origin).start && origin !== "code")

const run: Command.Command["run"] = ({ args: [wanted], shared }) =>
  Lookup.find(shared, ({ discovery, trust }) =>
    Effect.gen(function*() {
      const screen = yield* Screen.Screen
      const agreed = discovery.servers.filter(isAgreed)
      const told = (found: ConfigDiscovery.Found, revoked: boolean) => ({
        server: found.name,
        fingerprint: found.fingerprint,
        variables: grantsOf(found),
        revoked
      })
      if (wanted === undefined) {
        if (shared.json) yield* screen.json(Agreed, { servers: agreed.map((found) => told(found, false)) })
        else if (agreed.length === 0) yield* screen.note("There are no approvals here.")
        else {
          yield* screen.out(...agreed.flatMap((found): ReadonlyArray<Screen.Line> => [
            [{ text: found.name, style: "strong" }, `  ${Scope.format(found.provenance)}`],
            [{ text: "  fingerprint: ", style: "weak" }, found.fingerprint],
            ...(grantsOf(found).length === 0
              ? []
              : [[{ text: "  may read: ", style: "weak" } as const, grantsOf(found).join(", ")]])
          ]))
        }
        return ExitCode.ok
      }
      const found = discovery.servers.find(({ fingerprint }) => fingerprint === wanted.toLowerCase()) ??
        discovery.servers.find(({ name }) => name === wanted)
      if (found === undefined) {
        return yield* new McpError.NotFound({
          server: "",
          kind: "server",
          name: wanted,
          suggestions: nearest(wanted, agreed.map(({ name }) => name))
        })
      }
      const revoked = isAgreed(found)
      if (revoked) yield* trust.revoke(found.fingerprint)
      yield* screen.note(
        revoked
          ? [{ text: "revoked", style: "good" }, `: ${found.name} is not started until it is approved again.`]
          : `${found.name}: it was not approved.`
      )
      if (shared.json) yield* screen.json(Agreed, { servers: [told(found, revoked)] })
      return ExitCode.ok
    }))

export const command: Command.Command = {
  description: ["Running applications that follow their configuration stop the server."],
  args: [
    { name: "server", about: "A server or its fingerprint; nothing, to see the approvals.", required: false }
  ],
  options: [],
  examples: [["revoke github", "It is not started until it is approved again."]],
  run
}
