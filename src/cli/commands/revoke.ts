/** `mcp-runtime revoke`: lists and revokes approvals. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as ConfigDiscovery from "../../config/ConfigDiscovery.ts"
import * as Scope from "../../config/Scope.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as Lookup from "../lookup.ts"
import * as Screen from "../Screen.ts"

/** The document of `revoke --json`. */
export const Agreed = Schema.Struct({
  servers: Schema.Array(Schema.Struct({
    server: Schema.String,
    fingerprint: Schema.String,
    /** The environment variables that it may read, or could before. */
    variables: Schema.Array(Schema.String),
    revoked: Schema.Boolean
  }))
})

/** True for a server that is usable because it was approved. */
const isAgreed = ({ config, provenance, sources, state }: ConfigDiscovery.Found): boolean =>
  (state._tag === "Ready" || state._tag === "Disabled") && config !== undefined && config.blocked === undefined &&
  [provenance, ...sources].some(({ origin }) => !Scope.rights(origin).start && origin !== "code")

const documentOf = ({ config, fingerprint, name }: ConfigDiscovery.Found, revoked: boolean) => ({
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
        if (shared.json) yield* screen.json(Agreed, { servers: agreed.map((found) => documentOf(found, false)) })
        else if (agreed.length === 0) yield* screen.note("This workspace has no approvals.")
        for (const found of shared.json ? [] : agreed) {
          const { fingerprint, variables } = documentOf(found, false)
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
          ? [{ text: "revoked", style: "good" }, `: ${found.name}`]
          : `${found.name}: not approved`
      )
      if (shared.json) yield* screen.json(Agreed, { servers: [documentOf(found, revoked)] })
    }))

export const command: Command.Command = {
  description: ["Applications that watch their configuration stop the server at once."],
  args: [
    {
      name: "server",
      about: "Server or its fingerprint (default: list the approvals of this workspace)",
      required: false
    }
  ],
  options: [],
  examples: [["revoke github", "Block a server until it is approved again"]],
  run
}
