/** Approvals of servers of a workspace. Each is for the exact content of one entry, by a person on this machine. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Broadcast from "../broadcast.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import { isCredential } from "../text/credentialName.ts"
import type * as ConfigIssue from "./ConfigIssue.ts"
import type * as Document from "./document.ts"
import type * as ConfigScope from "./Scope.ts"
import type * as ServerEntry from "./serverEntry.ts"
import * as TrustStore from "./TrustStore.ts"

export { type ConsentLine, lines as consent } from "./consent.ts"

/** A server that needs approval. Consent shows `entry`, which is what starts, and never the text of a file. */
export interface Candidate {
  /** The real path of the workspace. */
  readonly root: string
  readonly server: string
  /** Over every field of the parsed entry, known or not, in any order of keys; with provider and workspace. */
  readonly fingerprint: string
  readonly entry: ServerEntry.Entry
  /** Fields without effect here, as they were written. */
  readonly extra?: Document.Table | undefined
  readonly provenance: ConfigScope.Provenance
  /** The variables of the environment that it asks for. */
  readonly variables: ReadonlyArray<string>
  /** The inputs of its file that it uses. Without an answer an input has its default. */
  readonly inputs?: ConfigScope.Expansion["inputs"] | undefined
  readonly hazards: ReadonlyArray<ConfigIssue.EntryWarning & { readonly detail: string }>
}

/**
 * The reason for a question. `new`: there is no approval. `changed`: the approval is for a different entry, or the entry
 * was different for some time since. `unreadable`: the approval cannot be read.
 */
export type Why = "new" | "changed" | "unreadable"

interface Waiting {
  readonly why: Why
  /** For `unreadable`: the file, its fault, and the next step. */
  readonly detail?: string
}

export type Status =
  | { readonly _tag: "Approved"; readonly grants: ReadonlyArray<string> }
  | { readonly _tag: "Pending" } & Waiting

export interface Pending extends Candidate, Waiting {}

export interface ApproveOptions {
  /** The environment variables that it may read (default: those in its entry, without names of credentials). */
  readonly variables?: ReadonlyArray<string> | undefined
}

export interface Options {
  /**
   * Fingerprints (`sha256:…`) that need no person, for programs without a terminal. Nothing else approves by itself: not a
   * missing terminal, not CI, not a `--yes`.
   */
  readonly approved: ReadonlyArray<string>
}

export const defaults: Options = { approved: [] }

export class Trust extends Context.Tag("effect-mcp-runtime/config/Trust")<Trust, {
  /** The status of all servers of a workspace that need approval, in their order; earlier ones are forgotten. */
  readonly review: (candidates: ReadonlyArray<Candidate>) => Effect.Effect<ReadonlyArray<Reviewed>>
  /** The servers of the last review that wait for a person. */
  readonly pending: Effect.Effect<ReadonlyArray<Pending>>
  /**
   * By fingerprint or name, of the last review and not of the file as it is now. After consent the fingerprint of the shown
   * candidate is the right one, because the name can belong to another entry by then.
   */
  readonly approve: (
    server: string,
    options?: ApproveOptions
  ) => Effect.Effect<void, McpError.NotFound | McpError.TrustNotKept>
  /** By fingerprint or name, of the last review. */
  readonly revoke: (server: string) => Effect.Effect<void, McpError.NotFound | McpError.TrustNotKept>
  /** An element for every later approval and revocation, including those of other processes where the store reports them. */
  readonly changes: Stream.Stream<void>
}>() {}

type Service = Trust["Type"]

/** A stored approval of one server of one workspace. */
const Approval = Schema.Struct({
  fingerprint: Schema.String,
  grants: Schema.Array(Schema.String),
  at: Schema.Number,
  /** A different entry was found after this approval, so that changing the entry back does not approve it again. */
  isSuperseded: Schema.Boolean
})
type Approval = typeof Approval.Type

const approved = (grants: ReadonlyArray<string>): Status => ({ _tag: "Approved", grants })
const pending = (waiting: Waiting): Status => ({ _tag: "Pending", ...waiting })

const isSame = (a: Status, b: Status): boolean =>
  a._tag === "Pending"
    ? b._tag === "Pending" && a.why === b.why
    : b._tag === "Approved" && a.grants.join("\0") === b.grants.join("\0")

/** The variables that an approval grants by default. */
const harmless = ({ variables }: Candidate): ReadonlyArray<string> => variables.filter((name) => !isCredential(name))

/** Limit of the events of one review, so that a file with thousands of servers displaces no other events. */
const maxReported = 64

export interface Reviewed {
  readonly candidate: Candidate
  readonly status: Status
}

const nameOf = ({ root, server }: Candidate): TrustStore.DocumentName => [root, server]

/** An approval is identified by its time, because the same entry can be approved again. */
const idOf = ({ at, fingerprint }: Approval): string => `${at} ${fingerprint}`

