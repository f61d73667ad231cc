/**
 * Decisions, and the asking where they need it.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ServerConfig from "../../../config/ServerConfig.ts"
import { canonicalJson, sha256 } from "../../../json/canonical.ts"
import * as McpError from "../../../McpError.ts"
import * as McpEvent from "../../../McpEvent.ts"
import type * as Tool from "../../../tools/Tool.ts"
import * as Approval from "../../Approval.ts"
import * as Grants from "../../Grants.ts"
import * as PermissionRule from "../../PermissionRule.ts"
import type * as Permissions from "../../Permissions.ts"
import * as Agreements from "./agreements.ts"
import { copied } from "./copied.ts"

type Service = Permissions.Permissions["Type"]

type Denied = McpError.PermissionDenied
/** The reasons of a decision about a call. */
type Why = Exclude<Denied["why"], "policy" | "quarantined">

/** @internal */
export const make = (
  options: Permissions.Options,
  otherwise: Readonly<Record<Permissions.Origin, PermissionRule.Decision>>
): Effect.Effect<Service, McpError.ConfigurationError, Permissions.Requirements> =>
  Effect.gen(function*() {
    const approval = yield* Approval.Approval
    const agreements = Agreements.make(yield* Grants.Grants, yield* Grants.makeMemory)
    const events = yield* McpEvent.McpEvents
    const given = PermissionRule.compile(options.rules)
    const [fault] = given.faults
    if (fault !== undefined) {
      const path = `permissions.rules[${options.rules.indexOf(fault.input)}]`
      return yield* new McpError.ConfigurationError({ server: "", path, detail: fault.detail })
    }
    const patience = Duration.decode(options.patience)
    const configured = new Map<string, ReadonlyArray<PermissionRule.Input>>()
    let rules = given
    let revision = 0
    const turns = new Map<string, { readonly turn: Effect.Semaphore; waiting: number }>()
    /** Since which revision what was agreed to before does not count any more. */
    const revoked = new Map<string, number>()

    const decide: Service["decide"] = (origin, subject) => {
      const rule = rules.decide(subject)
      return { decision: rule?.decision ?? otherwise[origin], rule }
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

    const isAttended = approval.isAttended !== false

    /** Publishes the refusal, with the `allow` rule that would permit the call if no person could be asked. */
    const stopped = (
      request: Permissions.Request,
      why: Why,
      rule: string | undefined,
      size?: Pick<Denied, "length" | "limit">
    ): Denied => {
      const { kind, name, server } = request.subject
      tell(request, "deny", why, rule)
      const denial = { server, kind, name, why, rule, ...size }
      const isUnaskable = why === "too-long" || (why === "unanswered" && !isAttended)
      if (!isUnaskable) return new McpError.PermissionDenied(denial)
      const allow = why === "too-long" || rule === undefined ? PermissionRule.allowing(request.subject) : undefined
      const remedy = why === "too-long" && rule !== undefined ? undefined : options.remedy?.({ allow, rule })
      return new McpError.PermissionDenied({ ...denial, allow, remedy })
    }

    const refuse = (
      request: Permissions.Request,
      why: Why,
      rule: string | undefined
    ): Effect.Effect<never, Denied> => Effect.suspend(() => Effect.fail(stopped(request, why, rule)))

    /** Under the rules that it was decided by, which may be others by now. */
    const permit = (
      request: Permissions.Request,
      under: number,
      more?: Partial<Permissions.Permit>
    ): Permissions.Permit => ({
      args: request.subject.args,
      request,
      revision: under,
      pin: undefined,
      isApproved: false,
      isGranted: false,
      isReadOnly: false,
      ...more
    })

    /** True if the tool may be called without approval because it is read-only; unknown until its server has listed it. */
    const isReadOnly = ({ config, subject: { kind }, tool }: Permissions.Request): boolean | undefined => {
      if (isAttended || options.unattended === "refuse" || kind !== "tool") return false
      if (!ServerConfig.isTrusted(config)) return false
      return tool && tool.annotations.readOnlyHint === true && tool.annotations.destructiveHint !== true
    }

    /** With arguments that nobody can change any more, or nothing if nobody could look at all of them. */
    const fixed = (request: Permissions.Request): Permissions.Request | undefined => {
      const { subject } = request
      if (subject.args === undefined) return request
      const args = copied(subject.args)
      return args === undefined ? undefined : { ...request, subject: { ...subject, args } }
    }

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

    /** Permits a read-only tool. An unlisted tool is listed first, and `stands` decides before the call is sent. */
    const unattended = (request: Permissions.Request, under: number): Effect.Effect<Permissions.Permit, Denied> => {
      const permitted = Effect.sync(() => {
        tell(request, "allow", "read-only", undefined)
        return permit(request, under, { isReadOnly: true })
      })
      if (request.tool !== undefined) return permitted
      const digest = sha256(canonicalJson(request.subject.args ?? null))
      return Effect.flatMap(
        agreements.find(request, digest),
        (before) => before === undefined ? permitted : ask(request)
      )
    }

    /** Takes the request with arguments that cannot change. */
    const ask = (request: Permissions.Request): Effect.Effect<Permissions.Permit, Denied> =>
      Effect.suspend(() => {
        const { callId, config, identity, origin, subject, tool } = request
        const { args } = subject
        const digest = sha256(canonicalJson(args ?? null))
        return inTurn(
          request,
          Effect.gen(function*() {
            const under = revision
            const ruling = decide(origin, subject)
            const rule = ruling.rule?.text
            if (ruling.decision === "deny") return yield* refuse(request, "rule", rule)
            if (ruling.decision === "allow") {
              tell(request, "allow", rule === undefined ? "default" : "rule", rule)
              return permit(request, under)
            }
            const before = yield* agreements.find(request, digest)
            if (before !== undefined) {
              tell(request, "allow", "grant", rule)
              return permit(request, under, { pin: before.pin, isApproved: true, isGranted: true })
            }
            const question: Approval.Request = {
              callId,
              origin,
              identity,
              // its own copy: whatever is made of it there, what is sent is what was shown
              subject: args === undefined ? subject : { ...subject, args: copied(args) },
              tool,
              rule,
              digest: sha256(
                canonicalJson([
                  Agreements.identityOf(config, identity),
                  subject.kind,
                  subject.name,
                  Agreements.pinOf(tool) ?? null,
                  digest
                ])
              )
            }
            // apart, because who cannot be stopped would be waited for
            const answer = yield* Effect.disconnect(approval.ask(question)).pipe(Effect.timeoutTo({
              duration: patience,
              onTimeout: (): Approval.Answer => ({ _tag: "Unanswered" }),
              onSuccess: (answer) => answer
            }))
            if (answer._tag === "Unanswered") return yield* refuse(request, "unanswered", rule)
            if (answer._tag === "Deny") return yield* refuse(request, "refused", rule)
            if (answer._tag === "TooLong") {
              const { length, limit } = answer
              return yield* stopped(request, "too-long", rule, { length, limit })
            }
            const then = revision
            const now = decide(origin, subject)
            if (now.decision === "deny") return yield* refuse(request, "rule", now.rule?.text)
            yield* Effect.catchAll(
              agreements.add(request, digest, answer),
              ({ detail, server }) =>
                Effect.sync(() => events.publish(McpEvent.McpEvent.TrustIssue({ server, detail })))
            )
            tell(request, "allow", "approval", rule)
            return permit(request, then, { pin: Agreements.pinOf(tool), isApproved: true })
          })
        )
      })

    /** Why it may not be sent any more, if it may not. */
    const fallen = (
      { isApproved, isGranted, isReadOnly: isForReading, pin, request, revision: then }: Permissions.Permit,
      tool: Tool.Tool | undefined,
      config: ServerConfig.ServerConfig
    ): readonly [why: Why, rule: string | undefined] | undefined => {
      if (pin !== undefined && pin !== Agreements.pinOf(tool)) return ["changed", undefined]
      // somebody has agreed to that server, and not to its name
      if (
        isApproved && config !== request.config &&
        Agreements.identityOf(config, request.identity) !== Agreements.identityOf(request.config, request.identity)
      ) {
        return ["changed", undefined]
      }
      if (isForReading && isReadOnly({ ...request, tool, config }) !== true) return ["unanswered", undefined]
      if (then === revision) return undefined
      if (isGranted && (revoked.get(Agreements.keyOf(request.config, request.subject, request.identity)) ?? 0) > then) {
        return ["changed", undefined]
      }
      const { decision, rule } = decide(request.origin, request.subject)
      if (decision === "deny") {
        return ["rule", rule?.text]
      }
      const needsApproval = decision === "ask" && !isApproved && (rule !== undefined || !isForReading)
      return needsApproval ? ["changed", rule?.text] : undefined
    }

    return {
      decide,
      isOpen: (origin) => rules.onlyAllows && otherwise[origin] === "allow",
      authorize: (given) =>
        Effect.suspend(() => {
          const under = revision
          const readsArguments = rules.readsArguments
          const request = readsArguments ? fixed(given) : given
          if (request === undefined) return refuse(given, "refused", undefined)
          const { origin, subject } = request
          const { decision, rule } = decide(origin, subject)
          if (decision === "deny") return refuse(request, "rule", rule?.text)
          if (decision === "ask") {
            const shown = readsArguments ? request : fixed(request)
            if (shown === undefined) return refuse(request, "refused", rule?.text)
            return rule === undefined && isReadOnly(shown) !== false ? unattended(shown, under) : ask(shown)
          }
          if (rule !== undefined || origin === "model") {
            tell(request, "allow", rule === undefined ? "default" : "rule", rule?.text)
          }
          return Effect.succeed(permit(request, under))
        }),
      stands: (permit, tool, config) => {
        const why = fallen(permit, tool, config)
        return why === undefined ? undefined : stopped(permit.request, ...why)
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
      revoke: (config, subject, identity) =>
        // counted at the end, so that whoever has found it just before is told as well
        Effect.ensuring(
          agreements.remove(config, subject, identity),
          Effect.sync(() => {
            revision += 1
            revoked.set(Agreements.keyOf(config, subject, identity), revision)
          })
        )
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
      Effect.succeed({
        args: request.subject.args,
        request,
        revision: 0,
        isApproved: false,
        isGranted: false,
        isReadOnly: false,
        pin: undefined
      }),
    stands: () => undefined,
    rules: () => rules,
    configure: () => Effect.succeed([]),
    revoke: () => Effect.void
  }
}
