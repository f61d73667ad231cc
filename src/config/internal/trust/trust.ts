/**
 * Decisions about trust, over a store that may be slow, broken, or written to by somebody else.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Broadcast from "../../../broadcast.ts"
import * as McpError from "../../../McpError.ts"
import * as McpEvent from "../../../McpEvent.ts"
import * as Interpolation from "../../Interpolation.ts"
import type * as Sealed from "../../Sealed.ts"
import type * as Trust from "../../Trust.ts"
import * as TrustStore from "../../TrustStore.ts"
import * as Approval from "./approval.ts"
import { bounded } from "./bounded.ts"

type Service = Trust.Trust["Type"]

/** What somebody may be asked about, and what is known of the answer. */
interface Reviewed {
  readonly candidate: Trust.Candidate
  readonly verdict: Trust.Verdict
}

/** What a review tells one by one: a file with thousands of servers is not to drown all other news. */
const tellable = 64

/** @internal */
export const harmless = ({ variables }: Trust.Candidate): ReadonlyArray<string> =>
  variables.filter((name) => !Interpolation.isCredential(name))

const pendingFor = (why: Trust.Why): Trust.Verdict => ({ _tag: "Pending", why })

const isSame = (one: Trust.Verdict, other: Trust.Verdict): boolean =>
  one._tag === "Pending"
    ? other._tag === "Pending" && one.why === other.why
    : other._tag === "Approved" && one.grants.join("\0") === other.grants.join("\0")

