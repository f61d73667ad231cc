/**
 * The person at this machine, who logs in with a browser: it comes back to a server of this process on a loopback address,
 * or the person puts in where it ended.
 *
 * @since 0.1.0
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
import * as CallbackAddress from "./internal/callbackAddress.ts"
import * as CallbackAnswer from "./internal/callbackAnswer.ts"
import type * as CallbackServer from "./internal/callbackServer.ts"

/**
 * What a person is told when a login begins.
 *
 * @since 0.1.0
 * @category models
 */
export interface Announcement {
  readonly server: string
  /** The page to log in at: ASCII, with nothing in it that a terminal would act on. */
  readonly url: string
  /** Whether it is being opened in a browser of this machine. */
  readonly opens: boolean
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** From the beginning of a login to its answer. */
  readonly timeout: Duration.DurationInput
  /** Whether a browser of this machine is opened, if somebody sits at it. */
  readonly browser: boolean
  /** Tells the person where to log in. It is called for each login, since a browser may not open. */
  readonly announce: (announcement: Announcement) => Effect.Effect<void>
  /** Asks for a line; nothing if there will not be any more of them. Without it nothing can be put in. */
  readonly ask: ((question: string) => Effect.Effect<string | undefined>) | undefined
  /** Whether the address that the browser ended at can be put in: beside the server here, in its place, or not. */
  readonly paste: "also" | "only" | "never"
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = {
  timeout: Duration.minutes(5),
  browser: true,
  announce: ({ server, url }) => RuntimeLog.info(`Log in to the server "${server}" at ${url}`),
  ask: undefined,
  paste: "never"
}

const tries = 3

const askedFor = "the address that the browser ended at"

/** Asks until a line is the answer; fails with why not, once that was too often. */
const pasting = (
  ask: NonNullable<Options["ask"]>,
  redirectUri: string,
  state: string
): Effect.Effect<Interaction.Answer | "repeated", string> => {
  const attempt = (left: number, question: string): Effect.Effect<Interaction.Answer | "repeated", string> =>
    Effect.flatMap(ask(question), (line) => {
      if (line === undefined) return Effect.fail(`nobody put in ${askedFor}`)
      const parameters = CallbackAnswer.pasted(line, redirectUri)
      const came = parameters === undefined ? undefined : CallbackAnswer.read(parameters)
      if (came?.state === state) return Effect.succeed(came.answer)
      const why = came === undefined
        ? `That is not ${askedFor}, which begins with ${redirectUri}.`
        : "That belongs to another login."
      return left > 1
        ? attempt(left - 1, `${why} Put it in again: `)
        : Effect.fail(`what was put in ${tries} times is not ${askedFor}`)
    })
  return attempt(tries, `Log in, and then put in ${askedFor}: `)
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (options?: Partial<Options>): Effect.Effect<Interaction.Interaction["Type"]> =>
  Effect.map(HostEnvironment.HostEnvironment, (host) => {
    const { announce, ask, browser, paste, timeout } = { ...defaults, ...options }
    const opens = browser && !Browser.isHeadless(host)
    const question = paste === "never" ? undefined : ask
    const isOnly = paste === "only"

    const open = Effect.fnUntraced(function*(wanted: Interaction.Wanted) {
      const { redirectUri, server } = wanted
      const failed = (reason: McpError.AuthorizationFailed["reason"], detail: string) =>
        new McpError.AuthorizationFailed({ server, reason, detail })
      if (isOnly && question === undefined) return yield* failed("not-interactive", `no person can enter ${askedFor}`)

      const address = CallbackAddress.make(wanted)
      if (address === undefined && question === undefined) {
        return yield* failed(
          "not-interactive",
          "the address that was registered for its logins is none of this machine's"
        )
      }
      const callback = address === undefined || isOnly
        ? undefined
        : yield* Effect.promise(() => import("./internal/callbackServer.ts")).pipe(
          Effect.flatMap(({ make }) => make(address)),
          Effect.mapError((detail) => failed("not-interactive", detail))
        )
      const port = callback?.port ?? address?.port ?? (yield* Random.nextIntBetween(49_152, 65_536))
      const back = address?.redirectUri(port) ?? redirectUri ?? ""

      const repeated = failed("answer", "the authorization server sent a parameter back twice")
      const called = (from: CallbackServer.CallbackServer, state: string) =>
        Effect.mapError(
          from.answer(state),
          (fault) =>
            fault === "repeated" ? repeated : failed("cancelled", "too many requests came in place of an answer")
        )
      const put = (how: NonNullable<Options["ask"]>, state: string) =>
        pasting(how, back, state).pipe(
          Effect.catchAll((detail) => callback === undefined ? failed("cancelled", detail) : Effect.never),
          Effect.filterOrFail((answer) => answer !== "repeated", () => repeated)
        )
      const waiting = (state: string): Effect.Effect<Interaction.Answer, McpError.AuthorizationFailed> => {
        if (callback === undefined) return question === undefined ? Effect.never : put(question, state)
        return question === undefined
          ? called(callback, state)
          : Effect.raceFirst(called(callback, state), put(question, state))
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
                Effect.catchAll(({ message }) => RuntimeLog.debug(message)),
                Effect.forkScoped
              )
            }
            return yield* waiting(state)
          }).pipe(
            Effect.scoped,
            Effect.timeoutFail({
              duration: timeout,
              onTimeout: () => failed("timeout", `nobody logged in within ${Duration.format(timeout)}`)
            })
          )
      } satisfies Interaction.Page
    })
    return { open }
  })

/**
 * Opens a browser of this machine, and waits for it to come back.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerBrowser = (options?: Partial<Options>): Layer.Layer<Interaction.Interaction> =>
  Layer.effect(Interaction.Interaction, make(options))

/**
 * For machines that nobody sits at: the person logs in somewhere else, and puts in where the browser ended.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerPaste = (
  options: Partial<Options> & Required<Pick<Options, "ask">>
): Layer.Layer<Interaction.Interaction> =>
  Layer.effect(Interaction.Interaction, make({ browser: false, paste: "only", ...options }))
