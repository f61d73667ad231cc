/** Two users and the application at one server: no login, renewal or call of one uses the credentials of another. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Random, Redacted } from "effect"
import * as Credentials from "../../src/auth/Credentials.ts"
import * as Interaction from "../../src/auth/Interaction.ts"
import * as TokenStore from "../../src/auth/TokenStore.ts"
import * as Connector from "../../src/client/Connector.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as AuthServer from "../support/authServer.ts"
import { assertNoLeak } from "../support/leaks.ts"
import { runs } from "../support/runs.ts"

const users = ["alice", "bob", undefined]

const nameOf = (user: string | undefined): string => user ?? "application"

/** Logs in as the user whose login it is: the authorization server writes the name into the scope of the tokens. */
const person = (redirectUri: string): Interaction.Interaction["Type"] => ({
  open: () =>
    Effect.map(Connector.Identity, (identity) => ({
      redirectUri,
      ask: (url) =>
        Effect.promise(async () => {
          url.searchParams.set("scope", nameOf(identity))
          const response = await fetch(url, { redirect: "manual" })
          const { searchParams } = new URL(response.headers.get("location") ?? redirectUri)
          const get = (name: string) => searchParams.get(name) ?? undefined
          return { code: get("code"), iss: get("iss"), error: undefined, errorDescription: undefined }
        })
    }))
})

describe("the credentials of an identity", () => {
  const test = (steps: number) =>
    Effect.gen(function*() {
      const there = yield* AuthServer.make
      const context = yield* Layer.build(
        Credentials.layer().pipe(
          Layer.provide([
            Layer.succeed(Interaction.Interaction, person("http://127.0.0.1:49999/callback")),
            Layer.succeed(TokenStore.TokenStore, yield* TokenStore.makeMemory),
            Layer.succeed(McpEvent.McpEvents, yield* McpEvent.make())
          ])
        )
      )
      const credentials = Context.get(context, Credentials.Credentials)
      const config = there.config()
      assert(config.transport === "streamable-http")
      const seen = { calls: 0, renewals: 0, statuses: 0 }

      const call = Effect.fnUntraced(function*(user: string | undefined) {
        const { login } = yield* credentials.resolve(config)
        assert(login !== undefined)
        const headers = Effect.map(
          login.headers({ method: "POST", url: there.url }),
          (sent) => ({ sent, token: sent.get("authorization") })
        )
        const check = ({ token }: Effect.Effect.Success<typeof headers>) => {
          if (token === undefined) return false
          const owner = there.scopeOf(Redacted.value(token).replace("Bearer ", ""))
          assert.strictEqual(owner, nameOf(user))
          return true
        }
        const first = yield* headers
        if (!check(first)) return
        seen.calls++
        if ((yield* Random.nextIntBetween(0, 3)) > 0) return
        const isRenewed = yield* login.refused({
          status: 401,
          challenge: { schemes: ["bearer"], error: undefined, scope: undefined, resourceMetadata: undefined },
          sent: first.sent,
          attempt: 0,
          foreground: false,
          waiting: () => undefined
        })
        if (isRenewed && check(yield* headers)) seen.renewals++
      }, Effect.scoped)

      const status = (user: string | undefined) =>
        Effect.map(credentials.status(config), (status) => {
          if (status._tag !== "LoggedIn") return
          seen.statuses++
          assert.strictEqual(status.scope, nameOf(user))
        })

      const step = Effect.gen(function*() {
        const user = users[yield* Random.nextIntBetween(0, users.length)]
        const kind = yield* Random.nextIntBetween(0, 20)
        const act: Effect.Effect<unknown, unknown> = kind === 0
          ? credentials.logout(config)
          : kind < 4
          ? credentials.authorize(config)
          : kind < 6
          ? status(user)
          : call(user)
        yield* Effect.ignore(Effect.provideService(act, Connector.Identity, user))
      })
      yield* Effect.forEach(Array.from({ length: steps }), () => step, { concurrency: 8, discard: true })
      // enough steps had a login for the comparison to say something
      assert.isAbove(seen.calls, steps / 20)
      assert.isAbove(seen.renewals, steps / 200)
      assert.isAbove(seen.statuses, 0)
      assert.strictEqual(there.reused(), 0)
    }).pipe(Effect.withRandom(Random.make("identities")))

  it.live(
    "crosses with no other in random interleavings of logins, renewals, calls and logouts",
    () => assertNoLeak(Effect.scoped(test(runs(10_000)))),
    180_000
  )
})
