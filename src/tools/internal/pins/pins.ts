/**
 * Pins over a sealed store. Everything about one server happens in turn; what is in memory goes on when the store does
 * not.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Fingerprint from "../../../config/Fingerprint.ts"
import * as Sealed from "../../../config/Sealed.ts"
import type * as ServerConfig from "../../../config/ServerConfig.ts"
import * as TrustStore from "../../../config/TrustStore.ts"
import * as McpError from "../../../McpError.ts"
import * as McpEvent from "../../../McpEvent.ts"
import * as Redaction from "../../../safety/Redaction.ts"
import type * as Tool from "../../Tool.ts"
import type * as ToolPins from "../../ToolPins.ts"
import * as Decisions from "./decisions.ts"
import { fingerprints } from "./fingerprinting.ts"
import * as Held from "./held.ts"
import * as Record from "./record.ts"

type Service = ToolPins.ToolPins["Type"]

/** The pins of one configuration. */
interface Known {
  pins: Map<string, Record.Pin>
  /** The tools whose pins were made without a look at what is kept: what is kept then counts. */
  readonly unsure: Set<string>
  /** Something is not kept yet. */
  isBehind: boolean
}

interface State {
  readonly turn: Effect.Semaphore
  readonly known: Map<string, Known>
  readonly held: Held.Held
  doubted: boolean
}

/** So many tools of one configuration are pinned. What else comes is set aside, because what gives way could change unseen. */
const maxPins = 10_000

/** So many are told of one by one with each list: more would only push other news away. */
const maxTold = 64

/** How many tools are looked at in one go. */
const batch = 256

const unbelievable = "what was kept of the pins of its tools was not written by this runtime"

/** @internal */
export const none: Service = {
  mode: "off",
  review: (_, tools) => Effect.succeed({ offered: tools, quarantined: [] }),
  recall: (_, tools) => Effect.succeed(tools),
  mayUse: () => true,
  isPinned: () => Effect.succeed(false),
  quarantined: Effect.succeed([]),
  approve: (server, name) => Effect.fail(new McpError.NotFound({ server, kind: "tool", name, suggestions: [] })),
  forget: () => Effect.void,
  release: () => undefined,
  changes: Stream.never,
  onChange: () => () => undefined
}

