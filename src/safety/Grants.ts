/**
 * What somebody has agreed to for longer than one call.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as McpError from "../McpError.ts"
import type * as PermissionRule from "./PermissionRule.ts"

/**
 * What a grant is for: `identity` is that of the server's configuration, so that another server of the same name has none
 * of it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Place {
  readonly identity: string
  readonly server: string
  readonly kind: PermissionRule.Subject["kind"]
  readonly name: string
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Grant {
  /** The digest of the arguments, if it is for these only. */
  readonly args: string | undefined
  /** The pin of the tool that was agreed to; another definition is another tool. */
  readonly pin: string | undefined
  /** Milliseconds since 1970. */
  readonly until: number | undefined
  readonly at: number
}

/**
 * @since 0.1.0
 * @category tags
 */
export class Grants extends Context.Tag("effect-mcp-runtime/safety/Grants")<Grants, {
  /** What cannot be read or believed is not there. */
  readonly find: (place: Place) => Effect.Effect<ReadonlyArray<Grant>>
  /** Takes the place of the one for the same arguments. */
  readonly add: (place: Place, grant: Grant) => Effect.Effect<void, McpError.TrustNotKept>
  readonly remove: (place: Place) => Effect.Effect<void, McpError.TrustNotKept>
}>() {}

/** No more for one tool than somebody could have meant; the oldest give way. */
const maxGrants = 64

/**
 * Grants with one more, of which there is one for the same arguments.
 *
 * @since 0.1.0
 * @category combinators
 */
export const added = (grants: ReadonlyArray<Grant>, grant: Grant): ReadonlyArray<Grant> => [
  ...grants.filter(({ args }) => args !== grant.args).slice(1 - maxGrants),
  grant
]

/**
 * For this process only.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeMemory = (): Grants["Type"] => {
  const all = new Map<string, ReadonlyArray<Grant>>()
  const keyOf = ({ identity, kind, name, server }: Place): string => JSON.stringify([identity, server, kind, name])
  return {
    find: (place) => Effect.sync(() => all.get(keyOf(place)) ?? []),
    add: (place, grant) =>
      Effect.sync(() => {
        all.set(keyOf(place), added(all.get(keyOf(place)) ?? [], grant))
      }),
    remove: (place) =>
      Effect.sync(() => {
        all.delete(keyOf(place))
      })
  }
}

/**
 * @since 0.1.0
 * @category layers
 */
export const layerMemory: Layer.Layer<Grants> = Layer.sync(Grants, makeMemory)
