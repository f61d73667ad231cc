/**
 * Decisions, and the asking where they need it.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fingerprint from "../../../config/Fingerprint.ts"
import type * as ServerConfig from "../../../config/ServerConfig.ts"
import { canonicalJson } from "../../../internal/canonicalJson.ts"
import { sha256 } from "../../../internal/sha256.ts"
import * as McpError from "../../../McpError.ts"
import * as McpEvent from "../../../McpEvent.ts"
import type * as Tool from "../../../tools/Tool.ts"
import * as ToolPins from "../../../tools/ToolPins.ts"
import * as Approval from "../../Approval.ts"
import * as Grants from "../../Grants.ts"
import * as PermissionRule from "../../PermissionRule.ts"
import type * as Permissions from "../../Permissions.ts"

type Service = Permissions.Permissions["Type"]

type Denied = McpError.PermissionDenied

/** A workspace may come with a server that looks like another's, down to its command. */
const identityOf = (config: ServerConfig.ServerConfig): string => {
  const { provenance } = config
  const place = provenance?.origin === "workspace" ? provenance.path ?? "" : ""
  return sha256(JSON.stringify([Fingerprint.of(config), place]))
}

const placeOf = ({ config, subject: { kind, name, server } }: Permissions.Request): Grants.Place => ({
  identity: identityOf(config),
  server,
  kind,
  name
})

const denied = (
  { subject: { kind, name, server } }: Permissions.Request,
  why: Denied["why"],
  rule?: string
): Denied => new McpError.PermissionDenied({ server, kind, name, why, rule })

const pinOf = (tool: Tool.Tool | undefined): string | undefined =>
  tool === undefined ? undefined : ToolPins.fingerprint(tool)

