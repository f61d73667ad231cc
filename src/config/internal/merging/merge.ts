/**
 * @internal
 */
import * as Order from "effect/Order"
import type * as ConfigDocument from "../../ConfigDocument.ts"
import type * as ConfigEntry from "../../ConfigEntry.ts"
import type * as Merge from "../../Merge.ts"
import * as Scope from "../../Scope.ts"
import { anchored } from "./anchoring.ts"
import { identity } from "./identity.ts"
import { overlay, saysEnabled } from "./overlay.ts"
import { written } from "./written.ts"

/** Strongest first. What is equal up to its very content is told apart by that, so that the order given never counts. */
const strength = (self: Merge.Layer, that: Merge.Layer): number =>
  Scope.compare(self.scope, that.scope) ||
  self.distance - that.distance ||
  self.rank - that.rank ||
  Order.string(self.provider, that.provider) ||
  Order.string(self.path ?? "", that.path ?? "") ||
  Order.string(written(self.items), written(that.items))

/** An exclusive layer silences all others but those that are as exclusive and as strong, and what is stronger than it. */
const heard = (layers: ReadonlyArray<Merge.Layer>): ReadonlyArray<Merge.Layer> => {
  const exclusive = layers.find((layer) => layer.exclusive)
  if (exclusive === undefined) return layers
  return layers.filter((layer) => {
    const compared = Scope.compare(layer.scope, exclusive.scope)
    return compared < 0 || compared === 0 && layer.exclusive
  })
}

interface Claim extends Merge.LayerItem {
  readonly layer: Merge.Layer
}

type Owned = Omit<Merge.Merged, "sameAs">

const provenance = (claim: Merge.LayerItem) => claim.provenance

/** Whoever is strongest takes it all. */
const whole = (claims: readonly [Claim, ...ReadonlyArray<Claim>]): Owned => {
  const [owner, ...shadows] = claims
  return {
    name: owner.item.name,
    item: owner.item,
    provenance: owner.provenance,
    shadows: shadows.map(provenance),
    sources: [],
    dropped: []
  }
}

interface Laid {
  readonly item: ConfigEntry.Item
  /** The claims it is made of, the weakest first. */
  readonly parts: ReadonlyArray<Claim>
  readonly dropped: ReadonlyArray<string>
}

/** All the words it was made from, because what a person agrees to must not change below them. */
const raw = (parts: ReadonlyArray<Claim>): ConfigDocument.Value => parts.map(({ item }) => item.raw)

/** One more claim over what the weaker ones have come to. A fault hides all below it, as it does in one file alone. */
const lay = (below: Laid | undefined, claim: Claim): Laid => {
  const alone: Laid = { item: claim.item, parts: [claim], dropped: [] }
  if (below === undefined || claim.item._tag === "Invalid") return alone
  const { item } = claim
  const parts = [...below.parts, claim]
  const place = { name: item.name, pointer: item.pointer, raw: raw(parts) }
  if (item._tag === "Patch") {
    switch (below.item._tag) {
      case "Server":
        return {
          ...below,
          parts,
          item: { ...below.item, ...place, entry: { ...below.item.entry, enabled: item.enabled } }
        }
      case "Patch":
        return { ...below, parts, item: { ...item, ...place } }
      case "Invalid":
        return { ...below, parts, item: { ...below.item, ...place } }
    }
  }
  switch (below.item._tag) {
    case "Server": {
      const { dropped, entry } = overlay(below.item.entry, item.entry, item.raw)
      return {
        item: { ...item, ...place, entry, warnings: [...below.item.warnings, ...item.warnings] },
        parts,
        dropped: [...new Set([...below.dropped, ...dropped])]
      }
    }
    case "Patch": {
      const enabled = saysEnabled(item.raw) ? item.entry.enabled : below.item.enabled
      return { item: { ...item, ...place, entry: { ...item.entry, enabled } }, parts, dropped: [] }
    }
    case "Invalid":
      return alone
  }
}

const anchor = (claim: Claim): Claim =>
  claim.item._tag === "Server"
    ? { ...claim, item: { ...claim.item, entry: anchored(claim.item.entry, claim.provenance) } }
    : claim

/** Entries of one host that are put together, in the place of the strongest of them. */
const deep = (claims: ReadonlyArray<Claim>, owner: Claim): Owned => {
  const own = claims.filter(({ layer }) => layer.deep && layer.provider === owner.layer.provider)
  const laid = (own.length > 1 ? own.map(anchor) : own).reduceRight<Laid | undefined>(lay, undefined)
  const parts = laid?.parts ?? [owner]
  const made = new Set(parts.map(provenance))
  return {
    name: owner.item.name,
    item: laid?.item ?? owner.item,
    provenance: owner.provenance,
    shadows: claims.map(provenance).filter((one) => !made.has(one)),
    sources: parts.length > 1 ? parts.map(provenance) : [],
    dropped: laid?.dropped ?? []
  }
}

/** A patch with nothing below it says nothing about how to reach the server. */
const grounded = (owned: Owned): Owned => {
  const { item } = owned
  if (item._tag !== "Patch") return owned
  const { name, pointer, raw } = item
  return { ...owned, item: { _tag: "Invalid", kind: "missing-transport", name, pointer, raw } }
}

const owned = (claims: readonly [Claim, ...ReadonlyArray<Claim>]): Owned =>
  grounded(claims[0].layer.deep ? deep(claims, claims[0]) : whole(claims))

/** @internal */
export const merge = (layers: ReadonlyArray<Merge.Layer>): ReadonlyArray<Merge.Merged> => {
  const claims = new Map<string, [Claim, ...Array<Claim>]>()
  for (const layer of heard(layers.toSorted(strength))) {
    for (const { item, provenance } of layer.items) {
      const claim = { item, provenance, layer }
      const others = claims.get(item.name)
      if (others === undefined) claims.set(item.name, [claim])
      else others.push(claim)
    }
  }
  const first = new Map<string, string>()
  return Array.from(claims.values(), (of): Merge.Merged => {
    const { dropped, item, name, provenance, shadows, sources } = owned(of)
    const id = item._tag === "Server" ? identity(item.entry) : undefined
    const sameAs = id === undefined ? undefined : first.get(id)
    if (id !== undefined && sameAs === undefined) first.set(id, name)
    return { name, item, provenance, shadows, sources, sameAs, dropped }
  })
}
