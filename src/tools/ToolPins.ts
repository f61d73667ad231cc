/**
 * Pins: the approved definition of each tool. A tool whose definition differs is quarantined until a person approves
 * the difference; other tools are unaffected. A tool that behaves differently under the same definition is not
 * detected. Instructions, prompts and resources are not pinned.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Fingerprint from "../config/Fingerprint.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as TrustStore from "../config/TrustStore.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as Redaction from "../safety/Redaction.ts"
import * as Scoped from "../scoped.ts"
import { inTurns } from "./inTurns.ts"
import * as PinRecord from "./pinRecord.ts"
import type * as Tool from "./Tool.ts"
import * as Definition from "./toolDefinition.ts"

export { type Change, render } from "./toolDefinition.ts"

/**
 * Why a tool is quarantined. `changed`: its definition is not an approved one. `unreadable`: the stored pins of its server
 * cannot be read. `crowded`: its server has had more tools than are pinned.
 */
export type Why = "changed" | "unreadable" | "crowded"

/** A tool whose definition is not approved. */
export interface Quarantined {
  readonly server: string
  readonly tool: string
  readonly why: Why
  /** Of the new definition, for `approve`. */
  readonly fingerprint: string
  readonly changes: ReadonlyArray<Definition.Change>
  /** Milliseconds since 1970. */
  readonly since: number
}

/** The fields of `PermissionDenied` that say why a tool is quarantined. */
export const refusal = ({ changes, why }: Quarantined): Pick<McpError.PermissionDenied, "changed" | "unpinned"> =>
  why === "changed" ? { changed: changes.map(({ path }) => path) } : { unpinned: why }

/**
 * `quarantine`: a changed tool is neither offered nor called. `warn`: it is reported, and offered and called all the same.
 * `off`: nothing is pinned.
 */
type Mode = "quarantine" | "warn" | "off"

export interface Options {
  readonly mode: Mode
}

const defaults: Options = { mode: "quarantine" }

/** A reviewed list. In the mode `warn` a tool can be in both. */
export interface Review {
  readonly offered: ReadonlyArray<Tool.Tool>
  readonly quarantined: ReadonlyArray<Quarantined>
}

type Config = ServerConfig.ServerConfig
type Tools = ReadonlyArray<Tool.Tool>

export class ToolPins extends Context.Tag("effect-mcp-runtime/tools/ToolPins")<ToolPins, {
  readonly mode: Mode
  /**
   * Pins the new tools of a list and quarantines the changed ones. A server is identified by its name and the identity of
   * its configuration. Pins that cannot be stored cost an event only.
   */
  readonly review: (config: Config, tools: Tools) => Effect.Effect<Review>
  /** The tools of a snapshot, without annotations, that are as approved; all of them if the server has no pins. */
  readonly recall: (config: Config, tools: Tools) => Effect.Effect<Tools>
  /** True if a tool of a reviewed list may be used now. */
  readonly mayUse: (config: Config, tool: Tool.Tool) => boolean
  /** True if a tool has to be compared with a pin before use. */
  readonly isPinned: (config: Config, tool: string) => Effect.Effect<boolean>
  /** True if the server added this tool after its first list, and `accept` was not called for it. */
  readonly isAdded: (config: Config, tool: string) => boolean
  /** Counts an added tool as one of the first list. */
  readonly accept: (config: Config, tool: string) => Effect.Effect<void, McpError.TrustNotKept>
  /** The tools that the last review of each server has quarantined. */
  readonly quarantined: Effect.Effect<ReadonlyArray<Quarantined>>
  /** Approves the definition with this fingerprint, which was shown, in addition to the earlier ones. */
  readonly approve: (
    server: string,
    tool: string,
    fingerprint: string
  ) => Effect.Effect<void, McpError.NotFound | McpError.TrustNotKept>
  /** Removes all pins of a server: its next list is pinned anew. */
  readonly forget: (server: string) => Effect.Effect<void, McpError.TrustNotKept>
  /** Frees the memory of a removed server; its stored pins stay. */
  readonly release: (server: string) => void
  /** Called synchronously after each `approve` and `forget`; returns a function that removes it. */
  readonly onChange: (listener: (server: string) => void) => () => void
}>() {}

/** More tools of one configuration are quarantined, because a pin that gave way could change unseen. */
const maxPins = 10_000

/** Reported one by one for each list; the rest is one event, so that it displaces no other events. */
const maxReported = 64

/** Remembered definitions beside those of the last list, so that a server that alternates is reported once for each. */
const maxVariants = 4_096

