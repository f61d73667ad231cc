/** Decides about every use of a tool, resource or prompt, from any API. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as ServerConfig from "../config/ServerConfig.ts"
import { canonicalJson, sha256 } from "../json/canonical.ts"
import type { JsonObject } from "../json/Json.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import type * as Tool from "../tools/Tool.ts"
import * as Definition from "../tools/toolDefinition.ts"
import * as ToolPins from "../tools/ToolPins.ts"
import * as Approval from "./Approval.ts"
import * as Grants from "./Grants.ts"
import * as PermissionRule from "./PermissionRule.ts"

/** The origin of a call. By default a model needs an approval where no rule matches; a program and a person do not. */
export type Origin = Approval.Origin

export interface Options {
  readonly rules: ReadonlyArray<PermissionRule.Input>
  /** The decision where no rule matches, by the origin of the call. An origin that is left out keeps its default. */
  readonly otherwise: { readonly [Who in Origin]?: PermissionRule.Decision | undefined }
  /**
   * A tool that its server has added after its first list, under an `allow` with a pattern such as `server/*`. `ask`: it
   * needs an approval once. `allow`: the rule covers it at once.
   */
  readonly addedTools: "ask" | "allow"
  /** The longest wait for an answer; then the call is refused. */
  readonly patience: Duration.DurationInput
  /** Requests of one server that may wait for their question. */
  readonly maxWaiting: number
  /**
   * The decision for a tool call that no rule decides, if no person can be asked. `refuse`: it is refused. `read-only`:
   * it is allowed if a trusted server has annotated the tool as read-only in this run.
   */
  readonly unattended: "refuse" | "read-only"
  /** The next step for the message of such a refusal. */
  readonly remedy: ((refused: Refused) => string) | undefined
}

/** A call that was refused because no person could be asked. */
export interface Refused {
  /**
   * The narrowest `allow` rule that permits it; none if it cannot be written as one, or if a rule asks for approval.
   */
  readonly allow: string | undefined
  /** The rule that asks for approval, as it was written. */
  readonly rule: string | undefined
}

export const defaults = {
  rules: [],
  otherwise: { model: "ask", program: "allow", person: "allow" },
  addedTools: "ask",
  patience: Duration.minutes(10),
  maxWaiting: 16,
  unattended: "refuse",
  remedy: undefined
} as const satisfies Options

export interface Ruling {
  readonly decision: PermissionRule.Decision
  /** The rule that decides; none if no rule matches. */
  readonly rule: PermissionRule.Rule | undefined
}

/**
 * The arguments of its subject are a copy that the caller cannot change. An approval of one user permits no request of
 * another.
 */
export interface Request extends Pick<Approval.Request, "callId" | "origin" | "subject" | "identity" | "tool"> {
  readonly config: ServerConfig.ServerConfig
}

/** Permission for one call, valid while the rules, the definition and the server do not change: see `stands`. */
export interface Permit {
  /** The arguments to send, as they were approved. */
  readonly args: JsonObject | undefined
  readonly request: Request
  /** The revision of the rules that decided. */
  readonly revision: number
  /** `grant`: a person has approved it before. `read-only`: the tool is; checked again when the call is sent. */
  readonly by: "rule" | "approval" | "grant" | "read-only"
  /** The approved definition of the tool. */
  readonly pin: string | undefined
}

export class Permissions extends Context.Tag("effect-mcp-runtime/safety/Permissions")<Permissions, {
  /** The decision of the rules. Without arguments: for a call whose arguments are unknown. */
  readonly decide: (origin: Origin, subject: PermissionRule.Subject) => Ruling
  /** True if everything of this origin is allowed. */
  readonly isOpen: (origin: Origin) => boolean
  /** True if everything of a server is denied, by a rule or because no other rule matches any of it. */
  readonly isClosed: (origin: Origin, server: string) => boolean
  /** Decides, and asks for an approval where that is the decision. */
  readonly authorize: (request: Request) => Effect.Effect<Permit, McpError.PermissionDenied>
  /**
   * Decides again right before sending, because rules, definitions and servers may have changed meanwhile. `undefined` if
   * the permit holds. A tool that turns out to be an added one is asked for.
   */
  readonly stands: (
    permit: Permit,
    tool: Tool.Tool | undefined,
    config: ServerConfig.ServerConfig
  ) => Effect.Effect<unknown, McpError.PermissionDenied> | undefined
  /** Replaces the rules of one source beside those given in code. A call that waits for an answer gets the new ones. */
  readonly configure: (
    source: string,
    rules: ReadonlyArray<PermissionRule.Input>
  ) => Effect.Effect<ReadonlyArray<PermissionRule.Fault>>
  /** Removes the grants of a subject; a call that waits to be sent under one is refused. */
  readonly revoke: (
    config: ServerConfig.ServerConfig,
    subject: Pick<PermissionRule.Subject, "kind" | "name">,
    identity?: string
  ) => Effect.Effect<void, McpError.TrustNotKept>
}>() {}

