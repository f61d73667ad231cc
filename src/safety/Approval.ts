/** The decision of a person, or of another model, on a call that a rule wants approved. */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Provenance } from "../config/Scope.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as Tool from "../tools/Tool.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as PermissionRule from "./PermissionRule.ts"

/** The origin of a call: a model, the program itself, or a person at the keyboard. */
export type Origin = "model" | "program" | "person"

/** The question. Its arguments are exactly those that will be sent. */
export interface Request {
  readonly callId: string | undefined
  readonly origin: Origin
  /** The user that the request is for; `undefined` for the application. */
  readonly identity?: string | undefined
  readonly subject: PermissionRule.Subject
  /** The definition of the tool, if its server has listed it in this run. Its texts are the server's. */
  readonly tool: Tool.Tool | undefined
  /** The file that configures the server; `undefined` for a server from code. */
  readonly provenance: Provenance | undefined
  /** The rule that asks for approval, as it was written; none if no rule matches. */
  readonly rule: string | undefined
  /** The digest of the server, the definition of the tool and the arguments, to which the answer is bound. */
  readonly digest: string
}

/**
 * - `Deny`: refuses the call.
 * - `Once`: allows this call.
 * - `Session`: allows the tool as long as the runtime lives.
 * - `Always`: allows the tool in later runs too, until its definition or the configuration of its server changes.
 * - `Unanswered`: no person can be asked.
 * - `TooLong`: the question is longer than a person can be shown, so no person was asked: see `whole`.
 *
 * `exactly` limits `Session` and `Always` to these arguments, and `lasting` to a time. For a tool that is not listed yet
 * they mean `Once`, because there is no definition to bind them to.
 */
export type Answer =
  | { readonly _tag: "Deny" | "Once" | "Unanswered" }
  | {
    readonly _tag: "Session" | "Always"
    readonly exactly?: boolean | undefined
    readonly lasting?: Duration.DurationInput | undefined
  }
  | { readonly _tag: "TooLong"; readonly length: number; readonly limit: number }

/**
 * The texts of a request as a person sees them: one line each, safe to print, with every character that will be sent.
 * Invisible characters and runs of spaces are escaped.
 */
export interface Shown {
  readonly server: string
  readonly name: string
  /** The arguments as JSON on one line; empty without arguments. */
  readonly args: string
  /** The same with line breaks and indentation, or on one line where that would be longer than the limit. */
  readonly lines: ReadonlyArray<string>
}

/** The most characters of names and arguments that a person is asked to approve, counted as they are shown. */
export const maxShown = 4_000

export class Approval extends Context.Tag("effect-mcp-runtime/safety/Approval")<Approval, {
  /** Called for one question of each server at a time; interrupted with the call. */
  readonly ask: (request: Request) => Effect.Effect<Answer>
  /** `false` where no person can be asked at all: `Permissions` then decides by its option `unattended`. */
  readonly isAttended?: boolean | undefined
}>() {}

export const layer = (ask: Approval["Type"]["ask"]): Layer.Layer<Approval> => Layer.succeed(Approval, { ask })

/**
 * Asks only about calls that can be shown in full. A longer one gets `TooLong` without a question, because an approval
 * covers everything that is sent.
 */
export const whole =
  (ask: (shown: Shown, request: Request) => Effect.Effect<Answer>, limit = maxShown): Approval["Type"]["ask"] =>
  (request) =>
    Effect.suspend(() => {
      const { args: given, name, server } = request.subject
      const json = jsonOf(given)
      // a cheap check first, because escaping megabytes would block the event loop
      if (json.length > 16 * limit) return Effect.succeed({ _tag: "TooLong", length: json.length, limit })
      const shown = {
        server: UntrustedText.visible(server),
        name: UntrustedText.visible(name),
        args: UntrustedText.visible(json)
      }
      const length = shown.server.length + shown.name.length + shown.args.length
      if (length > limit) return Effect.succeed({ _tag: "TooLong", length, limit })
      return ask({ ...shown, lines: linesOf(given, json, limit) }, request)
    })

const jsonOf = (args: JsonRpc.JsonObject | undefined): string => args === undefined ? "" : JSON.stringify(args)

const linesOf = (args: JsonRpc.JsonObject | undefined, json: string, limit: number): ReadonlyArray<string> => {
  if (args === undefined) return []
  const indented = JSON.stringify(args, null, 2)
  return (indented.length > limit ? json : indented).split("\n").map((line) => {
    const content = line.trimStart()
    return " ".repeat(line.length - content.length) + UntrustedText.visible(content)
  })
}

/**
 * For an application without a person: refuses calls that need an approval, with an error that says how to allow them.
 */
export const none: Approval["Type"] = { ask: () => Effect.succeed({ _tag: "Unanswered" }), isAttended: false }

export const layerNone: Layer.Layer<Approval> = Layer.succeed(Approval, none)

/** Gives these answers in order, and then `Deny`; adds each question to `asked`. */
export const layerTest = (answers: Iterable<Answer>, asked: Array<Request> = []): Layer.Layer<Approval> => {
  const left = [...answers]
  return layer((request) =>
    Effect.sync(() => {
      asked.push(request)
      return left.shift() ?? { _tag: "Deny" }
    })
  )
}