type Pins = Map<string, PinRecord.Pin>

/** A change of pins, which is made of the stored ones and of those in memory. */
type Step = (pins: Pins) => Pins

/** The pins of one configuration. */
interface Known {
  pins: Pins
  /** Tools whose pins are not stored yet: a stored pin replaces theirs. */
  readonly unsure: Set<string>
  /** Whether there are pins that are not stored yet. */
  isBehind: boolean
}

/** A definition that was found not to be approved, and the configuration under which it was. */
interface Variant {
  readonly quarantined: Quarantined
  readonly config: string
  readonly definition: Tool.Tool
}

/** The pins of one server name. */
interface State {
  readonly server: string
  readonly turn: Effect.Semaphore
  /** By fingerprint of the configuration. */
  readonly known: Map<string, Known>
  /** By `variantKey`. */
  readonly variants: Map<string, Variant>
  /** Of the last review. */
  quarantined: ReadonlyArray<Quarantined>
  doubted: boolean
}

const variantKey = (tool: string, fingerprint: string): string => `${fingerprint} ${tool}`

/** A value with every text and key passed through `hide`. */
const hidden = (value: unknown, hide: (text: string) => string): unknown => {
  if (typeof value === "string") return hide(value)
  if (Array.isArray(value)) return value.map((each) => hidden(each, hide))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [hide(key), hidden(each, hide)]))
}

const withoutSecrets = (change: Definition.Change, hide: (text: string) => string): Definition.Change => ({
  ...change,
  path: hide(change.path),
  before: hidden(change.before, hide),
  after: hidden(change.after, hide)
})

const none: ToolPins["Type"] = {
  mode: "off",
  review: (_, tools) => Effect.succeed({ offered: tools, quarantined: [] }),
  recall: (_, tools) => Effect.succeed(tools),
  mayUse: () => true,
  isPinned: () => Effect.succeed(false),
  isAdded: () => false,
  accept: () => Effect.void,
  quarantined: Effect.succeed([]),
  approve: (server, name) => Effect.fail(new McpError.NotFound({ server, kind: "tool", name, suggestions: [] })),
  forget: () => Effect.void,
  release: () => undefined,
  onChange: () => () => undefined
}

