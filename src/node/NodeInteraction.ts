/**
 * Login with a browser, which is redirected to a loopback server of this process. Alternatively the person pastes the address
 * that the browser was redirected to.
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

/** The start of a login, for the person. */
export interface Announcement {
  readonly server: string
  /** The login page, in ASCII and without control characters. */
  readonly url: string
  /** True if a browser of this machine opens the page. */
  readonly opens: boolean
}

export interface Options {
  /** The time limit of a login. */
  readonly timeout: Duration.DurationInput
  /** Opens a browser of this machine, unless the machine is headless. */
  readonly browser: boolean
  /** Shows the person where to log in. Called for each login, because the browser may not open. */
  readonly announce: (announcement: Announcement) => Effect.Effect<void>
  /** Prompts for the address, if the person may paste it; returns `undefined` at the end of the input. */
  readonly ask: ((question: string) => Effect.Effect<string | undefined>) | undefined
  /** Listens for the redirect on a loopback address. With `false`, the person has to paste the address. */
  readonly listens: boolean
}

export const defaults: Options = {
  timeout: Duration.minutes(5),
  browser: true,
  announce: ({ server, url }) => RuntimeLog.info(`Log in to the server "${server}" at ${url}`),
  ask: undefined,
  listens: true
}

export const make = (options?: Partial<Options>): Effect.Effect<Interaction.Interaction["Type"]> =>
  Effect.map(HostEnvironment.HostEnvironment, (host) => {
    const { announce, ask, browser, listens, timeout } = { ...defaults, ...options }
    const opens = browser && !Browser.isHeadless(host)

    const open = Effect.fnUntraced(function*(wanted: Interaction.Wanted) {
      const { redirectUri, server } = wanted
      const failed = (reason: McpError.AuthorizationFailed["reason"], detail: string) =>
        new McpError.AuthorizationFailed({ server, reason, detail })
      const Callback = yield* Effect.promise(() => import("./callback.ts"))
      const address = Callback.addressOf(wanted)
      if (ask === undefined && !listens) {
        return yield* failed("not-interactive", `there is no prompt for ${Callback.requested}`)
      }
      if (ask === undefined && address === undefined) {
        return yield* failed(
          "not-interactive",
          "its registered redirect URI is not a loopback address"
        )
      }
      const callback = address === undefined || !listens
        ? undefined
        : yield* Effect.mapError(Callback.serve(address), ({ detail, reason }) => failed(reason, detail))
      const port = callback?.port ?? address?.port ?? (yield* Random.nextIntBetween(49_152, 65_536))
      const back = address?.redirectUri(port) ?? redirectUri ?? ""

      const waiting = (state: string) => {
        const served = callback?.answer(state) ?? Effect.never
        if (ask === undefined) return served
        // a cancelled prompt does not end the login, because the browser may still be redirected to the server
        const entered = Effect.catchIf(
          Callback.askFor(ask, back, state),
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
              return yield* failed("blocked", `the login page is refused (${guarded.left})`)
            }
            yield* announce({ server, url: guarded.right.href, opens })
            if (opens) {
              yield* Browser.open(guarded.right).pipe(
                Effect.provideService(HostEnvironment.HostEnvironment, host),
                Effect.catchAll((why) => RuntimeLog.debug(`the browser was not opened: ${why}`)),
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

/** For a login on another machine, use `browser: false`, `listens: false` and `ask`. */
export const layer = (options?: Partial<Options>): Layer.Layer<Interaction.Interaction> =>
  Layer.effect(Interaction.Interaction, make(options))