/** @internal */
export const make = (
  options: Trust.Options
): Effect.Effect<Service, never, McpEvent.McpEvents | Scope.Scope | TrustStore.TrustStore> =>
  Effect.gen(function*() {
    const events = yield* McpEvent.McpEvents
    const store = yield* TrustStore.TrustStore
    const approvals = Approval.make(store, options.key)
    const turn = yield* Effect.makeSemaphore(1)
    const listed = new Set(options.approved.map((fingerprint) => fingerprint.trim().toLowerCase()))
    const changes = yield* Broadcast.make<void>({ capacity: 1 })
    const complaints = new Set<string>()
    /** The signatures of approvals that do not count any more, even if that could not be kept. */
    const voided = new Set<string>()
    let reviewed: ReadonlyMap<string, Reviewed> = new Map()

    /** Said once: a review follows every change of every file. */
    const complain = (server: string, detail: string): void => {
      const complaint = JSON.stringify([server, detail])
      if (complaints.has(complaint) || complaints.size > 1_000) return
      complaints.add(complaint)
      events.publish(McpEvent.McpEvent.TrustIssue({ server, detail }))
    }

    const tell = ({ candidate: { fingerprint, root, server }, verdict }: Reviewed): void =>
      events.publish(McpEvent.McpEvent.TrustChanged({ server, root, fingerprint, verdict }))

    const unkept = (server: string) => ({ detail }: Sealed.Unusable) => new McpError.TrustNotKept({ server, detail })

    /** What is kept of one, and what it means for what it is now. */
    const look = (
      candidate: Trust.Candidate,
      current: Effect.Effect<Redacted.Redacted | undefined, Sealed.Unusable>
    ): Effect.Effect<Trust.Verdict, Sealed.Unusable> =>
      Effect.gen(function*() {
        const found = yield* approvals.get(Approval.placeOf(candidate), current)
        if (found._tag === "Nothing") return pendingFor("new")
        if (found._tag === "Broken") {
          complain(candidate.server, "what is kept of the answer about it was not written by this runtime")
          return pendingFor("tampered")
        }
        const { mac, record: { fingerprint, grants } } = found
        const gone = yield* bounded(store.get(Approval.voidKeyOf(candidate)))
        const isVoid = voided.has(mac) || (Option.isSome(gone) && gone.value === mac)
        if (fingerprint === candidate.fingerprint && !isVoid) return { _tag: "Approved", grants }
        voided.add(mac)
        // what is changed back was in other hands meanwhile. Beside the approval and not over it, so that one which
        // somebody gives in another process at this moment is not lost
        const put = isVoid ? Effect.void : bounded(store.set(Approval.voidKeyOf(candidate), mac))
        return yield* Effect.match(put, {
          onFailure: ({ detail }) => {
            complain(candidate.server, detail)
            return pendingFor("changed")
          },
          onSuccess: () => pendingFor("changed")
        })
      })

    /** What can be told without a look at what is kept of each. */
    const known = (candidate: Trust.Candidate, has: (key: string) => boolean): Trust.Verdict | undefined => {
      if (listed.has(candidate.fingerprint)) return { _tag: "Approved", grants: harmless(candidate) }
      return has(approvals.nameOf(Approval.placeOf(candidate))) ? undefined : pendingFor("new")
    }

    const review: Service["review"] = (candidates) =>
      turn.withPermits(1)(Effect.gen(function*() {
        const unread = (candidate: Trust.Candidate) => ({ detail }: Sealed.Unusable) =>
          Effect.sync(() => {
            complain(candidate.server, detail)
            return pendingFor("new")
          })
        const verdicts = new Map<Trust.Candidate, Trust.Verdict>()
        const unknown: Array<Trust.Candidate> = []
        // most have nothing to ask, and then nobody looks at what was answered
        if (candidates.length > 0) {
          // what cannot be listed is looked for one by one, and says then what is wrong
          const has = yield* Effect.orElseSucceed(bounded(store.present), () => () => true)
          for (const candidate of candidates) {
            const verdict = known(candidate, has)
            if (verdict === undefined) unknown.push(candidate)
            else verdicts.set(candidate, verdict)
          }
        }
        if (unknown.length > 0) {
          const current = yield* Effect.cached(approvals.key)
          yield* Effect.forEach(unknown, (candidate) =>
            Effect.map(Effect.catchAll(look(candidate, current), unread(candidate)), (verdict) => {
              verdicts.set(candidate, verdict)
            }), { concurrency: "unbounded", discard: true })
        }

        const before = reviewed
        const all = candidates.map((candidate): Reviewed => ({ candidate, verdict: verdicts.get(candidate)! }))
        reviewed = new Map(all.map((one) => [one.candidate.server, one]))
        all.filter(({ candidate, verdict }) => {
          const old = before.get(candidate.server)
          return old?.candidate.fingerprint === candidate.fingerprint
            ? !isSame(old.verdict, verdict)
            : verdict._tag === "Pending"
        }).slice(0, tellable).forEach(tell)
        return all.map(({ verdict }) => verdict)
      }))

    const decided = (candidate: Trust.Candidate, verdict: Trust.Verdict): void => {
      // unless it has become another while that was written
      if (reviewed.get(candidate.server)?.candidate.fingerprint === candidate.fingerprint) {
        reviewed = new Map(reviewed).set(candidate.server, { candidate, verdict })
      }
      tell({ candidate, verdict })
      changes.publish()
    }

    const find = (wanted: string): Either.Either<Trust.Candidate, McpError.NotFound> => {
      const all = Array.from(reviewed.values(), ({ candidate }) =>
        candidate)
      // a fingerprint first: a server may be called anything, even like the fingerprint of another
      const found = all.find((one) => one.fingerprint === wanted) ?? all.find(({ server }) => server === wanted)
      const suggestions = all.map(({ server }) => server)
      return Either.fromNullable(
        found,
        () => new McpError.NotFound({ server: wanted, kind: "server", name: wanted, suggestions })
      )
    }

    const approve: Service["approve"] = (wanted, own) =>
      turn.withPermits(1)(Effect.gen(function*() {
        const candidate = yield* find(wanted)
        const { fingerprint, root, server } = candidate
        const grants = own?.variables === undefined
          ? harmless(candidate)
          : candidate.variables.filter((name) => own.variables?.includes(name))
        const at = yield* Clock.currentTimeMillis
        yield* approvals.set(Approval.placeOf(candidate), { root, server, fingerprint, grants, at }).pipe(
          Effect.mapError(unkept(server))
        )
        decided(candidate, { _tag: "Approved", grants })
      }))

    const revoke: Service["revoke"] = (wanted) =>
      turn.withPermits(1)(Effect.gen(function*() {
        const candidate = yield* find(wanted)
        yield* approvals.remove(Approval.placeOf(candidate)).pipe(Effect.mapError(unkept(candidate.server)))
        listed.delete(candidate.fingerprint)
        decided(candidate, pendingFor("new"))
      }))

    return {
      review,
      pending: Effect.sync(() =>
        Array.from(reviewed.values()).flatMap(({ candidate, verdict }) =>
          verdict._tag === "Pending" ? [{ ...candidate, why: verdict.why }] : []
        )
      ),
      approve,
      revoke,
      changes: changes.stream
    }
  })