/** Pins that are kept in the trust store. Everything about one server happens in turn. */
export const make = Effect.fnUntraced(function*(options?: Partial<Options>) {
  const { mode } = { ...defaults, ...options }
  const { publish } = yield* McpEvent.McpEvents
  const store = yield* TrustStore.TrustStore
  const redaction = yield* Redaction.Redaction
  if (mode === "off") return none

  const stored = TrustStore.documents(store, "pins", PinRecord.Stored)
  const states = new Map<string, State>()
  const listeners = new Set<(server: string) => void>()
  const report = TrustStore.reporting(publish)

  const decided = (server: string): void => listeners.forEach((listener) => listener(server))
  const holdsSecret = (definition: string): boolean => redaction.known(definition) !== definition

  const stateOf = (server: string): State => {
    const state = states.get(server) ?? {
      server,
      turn: Effect.unsafeMakeSemaphore(1),
      known: new Map(),
      variants: new Map(),
      quarantined: [],
      doubted: false
    }
    states.set(server, state)
    return state
  }
  const inTurn = <A, E>(server: string, f: (state: State) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      const state = stateOf(server)
      return state.turn.withPermits(1)(f(state))
    })
  const knownIn = (state: State, config: string): Known => {
    const known = state.known.get(config) ?? { pins: new Map(), unsure: new Set(), isBehind: false }
    state.known.set(config, known)
    return known
  }

  /** Merges the stored pins of a server into memory, for one of its configurations. */
  const merge = (state: State, config: string, found: TrustStore.Found<PinRecord.Stored>): PinRecord.Stored => {
    const { damage, value } = found
    if (damage !== undefined) report(state.server, damage)
    const record = value ?? { configurations: [], doubted: damage !== undefined }
    state.doubted ||= record.doubted
    const kept = new Map(
      record.configurations.find(({ fingerprint }) => fingerprint === config)?.tools.map((pin) => [pin.tool, pin])
    )
    const known = knownIn(state, config)
    for (const tool of known.unsure) if (state.doubted || kept.has(tool)) known.pins.delete(tool)
    known.unsure.clear()
    for (const [tool, { approved, bare, definition, isAdded }] of kept) {
      const pin = known.pins.get(tool)
      known.pins.set(tool, {
        approved: (pin?.approved ?? []).reduce(PinRecord.added, approved),
        bare: (pin?.bare ?? []).reduce(PinRecord.added, bare),
        isAdded,
        definition: pin?.definition ?? definition
      })
    }
    return record
  }

  const read = (state: State, config: string): Effect.Effect<void, TrustStore.Unusable> =>
    Effect.map(stored.get([state.server]), (found) => void merge(state, config, found))

  /** Adds pins to the stored ones, of which other processes may have written some meanwhile. */
  const write = (state: State, config: string, step: Step): Effect.Effect<void, TrustStore.Unusable> =>
    stored.update([state.server], (found) => {
      const record = merge(state, config, found)
      const doubted = state.doubted
      return PinRecord.withPins({ ...record, doubted }, config, step(knownIn(state, config).pins), holdsSecret)
    })

  const apply = (state: State, config: string, step: Step): Effect.Effect<void> =>
    Effect.sync(() => {
      const known = knownIn(state, config)
      known.pins = step(known.pins)
    })

  const isApproved = (known: Known | undefined, tool: Tool.Tool): boolean =>
    known?.pins.get(tool.name)?.approved.includes(Definition.fingerprints(tool).whole) === true

  /** The variant of a tool that is not approved, and whether it was not reported before. */
  const variantOf = (state: State, config: string, definition: Tool.Tool, since: number) => {
    const { whole: fingerprint } = Definition.fingerprints(definition)
    const tool = definition.name
    const key = variantKey(tool, fingerprint)
    const before = state.variants.get(key)
    if (before?.config === config) return { ...before, isNew: false }
    const pin = state.known.get(config)?.pins.get(tool)
    const why = pin !== undefined ? "changed" : state.doubted ? "unreadable" : "crowded"
    const changes = PinRecord.differences(definition, pin, why).map((change) => withoutSecrets(change, redaction.known))
    const quarantined: Quarantined = { server: state.server, tool, why, fingerprint, changes, since }
    state.variants.set(key, { quarantined, config, definition })
    return { quarantined, isNew: true }
  }

  const quarantine = Effect.fnUntraced(function*(state: State, config: string, changed: Tools) {
    const now = yield* Clock.currentTimeMillis
    const { server } = state
    const variants = yield* inTurns(changed, (tool) => variantOf(state, config, tool, now))
    const news = variants.filter(({ isNew }) => isNew)
    for (const { quarantined: { changes, fingerprint, tool } } of news.slice(0, maxReported)) {
      publish(McpEvent.McpEvent.ToolQuarantined({ server, tool, fingerprint, changes }))
    }
    if (news.length > maxReported) {
      const detail = `${news.length - maxReported} more of its tools are quarantined than are reported one by one`
      publish(McpEvent.McpEvent.TrustIssue({ server, detail }))
    }
    const all = variants.map(({ quarantined }) => quarantined)
    state.quarantined = all
    if (state.variants.size > maxVariants) {
      const present = new Set(all)
      for (const [key, { quarantined }] of state.variants) if (!present.has(quarantined)) state.variants.delete(key)
    }
    return all
  })

  const reviewed = Effect.fnUntraced(function*(state: State, config: string, tools: Tools) {
    yield* inTurns(tools, Definition.fingerprints)
    const before = state.known.get(config)
    const isRead = before === undefined || before.isBehind || tools.some((tool) => !isApproved(before, tool))
    const found = isRead ? yield* Effect.either(read(state, config)) : Either.void
    const known = knownIn(state, config)
    const fresh: Array<string> = []
    const isFirst = known.pins.size === 0
    for (const tool of tools) {
      const pin = known.pins.get(tool.name)
      // keeps the definition that is in memory anyway
      if (isApproved(known, tool)) known.pins.set(tool.name, { ...pin!, definition: tool.raw })
      else if (pin === undefined && !state.doubted && known.pins.size < maxPins) {
        known.pins.set(tool.name, isFirst ? PinRecord.pinOf(tool) : { ...PinRecord.pinOf(tool), isAdded: true })
        // a pin that another process stores before this one takes its place
        known.unsure.add(tool.name)
        fresh.push(tool.name)
      }
    }
    known.isBehind ||= fresh.length > 0
    if (isRead) {
      const isKept = Either.isLeft(found) || !known.isBehind
        ? found
        : yield* Effect.either(write(state, config, (pins) => pins))
      if (Either.isRight(isKept)) known.isBehind = false
      else {
        report(state.server, isKept.left.detail)
        for (const tool of fresh) known.unsure.add(tool)
      }
    }
    const changed = tools.filter((tool) => !isApproved(known, tool))
    if (changed.length + state.quarantined.length === 0) return { offered: tools, quarantined: [] }
    const quarantined = yield* quarantine(state, config, changed)
    const offered = mode === "warn" ? tools : tools.filter((tool) => isApproved(known, tool))
    return { offered, quarantined }
  })

  const inMemory = (config: Config): Known | undefined => states.get(config.name)?.known.get(Fingerprint.of(config))

  /** The pins of a configuration, from the store if need be. */
  const loaded = (config: Config): Effect.Effect<Known | undefined> =>
    Effect.suspend(() => {
      const known = inMemory(config)
      if (known !== undefined) return Effect.succeed(known)
      const { name } = config
      return inTurn(name, (state) =>
        read(state, Fingerprint.of(config)).pipe(
          Effect.catchAll(({ detail }) => Effect.sync(() => report(name, detail))),
          Effect.map(() => inMemory(config))
        ))
    })

  const isDoubted = (server: string): boolean => states.get(server)?.doubted === true

  const notKept = (server: string) => ({ detail }: TrustStore.Unusable) => new McpError.TrustNotKept({ server, detail })

  return ToolPins.of({
    mode,
    review: (config, tools) => inTurn(config.name, (state) => reviewed(state, Fingerprint.of(config), tools)),
    recall: (config, tools) =>
      mode === "warn" ? Effect.succeed(tools) : Effect.map(loaded(config), (known) => {
        if (known === undefined || known.pins.size === 0) return isDoubted(config.name) ? [] : tools
        return tools.filter((tool) =>
          known.pins.get(tool.name)?.bare.includes(Definition.fingerprints(tool).bare) === true
        )
      }),
    mayUse: (config, tool) => {
      if (mode === "warn") return true
      const known = inMemory(config)
      return known === undefined || known.pins.size === 0 ? !isDoubted(config.name) : isApproved(known, tool)
    },
    isPinned: (config, tool) =>
      Effect.map(
        loaded(config),
        (known) =>
          isDoubted(config.name) || (known !== undefined && (known.pins.has(tool) || known.pins.size >= maxPins))
      ),
    isAdded: (config, tool) => inMemory(config)?.pins.get(tool)?.isAdded === true,
    accept: (config, tool) =>
      inTurn(config.name, (state) => {
        const fingerprint = Fingerprint.of(config)
        const accepted: Step = (pins) => {
          const pin = pins.get(tool)
          return pin === undefined ? pins : new Map(pins).set(tool, { ...pin, isAdded: undefined })
        }
        return Effect.ensuring(
          Effect.mapError(write(state, fingerprint, accepted), notKept(config.name)),
          apply(state, fingerprint, accepted)
        )
      }),
    quarantined: Effect.sync(() => Array.from(states.values()).flatMap(({ quarantined }) => quarantined)),
    approve: (server, tool, fingerprint) =>
      inTurn(server, (state) =>
        Effect.gen(function*() {
          const variant = state.variants.get(variantKey(tool, fingerprint))
          if (variant === undefined) {
            const suggestions = state.quarantined.map(({ tool }) => tool)
            return yield* new McpError.NotFound({ server, kind: "tool", name: tool, suggestions })
          }
          const { config, definition } = variant
          const approved: Step = (pins) => new Map(pins).set(tool, PinRecord.pinOf(definition, pins.get(tool)))
          yield* Effect.mapError(write(state, config, approved), notKept(server))
          yield* apply(state, config, approved)
          state.variants.delete(variantKey(tool, fingerprint))
          state.quarantined = state.quarantined.filter((each) => each !== variant.quarantined)
          decided(server)
        })),
    forget: (server) =>
      inTurn(server, (state) =>
        Effect.map(Effect.mapError(stored.remove([server]), notKept(server)), () => {
          state.known.clear()
          state.variants.clear()
          state.quarantined = []
          state.doubted = false
          decided(server)
        })),
    release: (server) => {
      states.delete(server)
    },
    onChange: (listener) => Scoped.addListener(listeners, listener)
  })
})

/** Pins for this process only. */
export const layerMemory = (options?: Partial<Options>): Layer.Layer<ToolPins, never, McpEvent.McpEvents> =>
  Layer.provide(Layer.effect(ToolPins, make(options)), TrustStore.layerMemory)

/** Pins nothing. */
export const layerNone: Layer.Layer<ToolPins> = Layer.succeed(ToolPins, none)