/** @internal */
export const make = (
  options: ToolPins.Options
): Effect.Effect<Service, never, McpEvent.McpEvents | Scope.Scope | TrustStore.TrustStore> =>
  Effect.gen(function*() {
    const events = yield* McpEvent.McpEvents
    const store = yield* TrustStore.TrustStore
    const decisions = yield* Decisions.make
    const redaction = yield* Redaction.Redaction
    const holdsSecret = (definition: string): boolean => redaction.known(definition) !== definition
    if (options.mode === "off") return none

    const sealed = Sealed.make({ store, key: options.key, kind: "pins", schema: Record.Pins })
    const states = new Map<string, State>()
    const complaints = new Set<string>()
    const configurations = new WeakMap<ServerConfig.ServerConfig, string>()

    const fingerprintOf = (config: ServerConfig.ServerConfig): string => {
      const before = configurations.get(config)
      if (before !== undefined) return before
      const now = Fingerprint.of(config)
      configurations.set(config, now)
      return now
    }

    /** Said once: a review follows every list. */
    const complain = (server: string, detail: string): void => {
      const complaint = JSON.stringify([server, detail])
      if (complaints.has(complaint) || complaints.size > 1_000) return
      complaints.add(complaint)
      events.publish(McpEvent.McpEvent.TrustIssue({ server, detail }))
    }

    const stateOf = (server: string): State => {
      const before = states.get(server)
      if (before !== undefined) return before
      const state: State = {
        turn: Effect.unsafeMakeSemaphore(1),
        known: new Map(),
        held: Held.make(server, redaction.known),
        doubted: false
      }
      states.set(server, state)
      return state
    }

    const knownOf = (server: string, config: string): Known | undefined => states.get(server)?.known.get(config)

    /** What is kept of a server, which is also taken into memory for one of its configurations. */
    const read = (
      state: State,
      server: string,
      config: string
    ): Effect.Effect<Record.Pins, Sealed.Unusable> =>
      Effect.map(sealed.get([server]), (found) => {
        if (found._tag === "Broken") complain(server, unbelievable)
        const record = found._tag === "Record" ? found.record : { ...Record.empty, doubted: found._tag === "Broken" }
        state.doubted ||= record.doubted
        const known = state.known.get(config)
        const kept = Record.pinsOf(record, config)
        if (known === undefined) {
          state.known.set(config, { pins: kept ?? new Map(), unsure: new Set(), isBehind: false })
          return record
        }
        for (const tool of known.unsure) if (state.doubted || kept?.has(tool) === true) known.pins.delete(tool)
        known.unsure.clear()
        for (const [tool, pin] of kept ?? []) {
          const mine = known.pins.get(tool)
          known.pins.set(tool, {
            approved: (mine?.approved ?? []).reduce(Record.added, pin.approved),
            bare: (mine?.bare ?? []).reduce(Record.added, pin.bare),
            definition: mine?.definition ?? pin.definition
          })
        }
        return record
      })

    const write = (server: string, record: Record.Pins, config: string, pins: ReadonlyMap<string, Record.Pin>) =>
      sealed.set([server], Record.withPins(record, config, pins, holdsSecret))

    const isApproved = (known: Known | undefined, tool: Tool.Tool): boolean =>
      known?.pins.get(tool.name)?.approved.includes(fingerprints(tool).whole) === true

    /** In steps between which others get their turn, so that a long list keeps nobody waiting who has nothing to do with it. */
    const each = <A>(all: ReadonlyArray<A>, f: (one: A) => void): Effect.Effect<void> => {
      const from = (start: number): Effect.Effect<void> =>
        Effect.suspend(() => {
          const end = Math.min(start + batch, all.length)
          for (let at = start; at < end; at++) f(all[at]!)
          // a yield would only give way to other fibers
          return end === all.length ? Effect.void : Effect.zipRight(Effect.sleep(Duration.zero), from(end))
        })
      return from(0)
    }

    const pinOf = (tool: Tool.Tool, before?: Record.Pin): Record.Pin => {
      const { bare, whole } = fingerprints(tool)
      return {
        approved: Record.added(before?.approved ?? [], whole),
        bare: Record.added(before?.bare ?? [], bare),
        definition: tool.raw
      }
    }

    const reviewed = (state: State, server: string, config: string, tools: ReadonlyArray<Tool.Tool>) =>
      Effect.gen(function*() {
        yield* each(tools, fingerprints)
        const before = state.known.get(config)
        const record = before?.isBehind === false && tools.every((tool) => isApproved(before, tool))
          ? undefined
          : yield* Effect.either(read(state, server, config))
        const known = state.known.get(config) ?? { pins: new Map(), unsure: new Set(), isBehind: false }
        state.known.set(config, known)
        const added: Array<string> = []
        for (const tool of tools) {
          const pin = known.pins.get(tool.name)
          // the definition that is in use anyway is the one to be kept in memory
          if (isApproved(known, tool)) known.pins.set(tool.name, { ...pin!, definition: tool.raw })
          else if (pin === undefined && !state.doubted && known.pins.size < maxPins) {
            known.pins.set(tool.name, pinOf(tool))
            added.push(tool.name)
          }
        }
        known.isBehind ||= added.length > 0
        if (record !== undefined) {
          const kept: Either.Either<unknown, Sealed.Unusable> = known.isBehind
            ? yield* Effect.either(Effect.flatMap(record, (before) => write(server, before, config, known.pins)))
            : record
          if (Either.isLeft(kept)) {
            complain(server, kept.left.detail)
            for (const tool of added) known.unsure.add(tool)
          } else known.isBehind = false
        }
        const changed = tools.filter((tool) => !isApproved(known, tool))
        const now = yield* Clock.currentTimeMillis
        const quarantined: Array<ToolPins.Quarantined> = []
        let news = 0
        yield* each(changed, (tool) => {
          const one = state.held.hold(
            config,
            tool,
            known.pins.get(tool.name) ?? (state.doubted ? "doubted" : "full"),
            now
          )
          quarantined.push(one.quarantined)
          const { changes, fingerprint } = one.quarantined
          if (!one.isNew || ++news > maxTold) return
          events.publish(McpEvent.McpEvent.ToolQuarantined({ server, tool: tool.name, fingerprint, changes }))
        })
        state.held.settle(quarantined)
        if (news > maxTold) {
          const detail = `${news - maxTold} more of its tools are set aside than are told of one by one`
          events.publish(McpEvent.McpEvent.TrustIssue({ server, detail }))
        }
        const offered = options.mode === "warn" || changed.length === 0
          ? tools
          : tools.filter((tool) => isApproved(known, tool))
        return { offered, quarantined }
      })

    /** The pins of a configuration, from the store if need be. */
    const loaded = (config: ServerConfig.ServerConfig): Effect.Effect<Known | undefined> =>
      Effect.suspend(() => {
        const { name: server } = config
        const fingerprint = fingerprintOf(config)
        const known = knownOf(server, fingerprint)
        if (known !== undefined) return Effect.succeed(known)
        const state = stateOf(server)
        return state.turn.withPermits(1)(Effect.match(read(state, server, fingerprint), {
          onFailure: ({ detail }) => {
            complain(server, detail)
            return state.known.get(fingerprint)
          },
          onSuccess: () => state.known.get(fingerprint)
        }))
      })

    /** Whether nothing is pinned of a configuration. */
    const isUnknown = (known: Known | undefined): known is undefined => known === undefined || known.pins.size === 0

    const isFull = (known: Known | undefined): boolean => known !== undefined && known.pins.size >= maxPins

    const isDoubted = (server: string): boolean => states.get(server)?.doubted === true

    const unkept = (server: string) => ({ detail }: Sealed.Unusable) => new McpError.TrustNotKept({ server, detail })

    return {
      mode: options.mode,
      review: (config, tools) =>
        Effect.suspend(() => {
          const state = stateOf(config.name)
          return state.turn.withPermits(1)(reviewed(state, config.name, fingerprintOf(config), tools))
        }),
      recall: (config, tools) =>
        options.mode !== "quarantine" ? Effect.succeed(tools) : Effect.map(loaded(config), (known) => {
          if (isUnknown(known)) return isDoubted(config.name) ? [] : tools
          return tools.filter((tool) => known.pins.get(tool.name)?.bare.includes(fingerprints(tool).bare) === true)
        }),
      mayUse: (config, tool) => {
        if (options.mode !== "quarantine") return true
        const known = knownOf(config.name, fingerprintOf(config))
        return isUnknown(known) ? !isDoubted(config.name) : isApproved(known, tool)
      },
      isPinned: (config, tool) =>
        Effect.map(
          loaded(config),
          (known) => isDoubted(config.name) || isFull(known) || known?.pins.has(tool) === true
        ),
      quarantined: Effect.sync(() => Array.from(states.values()).flatMap(({ held }) => held.current())),
      approve: (server, tool, fingerprint) =>
        Effect.suspend(() => {
          const state = stateOf(server)
          return state.turn.withPermits(1)(Effect.gen(function*() {
            const variant = state.held.find(tool, fingerprint)
            if (variant === undefined) {
              const suggestions = state.held.current().map(({ tool }) => tool)
              return yield* new McpError.NotFound({ server, kind: "tool", name: tool, suggestions })
            }
            const { config } = variant
            const record = yield* Effect.mapError(read(state, server, config), unkept(server))
            const known = state.known.get(config) ?? { pins: new Map(), unsure: new Set(), isBehind: false }
            const pins = new Map(known.pins).set(tool, pinOf(variant.definition, known.pins.get(tool)))
            yield* Effect.mapError(
              write(server, { ...record, doubted: state.doubted }, config, pins),
              unkept(server)
            )
            known.pins = pins
            state.known.set(config, known)
            state.held.release(tool, fingerprint)
            decisions.tell(server)
          }))
        }),
      forget: (server) =>
        Effect.suspend(() => {
          const state = stateOf(server)
          return state.turn.withPermits(1)(
            Effect.map(Effect.mapError(sealed.remove([server]), unkept(server)), () => {
              state.known.clear()
              state.held.clear()
              state.doubted = false
              decisions.tell(server)
            })
          )
        }),
      release: (server) => {
        states.delete(server)
      },
      changes: decisions.changes,
      onChange: decisions.listen
    }
  })