export const make = (
  options?: Partial<Options>
): Effect.Effect<Service, never, McpEvent.McpEvents | Scope.Scope | TrustStore.TrustStore> =>
  Effect.gen(function*() {
    const { publish } = yield* McpEvent.McpEvents
    const approvals = TrustStore.documents(yield* TrustStore.TrustStore, "approval", Approval)
    const turn = yield* Effect.makeSemaphore(1)
    const changes = yield* Broadcast.make<void>(1)
    const listed = new Set((options?.approved ?? defaults.approved).map((text) => text.trim().toLowerCase()))
    const report = TrustStore.reporting(publish)
    /** Superseded approvals, including those that the store could not mark. */
    const superseded = new Set<string>()
    let reviewed: ReadonlyMap<string, Reviewed> = new Map()

    const announce = ({ candidate: { fingerprint, root, server }, status }: Reviewed): void =>
      publish(McpEvent.McpEvent.TrustChanged({ server, root, fingerprint, status }))

    /** Marks an approval, unless another process has replaced it. */
    const supersede = (candidate: Candidate, approval: Approval) => {
      superseded.add(idOf(approval))
      const marked = approvals.update(
        nameOf(candidate),
        ({ value }) => value && idOf(value) === idOf(approval) ? { ...value, isSuperseded: true } : undefined
      )
      return Effect.catchAll(marked, ({ detail }) => Effect.sync(() => report(candidate.server, detail)))
    }

    /** The status of an entry, by its fingerprint and the stored approval. */
    const judge = Effect.fnUntraced(function*(candidate: Candidate, { damage, value }: TrustStore.Found<Approval>) {
      if (damage !== undefined) {
        report(candidate.server, damage)
        return pending({ why: "unreadable", detail: damage })
      }
      if (value === undefined) return pending({ why: "new" })
      const isSuperseded = value.isSuperseded || superseded.has(idOf(value))
      if (value.fingerprint === candidate.fingerprint && !isSuperseded) return approved(value.grants)
      if (!isSuperseded) yield* supersede(candidate, value)
      return pending({ why: "changed" })
    })

    const review: Service["review"] = (candidates) =>
      turn.withPermits(1)(Effect.gen(function*() {
        const asked = candidates.filter(({ fingerprint }) => !listed.has(fingerprint))
        const stored = yield* approvals.getAll(asked.map(nameOf))
        const found = new Map(asked.map((candidate, at) => [candidate, stored[at]!]))
        const all = yield* Effect.forEach(candidates, (candidate) => {
          const approval = found.get(candidate)
          const status = approval === undefined
            ? Effect.succeed(approved(harmless(candidate)))
            : judge(candidate, approval)
          return Effect.map(status, (status): Reviewed => ({ candidate, status }))
        })
        const before = reviewed
        reviewed = new Map(all.map((each) => [each.candidate.server, each]))
        all.filter(({ candidate, status }) => {
          const old = before.get(candidate.server)
          return old?.candidate.fingerprint === candidate.fingerprint
            ? !isSame(old.status, status)
            : status._tag === "Pending"
        }).slice(0, maxReported).forEach(announce)
        return all
      }))

    const find = (wanted: string): Effect.Effect<Candidate, McpError.NotFound> =>
      Effect.suspend(() => {
        const all = Array.from(reviewed.values(), ({ candidate }) => candidate)
        // fingerprints first, because a server can have the fingerprint of another as its name
        const found = all.find(({ fingerprint }) => fingerprint === wanted) ??
          all.find(({ server }) => server === wanted)
        return found === undefined
          ? new McpError.NotFound({
            server: wanted,
            kind: "server",
            name: wanted,
            suggestions: all.map(({ server }) => server)
          })
          : Effect.succeed(found)
      })

    /** Stores a decision of a person, which gives the new status. */
    const decide = (wanted: string, keep: (candidate: Candidate) => Effect.Effect<Status, TrustStore.Unusable>) =>
      turn.withPermits(1)(Effect.gen(function*() {
        const candidate = yield* find(wanted)
        const { server } = candidate
        const status = yield* Effect.mapError(
          keep(candidate),
          ({ detail }) => new McpError.TrustNotKept({ server, detail })
        )
        // a review may have found another entry while the decision was written
        if (reviewed.get(server)?.candidate.fingerprint === candidate.fingerprint) {
          reviewed = new Map(reviewed).set(server, { candidate, status })
        }
        announce({ candidate, status })
        changes.publish()
      }))

    const approve: Service["approve"] = (wanted, { variables } = {}) =>
      decide(wanted, (candidate) =>
        Effect.gen(function*() {
          const { fingerprint } = candidate
          const grants = variables === undefined
            ? harmless(candidate)
            : candidate.variables.filter((name) => variables.includes(name))
          const approval: Approval = { fingerprint, grants, at: yield* Clock.currentTimeMillis, isSuperseded: false }
          yield* approvals.update(nameOf(candidate), () => approval)
          superseded.delete(idOf(approval))
          return approved(grants)
        }))

    const revoke: Service["revoke"] = (wanted) =>
      decide(wanted, (candidate) =>
        Effect.map(approvals.remove(nameOf(candidate)), () => {
          listed.delete(candidate.fingerprint)
          return pending({ why: "new" })
        }))

    return {
      review,
      pending: Effect.sync(() =>
        Array.from(reviewed.values()).flatMap(({ candidate, status }) => {
          if (status._tag === "Approved") return []
          const { _tag, ...waiting } = status
          return [{ ...candidate, ...waiting }]
        })
      ),
      approve,
      revoke,
      changes: changes.stream
    }
  })

/** Decisions hold for this process only, and publish no events. */
export const layerMemory = (options?: Partial<Options>): Layer.Layer<Trust> =>
  Layer.provide(Layer.scoped(Trust, make(options)), Layer.merge(TrustStore.layerMemory, McpEvent.layerNone))

/**
 * Approves everything, for an application that asks for consent itself. `variables` are the environment variables that
 * a server may read (default: those in its entry, without names of credentials).
 */
export const layerAll = (options?: {
  readonly variables?: ((candidate: Candidate) => ReadonlyArray<string>) | undefined
}): Layer.Layer<Trust> => {
  const variables = options?.variables ?? harmless
  return Layer.succeed(Trust, {
    review: (candidates) =>
      Effect.succeed(candidates.map((candidate) => ({ candidate, status: approved(variables(candidate)) }))),
    pending: Effect.succeed([]),
    approve: () => Effect.void,
    revoke: () => Effect.void,
    changes: Stream.never
  })
}