type Requirements = Approval.Approval | Grants.Grants | McpEvent.McpEvents | ToolPins.ToolPins

const kinds = ["tool", "resource", "prompt"] as const

type Denied = McpError.PermissionDenied
/** The reasons of a decision about a call. */
type Why = Exclude<Denied["why"], "policy" | "quarantined">

const pinOf = (tool: Tool.Tool | undefined): string | undefined => tool && Definition.fingerprint(tool)

const digestOf = (args: JsonObject | undefined): string => sha256(canonicalJson(args ?? null))

/** A permit with nothing but the request. */
const plain = (request: Request, revision: number): Permit => ({
  args: request.subject.args,
  request,
  revision,
  pin: undefined,
  by: "rule"
})

/** Fails for an unreadable rule of the options. */
export const make = (
  options?: Partial<Options>
): Effect.Effect<Permissions["Type"], McpError.ConfigurationError, Requirements> =>
  Effect.gen(function*() {
    const { addedTools, maxWaiting, patience, remedy, rules: inCode, unattended } = { ...defaults, ...options }
    const otherwise = { ...defaults.otherwise, ...options?.otherwise }
    const approval = yield* Approval.Approval
    const kept = yield* Grants.Grants
    const session = yield* Grants.makeMemory
    const pins = yield* ToolPins.ToolPins
    const { publish } = yield* McpEvent.McpEvents
    const isAttended = approval.isAttended !== false

    let rules = PermissionRule.compile(inCode)
    let revision = 0
    const [fault] = rules.faults
    if (fault !== undefined) {
      const path = `permissions.rules[${inCode.indexOf(fault.input)}]`
      return yield* new McpError.ConfigurationError({ server: "", path, detail: fault.detail })
    }
    const configured = new Map<string, ReadonlyArray<PermissionRule.Input>>()
    const turns = new Map<string, { readonly turn: Effect.Semaphore; waiting: number }>()
    /** The revision at which the grants of a subject were revoked. */
    const revoked = new Map<string, number>()

    const decide = (origin: Origin, subject: PermissionRule.Subject): Ruling => {
      const rule = rules.decide(subject)
      return { decision: rule?.decision ?? otherwise[origin] ?? defaults.otherwise[origin], rule }
    }

    const isAdded = ({ config, subject: { kind, name } }: Request): boolean =>
      addedTools === "ask" && kind === "tool" && pins.isAdded(config, name)

    /** The decision of the rules, but an added tool needs an approval where nothing but a pattern allows it. */
    const rulingOf = (request: Request): Ruling => {
      const ruling = decide(request.origin, request.subject)
      const needsApproval = ruling.decision === "allow" && ruling.rule?.isPattern === true &&
        otherwise[request.origin] !== "allow" && isAdded(request)
      return needsApproval ? { ...ruling, decision: "ask" } : ruling
    }

    type Decided = McpEvent.McpEvent & { readonly _tag: "PermissionDecided" }

    const tell = (
      { callId, origin, subject: { kind, name, server } }: Request,
      decision: Decided["decision"],
      by: Decided["by"],
      rule: string | undefined
    ): void => publish(McpEvent.McpEvent.PermissionDecided({ callId, server, kind, name, origin, decision, by, rule }))

    /** Publishes a refusal and makes its error, with the rule that would allow the call if no person could be asked. */
    const refusal = (
      request: Request,
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
      const next = why === "too-long" && rule !== undefined ? undefined : remedy?.({ allow, rule })
      return new McpError.PermissionDenied({ ...denial, allow, remedy: next })
    }

    /**
     * True if the tool may be called without approval because it is read-only; unknown until its server has listed it.
     */
    const isReadOnly = ({ config, subject: { kind }, tool }: Request): boolean | undefined => {
      if (isAttended || unattended === "refuse" || kind !== "tool") return false
      if (!ServerConfig.isTrusted(config)) return false
      return tool && tool.annotations.readOnlyHint === true && tool.annotations.destructiveHint !== true
    }

    /** One question of each server at a time, because an answer may cover the calls that wait too. */
    const inTurn = <A>(request: Request, asking: Effect.Effect<A, Denied>): Effect.Effect<A, Denied> =>
      Effect.suspend(() => {
        const { server } = request.subject
        const queue = turns.get(server) ?? { turn: Effect.unsafeMakeSemaphore(1), waiting: 0 }
        if (queue.waiting > maxWaiting) return Effect.fail(refusal(request, "crowded", undefined))
        turns.set(server, queue)
        queue.waiting += 1
        return Effect.ensuring(
          queue.turn.withPermits(1)(asking),
          Effect.sync(() => {
            queue.waiting -= 1
            if (queue.waiting === 0) turns.delete(server)
          })
        )
      })

    /** A grant is for one definition: if the tool is not listed yet, `stands` compares it before the call is sent. */
    const granted = (request: Request): Effect.Effect<Grants.Grant | undefined> => {
      const { config, identity, subject, tool } = request
      const digest = digestOf(subject.args)
      return Effect.map(Grants.valid(session, kept, Grants.targetOf(config, subject, identity)), (grants) =>
        grants.find(({ args, pin }) =>
          (args === undefined || args === digest) &&
          (tool === undefined ? subject.kind !== "tool" || pin !== undefined : pin === pinOf(tool))
        ))
    }

    const question = ({ config, ...request }: Request, rule: string | undefined): Approval.Request => {
      const { identity, subject: { args, kind, name }, tool } = request
      const bound = [Grants.identityOf(config, identity), kind, name, pinOf(tool) ?? null, digestOf(args)]
      return {
        ...request,
        // a copy, because the approval must not be able to change what is sent
        subject: structuredClone(request.subject),
        rule,
        provenance: config.provenance,
        digest: sha256(canonicalJson(bound))
      }
    }

    /** Keeps the answer for later calls; an answer about a tool that is not listed yet has nothing to be bound to. */
    const remember = Effect.fnUntraced(
      function*(request: Request, answer: Approval.Answer) {
        const { config, identity, subject, tool } = request
        yield* isAdded(request) ? pins.accept(config, subject.name) : Effect.void
        const isBound = subject.kind !== "tool" || tool !== undefined
        if (!isBound || (answer._tag !== "Session" && answer._tag !== "Always")) {
          return
        }
        const about = { args: digestOf(subject.args), pin: pinOf(tool) }
        yield* Grants.record(session, kept, Grants.targetOf(config, subject, identity), answer, about)
      },
      Effect.catchAll(({ detail, server }) =>
        Effect.sync(() =>
          publish(McpEvent.McpEvent.TrustIssue({ server, detail }))
        )
      )
    )

    /** The permit of a request that needs no approval, or its refusal. */
    const settled = (request: Request, { decision, rule }: Ruling): Effect.Effect<Permit, Denied> =>
      Effect.suspend(() => {
        if (decision === "deny") return Effect.fail(refusal(request, "rule", rule?.text))
        // a program's call that no rule is about is not an event
        if (rule !== undefined || request.origin === "model") {
          tell(request, "allow", rule === undefined ? "default" : "rule", rule?.text)
        }
        return Effect.succeed(plain(request, revision))
      })

    const ask = (request: Request): Effect.Effect<Permit, Denied> =>
      Effect.gen(function*() {
        const under = revision
        const ruling = rulingOf(request)
        if (ruling.decision !== "ask") return yield* settled(request, ruling)
        const rule = ruling.rule?.text
        const before = yield* granted(request)
        if (before !== undefined) {
          tell(request, "allow", "grant", rule)
          return { ...plain(request, under), pin: before.pin, by: "grant" }
        }
        if (rule === undefined && isReadOnly(request) !== false) {
          tell(request, "allow", "read-only", rule)
          return { ...plain(request, under), by: "read-only" }
        }
        // disconnected, because an approval that cannot be interrupted must not hold the call
        const asking = Effect.disconnect(approval.ask(question(request, rule)))
        const answered = yield* Effect.timeoutOption(asking, patience)
        const answer = Option.getOrElse(answered, (): Approval.Answer => ({ _tag: "Unanswered" }))
        if (answer._tag === "Unanswered") return yield* refusal(request, "unanswered", rule)
        if (answer._tag === "Deny") return yield* refusal(request, "refused", rule)
        if (answer._tag === "TooLong") return yield* refusal(request, "too-long", rule, answer)
        const then = revision
        const now = rulingOf(request)
        if (now.decision === "deny") return yield* settled(request, now)
        yield* remember(request, answer)
        tell(request, "allow", "approval", rule)
        return { ...plain(request, then), pin: pinOf(request.tool), by: "approval" }
      })

    /** The reason why a permit does not hold any more. */
    const fallen = (
      { by, pin, request, revision: then }: Permit,
      tool: Tool.Tool | undefined,
      config: ServerConfig.ServerConfig
    ): readonly [why: Why, rule: string | undefined] | undefined => {
      const { identity } = request
      if (pin !== undefined && pin !== pinOf(tool)) return ["changed", undefined]
      // an approval is for a server, and not for its name
      const isApproved = by === "approval" || by === "grant"
      const isOther = isApproved && config !== request.config &&
        Grants.identityOf(config, identity) !== Grants.identityOf(request.config, identity)
      if (isOther) return ["changed", undefined]
      const current = { ...request, tool, config }
      if (by === "read-only" && isReadOnly(current) !== true) return ["unanswered", undefined]
      if (then === revision && !isAdded(current)) return undefined
      const target = canonicalJson(Grants.targetOf(request.config, request.subject, identity))
      if (by === "grant" && (revoked.get(target) ?? 0) > then) return ["changed", undefined]
      const { decision, rule } = rulingOf(current)
      if (decision === "deny") return ["rule", rule?.text]
      const needsApproval = decision === "ask" && !isApproved && (rule !== undefined || by !== "read-only")
      return needsApproval ? ["changed", rule?.text] : undefined
    }

    const authorize = (request: Request): Effect.Effect<Permit, Denied> =>
      Effect.suspend(() => {
        const ruling = rulingOf(request)
        if (ruling.decision !== "ask") return settled(request, ruling)
        return isAttended ? inTurn(request, ask(request)) : ask(request)
      })

    return {
      decide,
      isOpen: (origin) => rules.onlyAllows && otherwise[origin] === "allow",
      isClosed: (origin, server) =>
        kinds.every((kind) => {
          const { decision, rule } = decide(origin, { kind, server, name: "" })
          return decision === "deny" && (rule !== undefined || !rules.admits(server))
        }),
      authorize,
      stands: (permit, tool, config) => {
        const why = fallen(permit, tool, config)
        if (why === undefined) return undefined
        const current = { ...permit.request, tool, config }
        const wasUnlisted = permit.by === "rule" && permit.request.tool === undefined && permit.revision === revision
        return wasUnlisted && isAdded(current) ? authorize(current) : refusal(permit.request, ...why)
      },
      configure: (source, more) =>
        Effect.sync(() => {
          if (more.length === 0 && (configured.get(source) ?? []).length === 0) return []
          configured.set(source, more)
          rules = PermissionRule.compile([...inCode, ...Array.from(configured.values()).flat()])
          revision += 1
          return rules.faults.filter(({ input }) => more.includes(input))
        }),
      revoke: (config, subject, identity) => {
        const target = Grants.targetOf(config, subject, identity)
        // counted at the end, so that it includes a call that has just found the grant
        return Effect.ensuring(
          Effect.zipRight(session.remove(target), kept.remove(target)),
          Effect.sync(() => {
            revision += 1
            revoked.set(canonicalJson(target), revision)
          })
        )
      }
    }
  })

/** Keeps the approvals of more than one call in memory. */
export const layer = (options?: Partial<Options>) =>
  Layer.provide(Layer.effect(Permissions, make(options)), Grants.layerMemory)

/** Allows everything, for an application that decides elsewhere. */
export const layerNone: Layer.Layer<Permissions> = Layer.sync(Permissions, () => ({
  decide: () => ({ decision: "allow", rule: undefined }),
  isOpen: () => true,
  isClosed: () => false,
  authorize: (request) => Effect.succeed(plain(request, 0)),
  stands: () => undefined,
  configure: () => Effect.succeed([]),
  revoke: () => Effect.void
}))
