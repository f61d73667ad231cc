/**
 * What somebody has agreed to for longer than one call: for this session and, where it is kept, for the next.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fingerprint from "../../../config/Fingerprint.ts"
import type * as ServerConfig from "../../../config/ServerConfig.ts"
import { sha256 } from "../../../json/canonical.ts"
import * as McpError from "../../../McpError.ts"
import type * as Tool from "../../../tools/Tool.ts"
import * as ToolPins from "../../../tools/ToolPins.ts"
import type * as Approval from "../../Approval.ts"
import type * as Grants from "../../Grants.ts"
import type * as PermissionRule from "../../PermissionRule.ts"
import type * as Permissions from "../../Permissions.ts"

/** @internal */
export interface Agreements {
  /** What was agreed to before, for any arguments or for these. */
  readonly find: (request: Permissions.Request, args: string) => Effect.Effect<Grants.Grant | undefined>
  /** It holds for this session whatever becomes of it. */
  readonly add: (
    request: Permissions.Request,
    args: string,
    answer: Approval.Answer
  ) => Effect.Effect<void, McpError.TrustNotKept>
  readonly remove: (
    config: ServerConfig.ServerConfig,
    subject: Pick<PermissionRule.Subject, "kind" | "name">,
    user: string | undefined
  ) => Effect.Effect<void, McpError.TrustNotKept>
}

/** No store of ours takes as long; what another has not said or kept by then it has not. */
const storeLimit = Duration.seconds(15)

/**
 * The server that a user agrees to. A workspace may come with one that looks like another's, down to its command.
 *
 * @internal
 */
export const identityOf = (config: ServerConfig.ServerConfig, user: string | undefined): string => {
  const { provenance } = config
  const place = provenance?.origin === "workspace" ? provenance.path ?? "" : ""
  return sha256(JSON.stringify([Fingerprint.of(config), place, ...(user === undefined ? [] : [user])]))
}

const placeOf = (
  config: ServerConfig.ServerConfig,
  { kind, name }: Pick<PermissionRule.Subject, "kind" | "name">,
  user: string | undefined
): Grants.Place => ({ identity: identityOf(config, user), server: config.name, kind, name })

/**
 * Of what somebody agrees to.
 *
 * @internal
 */
export const keyOf = (
  config: ServerConfig.ServerConfig,
  { kind, name }: Pick<PermissionRule.Subject, "kind" | "name">,
  user: string | undefined
): string => JSON.stringify([identityOf(config, user), config.name, kind, name])

/** @internal */
export const pinOf = (tool: Tool.Tool | undefined): string | undefined =>
  tool === undefined ? undefined : ToolPins.fingerprint(tool)

/** A grant is for one definition: where none is known yet, it is compared before anything is sent. */
const isFor = (grant: Grants.Grant, { subject, tool }: Permissions.Request): boolean =>
  tool === undefined ? subject.kind !== "tool" || grant.pin !== undefined : grant.pin === pinOf(tool)

/** @internal */
export const make = (kept: Grants.Grants["Type"], session: Grants.Grants["Type"]): Agreements => {
  const find: Agreements["find"] = (request, args) =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const place = placeOf(request.config, request.subject, request.identity)
      for (const store of [session, kept]) {
        const all = yield* Effect.disconnect(store.find(place)).pipe(
          Effect.timeoutTo({ duration: storeLimit, onTimeout: () => [], onSuccess: (all) => all })
        )
        const found = all.find((grant) =>
          (grant.until === undefined || now < grant.until) && isFor(grant, request) &&
          (grant.args === undefined || grant.args === args)
        )
        if (found !== undefined) return found
      }
      return undefined
    })

  const add: Agreements["add"] = (request, args, answer) =>
    Effect.gen(function*() {
      if (answer._tag !== "Session" && answer._tag !== "Always") return
      const { config, identity, subject, tool } = request
      // nothing that it could be bound to
      if (subject.kind === "tool" && tool === undefined) return
      const at = yield* Clock.currentTimeMillis
      const until = answer.lasting === undefined ? undefined : at + Duration.toMillis(answer.lasting)
      const place = placeOf(config, subject, identity)
      const grant = { args: answer.exactly === true ? args : undefined, pin: pinOf(tool), until, at }
      yield* session.add(place, grant)
      if (answer._tag === "Session") return
      yield* Effect.disconnect(kept.add(place, grant)).pipe(Effect.timeoutFail({
        duration: storeLimit,
        onTimeout: () => new McpError.TrustNotKept({ server: place.server, detail: "the store does not answer" })
      }))
    })

  return {
    find,
    add,
    remove: (config, subject, user) => {
      const place = placeOf(config, subject, user)
      return Effect.zipRight(session.remove(place), kept.remove(place))
    }
  }
}
