/** Opens a port, for the callback of a login and for a gateway. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Net from "node:net"
import { codeOf } from "../config/program.ts"

const limit = Duration.seconds(5)

const faults: ReadonlyMap<string, string> = new Map([
  ["EADDRINUSE", "is in use"],
  ["EACCES", "requires privileges"],
  ["EADDRNOTAVAIL", "cannot be opened, because the host is not an address of this machine"]
])

/** The predicate of a sentence about the port. */
export const faultOf = (code: string): string => faults.get(code) ?? `could not be opened (${code})`

/** Listens on a port exclusively, and returns it; 0 selects a free port. Fails with an error code of Node. */
export const listen = (
  server: Net.Server,
  options: { readonly host: string; readonly port: number; readonly backlog?: number }
): Effect.Effect<number, string> =>
  Effect.async<number, string>((resume) => {
    const refuse = (error: unknown) => resume(Effect.fail(codeOf(error)))
    server.once("error", refuse)
    try {
      server.listen({ ...options, exclusive: true }, () => {
        server.off("error", refuse).on("error", () => undefined)
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : options.port))
      })
    } catch (error) {
      refuse(error)
    }
    return Effect.sync(() => server.off("error", refuse))
  }).pipe(Effect.timeoutFail({ duration: limit, onTimeout: () => "ETIMEDOUT" }))
