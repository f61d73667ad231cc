/** An application that logs in to the servers of `fixtures/oidc`, and all that it tells anybody meanwhile. */
import * as NodeSdk from "@effect/opentelemetry/NodeSdk"
import { assert } from "@effect/vitest"
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Cause, Effect, Layer, Logger, LogLevel, type Scope } from "effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import type * as Interaction from "../../src/auth/Interaction.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeInteraction from "../../src/node/NodeInteraction.ts"
import * as NodeMcpRuntime from "../../src/node/NodeMcpRuntime.ts"
import * as NodeTokenStore from "../../src/node/NodeTokenStore.ts"
import { visit } from "../fixtures/oidc/person.mjs"
import type { Desk } from "../fixtures/oidc/server.mjs"
import * as Configs from "./configs.ts"

/** Everything that can be made of a value by whoever writes it down. */
const written = (value: unknown): string => {
  if (typeof value === "string") return value
  const shown = [inspect(value, { depth: 12, maxStringLength: null }), String(value), JSON.stringify(value)]
  if (value instanceof Error) shown.push(value.message, value.stack ?? "", Cause.pretty(Cause.fail(value)))
  return shown.join("\n")
}

export interface Place {
  readonly folder: string
  readonly logins: string
  /** The files with logins, without the claims of processes on their locks. */
  readonly files: () => ReadonlyArray<string>
  readonly tell: (sink: string, value: unknown) => void
}

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** The private keys that tokens are bound to. */
const keysIn = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/\\"d\\":\\"([\w-]{43})\\"/g), ([, key = ""]) => key)

/** A folder of one test, all that was told while it ran, and whether a secret is anywhere but in the store. */
export const watched = <A, E, R>(
  desk: Desk,
  body: (place: Place) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, Exclude<R, Scope.Scope>> =>
  Effect.scoped(Effect.gen(function*() {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "mcp-login-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
    const told: Array<readonly [sink: string, text: string]> = []
    const tell = (sink: string, value: unknown) => void told.push([sink, written(value)])
    const log = Logger.make((line) => {
      tell("log", line.message)
      tell("log", Cause.pretty(line.cause))
      tell("log", Array.from(line.annotations))
    })
    const spans = new InMemorySpanExporter()
    const sdk = NodeSdk.layer(() => ({
      resource: { serviceName: "test" },
      spanProcessor: new SimpleSpanProcessor(spans)
    }))
    const logins = join(folder, "logins")
    const files = () => filesIn(logins).filter((file) => !/\.(lock|wait)\./.test(file))
    desk.clear()
    Object.assign(desk.settings, { agrees: true, seconds: 3600 })
    const keys = new Set<string>()
    const value = yield* body({ folder, logins, files, tell }).pipe(
      Effect.tap(() =>
        Effect.sync(() => {
          for (const { attributes, events, name, status } of spans.getFinishedSpans()) {
            tell("span", { attributes, events, name, status })
          }
          for (const file of filesIn(folder)) {
            const text = readFileSync(file, "latin1")
            if (!file.startsWith(`${logins}/`)) tell(file, text)
            else {
              assert.strictEqual(statSync(file).mode & 0o777, 0o600, file)
              for (const key of keysIn(text)) keys.add(key)
            }
          }
        })
      ),
      Effect.provide(
        Layer.mergeAll(sdk, Logger.replace(Logger.defaultLogger, log), Logger.minimumLogLevel(LogLevel.All))
      )
    )
    assert.deepStrictEqual(desk.journal.faults, [])
    for (const sink of ["log", "span"]) assert.isTrue(told.some(([name]) => name === sink), sink)
    const secrets = [...desk.secrets(), ...keys]
    assert.isNotEmpty(secrets)
    const leaks = told.filter(([, text]) => secrets.some((secret) => text.includes(secret)))
    assert.deepStrictEqual(leaks.map(([sink]) => sink), [], leaks[0]?.[1].slice(0, 2_000))
    return value
  }))

/** A browser that is a function: it goes where it is sent, and ends at the server of the program that sent it. */
export const browser = (place: Place, more?: Partial<NodeInteraction.Options>): Layer.Layer<Interaction.Interaction> =>
  NodeInteraction.layer({
    browser: false,
    announce: (announcement) =>
      Effect.zipRight(
        Effect.sync(() => place.tell("announced", announcement)),
        Effect.forkDaemon(Effect.promise(() => visit(announcement.url)))
      ),
    ...more
  })

export interface Settings {
  readonly oauth?: ServerConfig.HttpInput["oauth"]
  readonly auth?: NodeMcpRuntime.Options["auth"]
  readonly interaction?: Layer.Layer<Interaction.Interaction>
}

/** A runtime with one server, whose logins are in the folder of the place. */
export const using = <A, E, R>(
  { url }: Desk,
  place: Place,
  { auth, interaction = browser(place), oauth }: Settings,
  body: (runtime: McpRuntime.McpRuntime["Type"]) => Effect.Effect<A, E, R>
) => {
  const events = Layer.scoped(
    McpEvent.McpEvents,
    Effect.tap(McpEvent.make(), ({ onEvent }) =>
      Effect.sync(() => {
        onEvent((event) => {
          place.tell("event", event)
          if ("error" in event) place.tell("event", event.error)
        })
      }))
  )
  return Effect.flatMap(
    McpRuntime.McpRuntime,
    (runtime) =>
      Effect.tap(body(runtime), () => Effect.map(runtime.servers.list, (servers) => place.tell("status", servers)))
  ).pipe(
    Effect.tapError((error) => Effect.sync(() => place.tell("error", error))),
    Effect.provide(
      NodeMcpRuntime.layer({
        servers: [Configs.http({ name: "notes", url, lazy: true, ...(oauth === undefined ? {} : { oauth }) })],
        cacheDirectory: join(place.folder, "cache"),
        reconnect: { stormReconnects: 10_000 },
        auth
      }).pipe(
        NodeMcpRuntime.using(
          Layer.mergeAll(events, interaction, NodeTokenStore.layer({ backend: "files", directory: place.logins }))
        )
      )
    )
  )
}
