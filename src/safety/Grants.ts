/** Approvals that last longer than one call: for this session and, where they are stored, for the next. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Fingerprint from "../config/Fingerprint.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as TrustStore from "../config/TrustStore.ts"
import { sha256 } from "../json/canonical.ts"
import * as McpError from "../McpError.ts"
import type * as Approval from "./Approval.ts"
import type * as PermissionRule from "./PermissionRule.ts"

/**
 * The subject of grants. `identity` is that of the configuration: another server of the same name has none of its grants.
 */
export interface Target extends Pick<PermissionRule.Subject, "kind" | "server" | "name"> {
  readonly identity: string
}

const Grant = Schema.Struct({
  /** The digest of the arguments, for a grant of these only. */
  args: Schema.optional(Schema.String),
  /** The pin of the approved tool, because another definition is another tool. */
  pin: Schema.optional(Schema.String),
  /** Milliseconds since 1970. */
  until: Schema.optional(Schema.Number),
  at: Schema.Number
})
export type Grant = typeof Grant.Type

export class Grants extends Context.Tag("effect-mcp-runtime/safety/Grants")<Grants, {
  /** None where they cannot be read. */
  readonly find: (target: Target) => Effect.Effect<ReadonlyArray<Grant>>
  /** Replaces the grant for the same arguments. */
  readonly add: (target: Target, grant: Grant) => Effect.Effect<void, McpError.TrustNotKept>
  readonly remove: (target: Target) => Effect.Effect<void, McpError.TrustNotKept>
}>() {}

/** Grants for one tool; a new one replaces the oldest. */
const maxGrants = 64

/** Grants that are kept for the next run, in the store of the environment. */
export const make: Effect.Effect<Grants["Type"], never, TrustStore.TrustStore> = Effect.map(
  TrustStore.TrustStore,
  (store) => {
    const grants = TrustStore.documents(store, "grants", Schema.Array(Grant))
    const keyOf = ({ identity, kind, name, server }: Target) => [identity, server, kind, name]
    const notKept = ({ server }: Target) =>
      Effect.mapError(({ detail }: TrustStore.Unusable) => new McpError.TrustNotKept({ server, detail }))
    return {
      find: (target) =>
        Effect.match(grants.get(keyOf(target)), { onFailure: () => [], onSuccess: ({ value = [] }) => value }),
      add: (target, grant) =>
        notKept(target)(grants.update(keyOf(target), ({ value = [] }) => [
          ...value.filter(({ args }) => args !== grant.args).slice(1 - maxGrants),
          grant
        ])),
      remove: (target) => notKept(target)(grants.remove(keyOf(target)))
    }
  }
)

/** Grants for this process only. */
export const makeMemory: Effect.Effect<Grants["Type"]> = Effect.provideServiceEffect(
  make,
  TrustStore.TrustStore,
  TrustStore.makeMemory
)

export const layerMemory: Layer.Layer<Grants> = Layer.effect(Grants, makeMemory)

/**
 * A server that is a user's own choice. A workspace may come with one that looks like another's, down to its command.
 */
export const identityOf = (config: ServerConfig.ServerConfig, user: string | undefined): string => {
  const { provenance } = config
  const folder = provenance?.origin === "workspace" ? provenance.path ?? "" : ""
  return sha256(JSON.stringify([Fingerprint.of(config), folder, ...(user === undefined ? [] : [user])]))
}

export const targetOf = (
  config: ServerConfig.ServerConfig,
  { kind, name }: Pick<PermissionRule.Subject, "kind" | "name">,
  user: string | undefined
): Target => ({ identity: identityOf(config, user), server: config.name, kind, name })

/** The longest wait for a store of an application. */
const storeLimit = Duration.seconds(15)

/** The valid grants of a target, from the session first; none of a store that does not answer. */
export const valid = (
  session: Grants["Type"],
  kept: Grants["Type"],
  target: Target
): Effect.Effect<ReadonlyArray<Grant>> =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const stored = Effect.disconnect(kept.find(target)).pipe(
      Effect.timeoutTo({ duration: storeLimit, onTimeout: () => [], onSuccess: (all) => all })
    )
    const all = [...yield* session.find(target), ...yield* stored]
    return all.filter(({ until }) => until === undefined || now < until)
  })

/** Adds the grant of an answer. It holds for this session even if it cannot be stored. */
export const record = (
  session: Grants["Type"],
  kept: Grants["Type"],
  target: Target,
  answer: Extract<Approval.Answer, { readonly _tag: "Session" | "Always" }>,
  about: Pick<Grant, "args" | "pin">
): Effect.Effect<void, McpError.TrustNotKept> =>
  Effect.gen(function*() {
    const at = yield* Clock.currentTimeMillis
    const until = answer.lasting === undefined ? undefined : at + Duration.toMillis(answer.lasting)
    const grant = { args: answer.exactly === true ? about.args : undefined, pin: about.pin, until, at }
    yield* session.add(target, grant)
    if (answer._tag === "Session") return
    yield* Effect.disconnect(kept.add(target, grant)).pipe(Effect.timeoutFail({
      duration: storeLimit,
      onTimeout: () => new McpError.TrustNotKept({ server: target.server, detail: "the store did not respond" })
    }))
  })
