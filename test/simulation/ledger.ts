/** Every call that was made: how it went, how it had to go, and what the servers saw of it. */
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as McpError from "../../src/McpError.ts"
import type * as McpRuntime from "../../src/McpRuntime.ts"
import type * as Script from "./script.ts"
import type { Witness } from "./witness.ts"

export interface Made {
  /** Its number: the token that it carries, and the name of its events. */
  readonly token: number
  readonly callId: string
  readonly server: string
  readonly plan: Script.CallPlan
  readonly began: number
  /** When it has to be over. */
  readonly due: number
  readonly isHarmless: boolean
  /** Whether its tool is filtered out as long as it runs. */
  isFiltered: boolean
  interrupted: boolean
  settled: number
  outcome: string | undefined
  error: McpError.RuntimeError | undefined
}

/** Anything that somebody waits for. */
export interface Waiting {
  readonly what: string
  readonly fiber: Fiber.RuntimeFiber<unknown, unknown>
  /** When it has to be over; `Infinity`: when its reader leaves. */
  readonly due: number
}

/** How much later than its limit something may end: no timer is set for less. */
const slack = 1

const text = (result: McpRuntime.CallResult): string =>
  result.content.map((part) => part._tag === "Text" ? part.text : `<${part._tag}>`).join("|")

export class Ledger {
  readonly calls: Array<Made> = []
  readonly waiting = new Set<Waiting>()
  readonly #witness: Witness

  constructor(witness: Witness) {
    this.#witness = witness
  }

  settle(call: Made, exit: Exit.Exit<McpRuntime.CallResult | undefined, McpError.RuntimeError>): void {
    const witness = this.#witness
    call.settled++
    if (exit._tag === "Success") {
      const result = exit.value
      if (result === undefined) call.outcome = "streamed"
      else {
        call.outcome = "success"
        const said = text(result)
        if (said !== `done ${call.token}`) witness.violate(`call ${call.token} was answered with ${said}`)
        if (result.metadata.serverName !== call.server) {
          witness.violate(`call ${call.token} was answered by ${result.metadata.serverName}`)
        }
      }
    } else if (exit.cause._tag === "Fail") {
      call.error = exit.cause.error
      call.outcome = `${McpError.label(call.error)} ${call.error.outcome}`
    } else {
      call.outcome = "interrupted"
      if (!call.interrupted) witness.violate(`call ${call.token} ended with ${exit.cause._tag}`)
    }
    witness.note(`call ${call.token} ended: ${call.outcome}`)
    if (call.settled > 1) witness.violate(`call ${call.token} ended ${call.settled} times`)
    this.#late(`call ${call.token}`, call.due)
  }

  #late(what: string, due: number): void {
    const late = this.#witness.now() - due
    if (late > slack) this.#witness.violate(`${what} ended ${late} ms too late`)
  }

  track(waiting: Waiting): void {
    this.waiting.add(waiting)
    waiting.fiber.addObserver((exit) => {
      this.waiting.delete(waiting)
      if (exit._tag === "Failure" && exit.cause._tag === "Die") {
        this.#witness.violate(`${waiting.what} died: ${String(exit.cause.defect)}`)
      }
      if (waiting.due !== Infinity) this.#late(waiting.what, waiting.due)
    })
  }

  /** What should have been over by now. */
  overdue(): void {
    const now = this.#witness.now()
    for (const { due, what } of this.waiting) {
      if (due + slack < now) this.#witness.violate(`${what} should have ended ${now - due} ms ago`)
    }
  }

  /** At the end, when nothing runs any more. */
  reckon(arrivals: ReadonlyMap<number, number>, executions: ReadonlyMap<number, number>): void {
    const { attempts, violate } = {
      attempts: this.#witness.attempts,
      violate: (text: string) => this.#witness.violate(text)
    }
    for (const call of this.calls) {
      const { error, isHarmless, outcome, token } = call
      const arrived = arrivals.get(token) ?? 0
      const executed = executions.get(token) ?? 0
      if (outcome === undefined) violate(`call ${token} never ended`)
      const most = isHarmless ? attempts.get(call.callId) ?? Infinity : 1
      if (arrived > most) violate(`call ${token} reached the server ${arrived} times, and may ${most} times`)
      if (call.isFiltered && arrived > 0) violate(`call ${token} of a tool that is filtered out reached the server`)
      if (outcome === "success" && executed === 0) violate(`call ${token} succeeded and was not executed`)
      if (error?.outcome === "not-sent" && arrived > 0) {
        violate(`call ${token} was not sent (${error._tag}) and arrived`)
      }
      if (error?.outcome === "executed" && arrived === 0) {
        violate(`call ${token} was executed (${error._tag}) and never arrived`)
      }
    }
  }
}
