/** @internal */
import type * as HttpClient from "./httpClient.ts"

/**
 * Exchanges that nobody waits for any more and that may still end by themselves; one too many costs the oldest its
 * socket.
 *
 * @internal
 */
export interface Lingering {
  readonly add: (exchange: HttpClient.Exchange) => void
  readonly delete: (exchange: HttpClient.Exchange) => void
  readonly destroy: () => void
}

const limit = 8

/** @internal */
export const make = (): Lingering => {
  const exchanges = new Set<HttpClient.Exchange>()
  return {
    add: (exchange) => {
      exchanges.add(exchange)
      if (exchanges.size <= limit) return
      const [oldest] = exchanges
      if (oldest === undefined) return
      exchanges.delete(oldest)
      oldest.destroy()
    },
    delete: (exchange) => {
      exchanges.delete(exchange)
    },
    destroy: () => {
      for (const exchange of exchanges) exchange.destroy()
      exchanges.clear()
    }
  }
}
