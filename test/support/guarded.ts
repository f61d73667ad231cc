/** A runtime of one server that wants a login, with a person who agrees to everything. */
import { Effect, type Scope } from "effect"
import * as TokenStore from "../../src/auth/TokenStore.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import type * as McpRuntime from "../../src/McpRuntime.ts"
import type * as NodeMcpRuntime from "../../src/node/NodeMcpRuntime.ts"
import * as AuthServer from "./authServer.ts"
import * as Node from "./nodeRuntime.ts"

export interface Run {
  readonly server: AuthServer.AuthServer
  readonly person: AuthServer.Person
  readonly store: TokenStore.TokenStore["Type"]
  readonly events: McpEvent.McpEvents["Type"]
  readonly runtime: McpRuntime.McpRuntime["Type"]
}

export interface Given {
  readonly config?: Partial<ServerConfig.HttpInput>
  readonly auth?: NodeMcpRuntime.Options["auth"]
  readonly script?: (script: AuthServer.Script) => void
}

export const run = <A, E>(given: Given, body: (run: Run) => Effect.Effect<A, E, Scope.Scope>) =>
  Effect.gen(function*() {
    const server = yield* AuthServer.make
    given.script?.(server.script)
    const store = yield* TokenStore.makeMemory
    return yield* again({ server, store }, given, body)
  })

/** Another process, with the same store. */
export const again = <A, E>(
  { server, store }: Pick<Run, "server" | "store">,
  { auth, config }: Given,
  body: (run: Run) => Effect.Effect<A, E, Scope.Scope>
) => {
  const person = AuthServer.person()
  return Effect.flatMap(McpEvent.make(), (events) => {
    const options = Node.options([server.config(config)], { auth, retry: { retries: 0 } })
    return Node.using(options, (runtime) => body({ server, person, store, events, runtime })).pipe(
      Effect.provide(AuthServer.replacing(person, store, events))
    )
  })
}

export const test = <A, E>(name: string, given: Given, body: (run: Run) => Effect.Effect<A, E, Scope.Scope>) =>
  Node.test(name, run(given, body))

export const server = "guarded"
export const call = ({ runtime }: Run, tool = "read") => Effect.map(runtime.callTool({ server, tool }), Node.textOf)
export const status = ({ runtime }: Run) => runtime.servers.loginStatus(server)

export const reasonOf = (error: { readonly _tag: string; readonly reason?: unknown }) => [error._tag, error.reason]

/** The events of these kinds, as they come. */
export const eventsOf = ({ events }: Run, tags: ReadonlyArray<McpEvent.McpEvent["_tag"]>): ReadonlyArray<string> => {
  const seen: Array<string> = []
  events.onEvent((event) => {
    if (tags.includes(event._tag)) seen.push("outcome" in event ? `${event._tag} ${event.outcome}` : event._tag)
  })
  return seen
}
