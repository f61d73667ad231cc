/** `mcp-runtime revoke`: takes an approval back. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as ConfigDiscovery from "../../config/ConfigDiscovery.ts"
import * as Scope from "../../config/Scope.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
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

/** Whether a server would be blocked without its approval. */
const isAgreed = ({ config, provenance, sources, state }: ConfigDiscovery.Found): boolean =>
  (state._tag === "Ready" || state._tag === "Disabled") && config !== undefined && config.blocked === undefined &&
  [provenance, ...sources].some(({ origin }) => !Scope.rights(origin).start && origin !== "code")

const told = ({ config, fingerprint, name }: ConfigDiscovery.Found, revoked: boolean) => ({
  server: name,
  fingerprint,
  variables: config?.expansion?.grants ?? [],
  revoked
})

const run: Command.Command["run"] = ({ args: [wanted], shared }) =>
  Lookup.find(shared, ({ discovery, trust }) =>
    Effect.gen(function*() {
      const screen = yield* Screen.Screen
      if (wanted === undefined) {
        const agreed = discovery.servers.filter(isAgreed)
        if (shared.json) yield* screen.json(Agreed, { servers: agreed.map((found) => told(found, false)) })
        else if (agreed.length === 0) yield* screen.note("There are no approvals here.")
        for (const found of shared.json ? [] : agreed) {
          const { fingerprint, variables } = told(found, false)
          yield* screen.out(
            [{ text: found.name, style: "strong" }, `  ${Scope.format(found.provenance)}`],
            [{ text: "  fingerprint: ", style: "weak" }, fingerprint],
            ...(variables.length === 0
              ? []
              : [[{ text: "  may read: ", style: "weak" } as const, variables.join(", ")]])
          )
        }
        return
      }
      const found = yield* Application.server(wanted, discovery)
      const revoked = isAgreed(found)
      if (revoked) yield* trust.revoke(found.fingerprint)
      yield* screen.note(
        revoked
          ? [{ text: "revoked", style: "good" }, `: ${found.name} is not started until it is approved again.`]
          : `${found.name}: it was not approved.`
      )
      if (shared.json) yield* screen.json(Agreed, { servers: [told(found, revoked)] })
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
