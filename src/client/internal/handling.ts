/**
 * The requests of the server that are being handled: bounded, and aware of those that ask the application.
 *
 * @internal
 */
import type * as JsonRpc from "../../transport/JsonRpc.ts"

/** While the application is asked something, the server owes nothing. */
const asksApplication: ReadonlySet<string> = new Set(["elicitation/create", "roots/list", "sampling/createMessage"])

/** @internal */
export class Handling {
  readonly #limit: number
  readonly #methods = new Map<JsonRpc.Id, string>()
  #asking = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#methods.size
  }

  get asking(): boolean {
    return this.#asking > 0
  }

  begin(id: JsonRpc.Id, method: string): "begun" | "duplicate" | "full" {
    if (this.#methods.has(id)) return "duplicate"
    if (this.#methods.size >= this.#limit) return "full"
    this.#methods.set(id, method)
    if (asksApplication.has(method)) this.#asking++
    return "begun"
  }

  /** Whether this was the last that asked the application. */
  end(id: unknown): boolean {
    if (typeof id !== "number" && typeof id !== "string") return false
    const method = this.#methods.get(id)
    if (method === undefined) return false
    this.#methods.delete(id)
    return asksApplication.has(method) && --this.#asking === 0
  }

  clear(): void {
    this.#methods.clear()
    this.#asking = 0
  }
}
