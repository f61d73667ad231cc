/**
 * Which tools of a server are there, and which need no approval, from the many ways to say so.
 *
 * @internal
 */
import type * as ConfigEntry from "../../ConfigEntry.ts"
import type * as Table from "./dialects/table.ts"
import { all, some, type Use, type Uses } from "./readerUses.ts"
import * as Values from "./readerValues.ts"
import { isTable } from "./values.ts"

interface Found {
  allow: ReadonlyArray<string> | undefined
  readonly deny: Array<string>
  readonly autoApprove: Array<string>
  readonly approval: Map<string, string>
}

/** Several lists of what is allowed: what all of them allow. */
const restrict = (found: Found, names: ReadonlyArray<string>): void => {
  const allowed = new Set(names)
  found.allow = found.allow === undefined ? names : found.allow.filter((name) => allowed.has(name))
}

const shapes: {
  readonly [Shape in NonNullable<Use["field"]["shape"]>]: (to: Values.Reading, found: Found, use: Use) => void
} = {
  list: (to, found, { key, value }) => {
    const names = typeof value === "string" ? [value] : Values.texts(to, value, key)
    if (!names.includes("*")) restrict(found, names)
  },
  include: (to, found, { key, value }) => {
    const held = isTable(value) ? value : undefined
    if (held === undefined) to.fail("invalid-type", key)
    const [include, exclude] = [held?.get("include"), held?.get("exclude")]
    if (include !== undefined) restrict(found, Values.names(to, include, `${key}.include`))
    if (exclude !== undefined) found.deny.push(...Values.names(to, exclude, `${key}.exclude`))
  },
  switches: (to, found, { key, value }) => {
    for (const [tool, held] of Values.entries(to, value, key)) {
      const isOn = isTable(held) ? held.get("enabled") ?? true : held
      if (!Values.flag(to, isOn, `${key}.${tool}`)) found.deny.push(tool)
    }
  },
  approvals: (to, found, { key, value }) => {
    for (const [tool, held] of Values.entries(to, value, key)) {
      const mode = isTable(held) ? held.get("approval_mode") : held
      if (mode !== undefined) found.approval.set(tool, Values.text(to, mode, `${key}.${tool}`))
    }
  }
}

const meanings: ReadonlyArray<Table.Meaning> = ["allow", "deny", "autoApprove", "trust", "tools", "approval"]

/** @internal */
export const tools = (to: Values.Reading, from: Uses): ConfigEntry.Tools | undefined => {
  if (!some(from, meanings)) return undefined
  const found: Found = { allow: undefined, deny: [], autoApprove: [], approval: new Map() }
  for (const { key, value } of all(to, from, "allow")) restrict(found, Values.names(to, value, key))
  for (const { key, value } of all(to, from, "deny")) found.deny.push(...Values.names(to, value, key))
  for (const { key, value } of all(to, from, "autoApprove")) found.autoApprove.push(...Values.names(to, value, key))
  for (const { key, value } of all(to, from, "trust")) if (Values.flag(to, value, key)) found.autoApprove.push("*")
  for (const use of all(to, from, "tools")) shapes[use.field.shape ?? "list"](to, found, use)
  for (const { key, value } of all(to, from, "approval")) found.approval.set("*", Values.text(to, value, key))
  const { allow, approval, autoApprove, deny } = found
  if (allow === undefined && deny.length + autoApprove.length + approval.size === 0) return undefined
  return {
    ...(allow === undefined ? {} : { allow }),
    ...(deny.length === 0 ? {} : { deny }),
    ...(autoApprove.length === 0 ? {} : { autoApprove }),
    ...(approval.size === 0 ? {} : { approval })
  }
}
