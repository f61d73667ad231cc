/**
 * Logs a person in with a browser. It is redirected to a server of this process on a loopback address, or the person pastes
 * the address that it ended at.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Interaction from "../auth/Interaction.ts"
import * as UrlGuard from "../auth/UrlGuard.ts"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import * as McpError from "../McpError.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import * as Browser from "./Browser.ts"

/** The beginning of a login, for the person. */
export interface Announcement {
  readonly server: string
  /** The page to log in at: ASCII, with nothing in it that a terminal would act on. */
  readonly url: string
  /** True if it is being opened in a browser of this machine. */
  readonly opens: boolean
}

export interface Options {
  /** From the beginning of a login to its answer. */
  readonly timeout: Duration.DurationInput
  /** Opens a browser of this machine, unless it is headless. */
  readonly browser: boolean
  /** Tells the person where to log in. It is called for each login, since a browser may not open. */
  readonly announce: (announcement: Announcement) => Effect.Effect<void>
  /** Asks for a line; `undefined` at the end of the input. Without it no address can be pasted. */
  readonly ask: ((question: string) => Effect.Effect<string | undefined>) | undefined
  /** The address that the browser ended at can be pasted: beside the server, in its place, or not. */
  readonly paste: "also" | "only" | "never"
}

export const defaults: Options = {
  timeout: Duration.minutes(5),
  browser: true,
  announce: ({ server, url }) => RuntimeLog.info(`Log in to the server "${server}" at ${url}`),
  ask: undefined,
  paste: "never"
}

export const make = (options?: Partial<Options>): Effect.Effect<Interaction.Interaction["Type"]> =>
  Effect.map(HostEnvironment.HostEnvironment, (host) => {
    const { announce, ask, browser, paste, timeout } = { ...defaults, ...options }
    const opens = browser && !Browser.isHeadless(host)
    const question = paste === "never" ? undefined : ask

    const open = Effect.fnUntraced(function*(wanted: Interaction.Wanted) {
      const { redirectUri, server } = wanted
      const failed = (reason: McpError.AuthorizationFailed["reason"], detail: string) =>
        new McpError.AuthorizationFailed({ server, reason, detail })
      const Callback = yield* Effect.promise(() => import("./callback.ts"))
      const address = Callback.addressOf(wanted)
      if (question === undefined && paste === "only") {
        return yield* failed("not-interactive", `no person can enter ${Callback.requested}`)
      }
      if (question === undefined && address === undefined) {
        return yield* failed(
          "not-interactive",
          "the address that was registered for its logins is not one of this machine"
        )
      }
      const callback = address === undefined || paste === "only"
        ? undefined
        : yield* Effect.mapError(Callback.serve(address), ({ detail, reason }) => failed(reason, detail))
      const port = callback?.port ?? address?.port ?? (yield* Random.nextIntBetween(49_152, 65_536))
      const back = address?.redirectUri(port) ?? redirectUri ?? ""

      const waiting = (state: string) => {
        const served = callback?.answer(state) ?? Effect.never
        if (question === undefined) return served
        // A person who cannot paste the address may still be redirected to the server.
        const entered = Effect.catchIf(
          Callback.askFor(question, back, state),
          ({ reason }) => reason === "cancelled" && callback !== undefined,
          () => Effect.never
        )
        return Effect.raceFirst(served, entered)
      }

      return {
        redirectUri: back,
        ask: (url, state) =>
          Effect.gen(function*() {
            const guarded = UrlGuard.openable(url)
            if (Either.isLeft(guarded)) {
              return yield* failed("blocked", `the page to log in at is not opened (${guarded.left})`)
            }
            yield* announce({ server, url: guarded.right.href, opens })
            if (opens) {
              yield* Browser.open(guarded.right).pipe(
                Effect.provideService(HostEnvironment.HostEnvironment, host),
                Effect.catchAll((why) => RuntimeLog.debug(`no page was opened: ${why}`)),
                Effect.forkScoped
              )
            }
            return yield* Effect.mapError(waiting(state), ({ detail, reason }) => failed(reason, detail))
          }).pipe(
            Effect.scoped,
            Effect.timeoutFail({
              duration: timeout,
              onTimeout: () => failed("timeout", `no login within ${Duration.format(timeout)}`)
            })
          )
      } satisfies Interaction.Page
    })
    return { open }
  })

/**
 * Opens a browser of this machine, and waits for the redirect. With `browser: false`, `paste: "only"` and `ask` the person
 * logs in on another machine.
 */
export const layer = (options?: Partial<Options>): Layer.Layer<Interaction.Interaction> =>
  Layer.effect(Interaction.Interaction, make(options))