/** @internal */
export const make = (
  options: Permissions.Options
): Effect.Effect<Service, McpError.ConfigurationError, Permissions.Requirements> =>
  Effect.gen(function*() {
    const approval = yield* Approval.Approval
    const grants = yield* Grants.Grants
    const events = yield* McpEvent.McpEvents
    const given = PermissionRule.compile(options.rules)
    const [fault] = given.faults
    if (fault !== undefined) {
      const path = `permissions.rules[${options.rules.indexOf(fault.input)}]`
      return yield* new McpError.ConfigurationError({ server: "", path, detail: fault.detail })
    }
    const patience = Duration.decode(options.patience)
    const session = Grants.makeMemory()
    const configured = new Map<string, ReadonlyArray<PermissionRule.Input>>()
    let rules = given
    let revision = 0
    const turns = new Map<string, { readonly turn: Effect.Semaphore; waiting: number }>()

    const decide: Service["decide"] = (origin, subject) => {
      const rule = rules.decide(subject)
      return { decision: rule?.decision ?? options.otherwise[origin], rule }
    }

    type By = McpEvent.McpEvent & { readonly _tag: "PermissionDecided" }

    const tell = (
      { callId, origin, subject }: Permissions.Request,
      decision: By["decision"],
      by: By["by"],
      rule: string | undefined
    ): void => {
      const { kind, name, server } = subject
      events.publish(McpEvent.McpEvent.PermissionDecided({ callId, server, kind, name, origin, decision, by, rule }))
    }

    const refuse = (
      request: Permissions.Request,
      why: "rule" | "refused" | "unanswered" | "crowded",
      rule: string | undefined
    ): Effect.Effect<never, Denied> =>
      Effect.suspend(() => {
        tell(request, "deny", why, rule)
        return Effect.fail(denied(request, why, rule))
      })

    const permit = (
      request: Permissions.Request,
      args: Permissions.Permit["args"],
      pin: string | undefined,
      isApproved: boolean
    ): Permissions.Permit => ({ args, request, revision, pin, isApproved })

    /** What was agreed to before, for any arguments or for these. */
    const remembered = (request: Permissions.Request, args: string) =>
      Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const pin = pinOf(request.tool)
        const place = placeOf(request)
        for (const store of [session, grants]) {
          const found = (yield* store.find(place)).find((grant) =>
            (grant.until === undefined || now < grant.until) && (pin === undefined || grant.pin === pin) &&
            (grant.args === undefined || grant.args === args)
          )
          if (found !== undefined) return found
        }
        return undefined
      })

    const remember = (request: Permissions.Request, args: string, answer: Approval.Answer) =>
      Effect.gen(function*() {
        if (answer._tag !== "Session" && answer._tag !== "Always") return
        const at = yield* Clock.currentTimeMillis
        const until = answer.lasting === undefined ? undefined : at + Duration.toMillis(answer.lasting)
        const place = placeOf(request)
        const exactly = answer.exactly === true ? args : undefined
        const grant: Grants.Grant = { args: exactly, pin: pinOf(request.tool), until, at }
        yield* Effect.ignore(session.add(place, grant))
        if (answer._tag === "Session") return
        // it holds for this session whatever becomes of it
        yield* Effect.catchAll(
          grants.add(place, grant),
          ({ detail, server }) => Effect.sync(() => events.publish(McpEvent.McpEvent.TrustIssue({ server, detail })))
        )
      })

    /** One at a time of each server: who answers for the first may answer for those that wait as well. */
    const inTurn = <A, E>(request: Permissions.Request, asking: Effect.Effect<A, E>): Effect.Effect<A, E | Denied> =>
      Effect.suspend((): Effect.Effect<A, E | Denied> => {
        const { server } = request.subject
        const place = turns.get(server) ?? { turn: Effect.unsafeMakeSemaphore(1), waiting: 0 }
        if (place.waiting > options.maxWaiting) return refuse(request, "crowded", undefined)
        turns.set(server, place)
        place.waiting += 1
        return Effect.ensuring(
          place.turn.withPermits(1)(asking),
          Effect.sync(() => {
            place.waiting -= 1
            if (place.waiting === 0) turns.delete(server)
          })
        )
      })

    const ask = (request: Permissions.Request): Effect.Effect<Permissions.Permit, Denied> =>
      Effect.gen(function*() {
        const { callId, config, origin, subject, tool } = request
        // nobody can change any more what somebody is shown
        const args = subject.args === undefined ? undefined : structuredClone(subject.args)
        const digest = sha256(canonicalJson(args ?? null))
        const shown: Permissions.Request = { ...request, subject: { ...subject, args } }
        return yield* inTurn(
          request,
          Effect.gen(function*() {
            const ruling = decide(origin, shown.subject)
            const rule = ruling.rule?.text
            if (ruling.decision === "deny") return yield* refuse(request, "rule", rule)
            if (ruling.decision === "allow") return permit(shown, args, undefined, false)
            const before = yield* remembered(shown, digest)
            if (before !== undefined) {
              tell(request, "allow", "grant", rule)
              return permit(shown, args, before.pin, true)
            }
            const answer = yield* approval.ask({
              callId,
              origin,
              subject: shown.subject,
              tool,
              rule,
              digest: sha256(
                canonicalJson([identityOf(config), subject.kind, subject.name, pinOf(tool) ?? null, digest])
              )
            }).pipe(Effect.timeoutTo({
              duration: patience,
              onTimeout: (): Approval.Answer => ({ _tag: "Unanswered" }),
              onSuccess: (answer) => answer
            }))
            if (answer._tag === "Unanswered") return yield* refuse(request, "unanswered", rule)
            if (answer._tag === "Deny") return yield* refuse(request, "refused", rule)
            const now = decide(origin, shown.subject)
            if (now.decision === "deny") return yield* refuse(request, "rule", now.rule?.text)
            yield* remember(shown, digest, answer)
            tell(request, "allow", "approval", rule)
            return permit(shown, args, pinOf(tool), true)
          })
        )
      })

    return {
      decide,
      isOpen: (origin) => rules.onlyAllows && options.otherwise[origin] === "allow",
      authorize: (request) =>
        Effect.suspend(() => {
          const { origin, subject } = request
          const { decision, rule } = decide(origin, subject)
          if (decision === "deny") return refuse(request, "rule", rule?.text)
          if (decision === "ask") return ask(request)
          if (rule !== undefined || origin === "model") {
            tell(request, "allow", rule === undefined ? "default" : "rule", rule?.text)
          }
          return Effect.succeed(permit(request, subject.args, undefined, false))
        }),
      stands: ({ isApproved, pin, request, revision: then }, tool) => {
        if (pin !== undefined && pin !== pinOf(tool)) return denied(request, "changed")
        if (then === revision) return undefined
        const { decision, rule } = decide(request.origin, request.subject)
        if (decision === "deny") return denied(request, "rule", rule?.text)
        return decision === "ask" && !isApproved ? denied(request, "changed", rule?.text) : undefined
      },
      rules: () => rules,
      configure: (whose, more) =>
        Effect.sync(() => {
          const before = configured.get(whose) ?? []
          if (before.length === 0 && more.length === 0) return []
          configured.set(whose, more)
          rules = PermissionRule.compile([...options.rules, ...Array.from(configured.values()).flat()])
          revision += 1
          return rules.faults.filter(({ input }) => more.includes(input))
        }),
      revoke: (config, { kind, name }) => {
        const place = { identity: identityOf(config), server: config.name, kind, name }
        return Effect.zipRight(session.remove(place), grants.remove(place))
      }
    }
  })

/** @internal */
export const none = (): Service => {
  const rules = PermissionRule.compile([])
  const ruling: Permissions.Ruling = { decision: "allow", rule: undefined }
  return {
    decide: () => ruling,
    isOpen: () => true,
    authorize: (request) =>
      Effect.succeed({ args: request.subject.args, request, revision: 0, isApproved: false, pin: undefined }),
    stands: () => undefined,
    rules: () => rules,
    configure: () => Effect.succeed([]),
    revoke: () => Effect.void
  }
}
