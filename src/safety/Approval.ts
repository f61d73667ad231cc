/**
 * Who is asked when a call needs the consent of a person.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Provenance } from "../config/Scope.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as Tool from "../tools/Tool.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as PermissionRule from "./PermissionRule.ts"

/**
 * Who wants something: a model, the program itself, or a person at its keyboard.
 *
 * @since 0.1.0
 * @category models
 */
export type Origin = "model" | "program" | "person"

/**
 * What somebody is asked. What is shown is what will be sent: the arguments cannot change any more.
 *
 * @since 0.1.0
 * @category models
 */
export interface Request {
  readonly callId: string | undefined
  readonly origin: Origin
  /** The user that the request is for; `undefined` for the application. */
  readonly identity?: string | undefined
  readonly subject: PermissionRule.Subject
  /** The definition of the tool, if its server has given it in this run: its words are the server's, not ours. */
  readonly tool: Tool.Tool | undefined
  /** The place where the server is configured; `undefined` for a server given in code. */
  readonly provenance: Provenance | undefined
  /** The rule that wants it asked, as it was written; none if it is asked because no rule speaks. */
  readonly rule: string | undefined
  /** Stands for the server, the definition of the tool and the arguments, all of which the answer is bound to. */
  readonly digest: string
}

/**
 * - `Deny`: no.
 * - `Once`: this call.
 * - `Session`: this tool, as long as the runtime lives.
 * - `Always`: this tool, kept between runs, until it is defined otherwise or its server is configured otherwise.
 *
 * The latter two with these arguments only, if `exactly`, and for no longer than `lasting`; of a tool whose definition is
 * not known yet they are no more than `Once`, because there is nothing that they could be bound to.
 *
 * @since 0.1.0
 * @category models
 */
export type Answer =
  | { readonly _tag: "Deny" }
  | { readonly _tag: "Once" }
  | {
    readonly _tag: "Session" | "Always"
    readonly exactly?: boolean | undefined
    readonly lasting?: Duration.DurationInput | undefined
  }
  /** There is nobody to ask. */
  | { readonly _tag: "Unanswered" }
  /** The question is longer than a person can be shown, so no person was asked: see `whole`. */
  | { readonly _tag: "TooLong"; readonly length: number; readonly limit: number }

/**
 * The texts of a request as a person sees them: one line each, safe to print, with every character that will be sent.
 * Invisible characters and runs of spaces are escaped.
 *
 * @since 0.1.0
 * @category models
 */
export interface Shown {
  readonly server: string
  readonly name: string
  /** The arguments as JSON on one line; empty without arguments. */
  readonly args: string
  /** The same with line breaks and indentation, or on one line where that would be longer than the limit. */
  readonly lines: ReadonlyArray<string>
}

/**
 * The most characters of names and arguments that a person is asked to approve, counted as they are shown.
 *
 * @since 0.1.0
 * @category defaults
 */
export const maxShown = 4_000

/**
 * @since 0.1.0
 * @category tags
 */
export class Approval extends Context.Tag("effect-mcp-runtime/safety/Approval")<Approval, {
  /** Asked for one thing of each server at a time. Interrupted when the caller does not want the call any more. */
  readonly ask: (request: Request) => Effect.Effect<Answer>
  /** `false` where no person can be asked at all: `Permissions` then decides by its option `unattended`. */
  readonly isAttended?: boolean | undefined
}>() {}

/**
 * Asks in the application's own way.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (ask: Approval["Type"]["ask"]): Layer.Layer<Approval> => Layer.succeed(Approval, { ask })

/**
 * Asks only about what can be shown whole. Anything longer is answered `TooLong` without asking, because an approval
 * covers everything that will be sent.
 *
 * @since 0.1.0
 * @category combinators
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
 * No person can be asked: a call that needs approval is not permitted, and the error says how to allow it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const nobody: Approval["Type"] = { ask: () => Effect.succeed({ _tag: "Unanswered" }), isAttended: false }

/**
 * @since 0.1.0
 * @category layers
 */
export const layerNobody: Layer.Layer<Approval> = Layer.succeed(Approval, nobody)

/**
 * Answers from a list, in order, and then with no; keeps what was asked.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerTest = (answers: Iterable<Answer>, asked: Array<Request> = []): Layer.Layer<Approval> => {
  const left = [...answers]
  return layer((request) =>
    Effect.sync(() => {
      asked.push(request)
      return left.shift() ?? { _tag: "Deny" }
    })
  )
}
