/** Approvals that last longer than one call. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TrustStore from "../config/TrustStore.ts"
import * as McpError from "../McpError.ts"
import type * as PermissionRule from "./PermissionRule.ts"

/** The subject of grants. `identity` is that of the configuration: another server of the same name has none of its grants. */
export interface Place {
  readonly identity: string
  readonly server: string
  readonly kind: PermissionRule.Subject["kind"]
  readonly name: string
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
  readonly find: (place: Place) => Effect.Effect<ReadonlyArray<Grant>>
  /** Replaces the grant for the same arguments. */
  readonly add: (place: Place, grant: Grant) => Effect.Effect<void, McpError.TrustNotKept>
  readonly remove: (place: Place) => Effect.Effect<void, McpError.TrustNotKept>
}>() {}

/** Grants for one tool; a new one replaces the oldest. */
const maxGrants = 64

/** Kept for the next run, in the store of the environment. */
export const make: Effect.Effect<Grants["Type"], never, TrustStore.TrustStore> = Effect.map(
  TrustStore.TrustStore,
  (store) => {
    const grants = TrustStore.documents(store, "grants", Schema.Array(Grant))
    const placeOf = ({ identity, kind, name, server }: Place) => [identity, server, kind, name]
    const stored = (found: TrustStore.Found<ReadonlyArray<Grant>>) => found._tag === "Document" ? found.value : []
    const notKept = ({ server }: Place) =>
      Effect.mapError(({ detail }: TrustStore.Unusable) => new McpError.TrustNotKept({ server, detail }))
    return {
      find: (place) => Effect.match(grants.get(placeOf(place)), { onFailure: () => [], onSuccess: stored }),
      add: (place, grant) =>
        notKept(place)(grants.update(placeOf(place), (found) => [
          ...stored(found).filter(({ args }) => args !== grant.args).slice(1 - maxGrants),
          grant
        ])),
      remove: (place) => notKept(place)(grants.remove(placeOf(place)))
    }
  }
)

export const layer: Layer.Layer<Grants, never, TrustStore.TrustStore> = Layer.effect(Grants, make)

/** For this process only. */
export const makeMemory: Effect.Effect<Grants["Type"]> = Effect.provideServiceEffect(
  make,
  TrustStore.TrustStore,
  TrustStore.makeMemory
)

export const layerMemory: Layer.Layer<Grants> = Layer.effect(Grants, makeMemory)
