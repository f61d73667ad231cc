/**
 * What of one server is set aside: by tool and fingerprint, so that each is decided once, in whatever order a server
 * gives them.
 *
 * @internal
 */
import type * as Tool from "../../Tool.ts"
import type * as ToolPins from "../../ToolPins.ts"
import * as Difference from "./difference.ts"
import { fingerprints } from "./fingerprinting.ts"
import * as Record from "./record.ts"

/** What a tool was found to be. */
interface Variant {
  readonly quarantined: ToolPins.Quarantined
  /** The configuration under which it was. */
  readonly config: string
  readonly definition: Tool.Tool
}

/**
 * Why there is nothing to compare a tool with: what was kept cannot be believed, or there is no room for more.
 *
 * @internal
 */
export type Unpinned = "doubted" | "full"

/** @internal */
export interface Held {
  /** A tool that is not what it was agreed to be; says also whether nobody was told of that yet. */
  readonly hold: (
    config: string,
    tool: Tool.Tool,
    pin: Record.Pin | Unpinned,
    now: number
  ) => { readonly quarantined: ToolPins.Quarantined; readonly isNew: boolean }
  /** These are what of the last list is set aside. */
  readonly settle: (all: ReadonlyArray<ToolPins.Quarantined>) => void
  readonly current: () => ReadonlyArray<ToolPins.Quarantined>
  readonly find: (tool: string, fingerprint: string) => Variant | undefined
  readonly release: (tool: string, fingerprint: string) => void
  readonly clear: () => void
}

/** Of a tool that is never the same twice, the last are remembered. */
const maxVariants = 8

/** Names of tools that are remembered beside those of the last list. */
const maxTools = 4_096

const reasons: Record<Unpinned, string> = {
  doubted: "what was kept of it cannot be believed",
  full: "its server has had more tools than are kept"
}

const explained = (tool: Tool.Tool, pin: Record.Pin | Unpinned): ReadonlyArray<ToolPins.Change> => {
  const before = typeof pin === "string" ? undefined : Record.definitionOf(pin)
  if (before !== undefined) return Difference.diff(before, tool.raw)
  const why = typeof pin === "string" ? reasons[pin] : "what it was is not kept"
  return [{ path: "", before: why, after: "what follows" }, ...Difference.diff({}, tool.raw)]
}

/** A value of a definition without its secrets, since events tell of it; its keys say what it is, and not what is secret. */
const hidden = (value: unknown, text: (text: string) => string): unknown => {
  if (typeof value === "string") return text(value)
  if (Array.isArray(value)) return value.map((one) => hidden(one, text))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [text(key), hidden(one, text)]))
}

const withoutSecrets = (change: ToolPins.Change, text: (text: string) => string): ToolPins.Change => ({
  ...change,
  path: text(change.path),
  before: hidden(change.before, text),
  after: hidden(change.after, text)
})

/**
 * @param text - hides secrets that are known
 * @internal
 */
export const make = (server: string, text: (text: string) => string): Held => {
  const variants = new Map<string, Map<string, Variant>>()
  let last: ReadonlyArray<ToolPins.Quarantined> = []

  return {
    hold: (config, tool, pin, since) => {
      const fingerprint = fingerprints(tool).whole
      const known = variants.get(tool.name) ?? new Map<string, Variant>()
      variants.set(tool.name, known)
      const before = known.get(fingerprint)
      if (before?.config === config) return { quarantined: before.quarantined, isNew: false }
      const changes = explained(tool, pin).map((change) => withoutSecrets(change, text))
      const quarantined = { server, tool: tool.name, fingerprint, changes, since }
      known.set(fingerprint, { quarantined, config, definition: tool })
      for (const oldest of known.keys()) {
        if (known.size <= maxVariants) break
        known.delete(oldest)
      }
      return { quarantined, isNew: true }
    },
    settle: (all) => {
      last = all
      if (variants.size <= maxTools) return
      const present = new Set(all.map(({ tool }) => tool))
      for (const tool of variants.keys()) if (!present.has(tool)) variants.delete(tool)
    },
    current: () => last,
    find: (tool, fingerprint) => variants.get(tool)?.get(fingerprint),
    release: (tool, fingerprint) => {
      variants.get(tool)?.delete(fingerprint)
      last = last.filter((one) => one.tool !== tool || one.fingerprint !== fingerprint)
    },
    clear: () => {
      variants.clear()
      last = []
    }
  }
}
