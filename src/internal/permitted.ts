/**
 * The one gate that everything passes on its way to a server, and passes again at the moment it is sent.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as ConnectionPool from "../connection/ConnectionPool.ts"
import type * as Connector from "../connection/Connector.ts"
import type * as Session from "../connection/Session.ts"
import * as McpError from "../McpError.ts"
import type * as PermissionRule from "../safety/PermissionRule.ts"
import type * as Permissions from "../safety/Permissions.ts"
import type * as Tool from "../tools/Tool.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"

type Live = ConnectionPool.Live

/** @internal */
export interface Options {
  readonly permissions: Permissions.Permissions["Type"]
  /** The definition of a tool, where it comes from the server itself. */
  readonly definition: (server: string, tool: string) => Tool.Tool | undefined
  /** What has to be awaited before a tool may be called over this connection, if anything. */
  readonly admit: (live: Live, tool: string) => Effect.Effect<void, McpError.CallError> | undefined
  /** Asks for the tools over this connection. */
  readonly learn: (live: Live) => Effect.Effect<void, McpError.RuntimeError>
}

/**
 * What is wanted, and by whom.
 *
 * @internal
 */
export interface Wanted extends PermissionRule.Subject {
  readonly origin: Permissions.Origin
  readonly config: ServerConfig.ServerConfig
  readonly callId?: string | undefined
}

/** @internal */
export interface Permitted {
  readonly isOpen: (origin: Permissions.Origin) => boolean
  /** Nothing, where nothing has to be decided. */
  readonly authorize: (wanted: Wanted) => Effect.Effect<Permissions.Permit | undefined, McpError.PermissionDenied>
  /** Whether nothing stands in the way of a call, at a glance. */
  readonly isClear: (live: Live, tool: string, origin: Permissions.Origin) => boolean
  /** What stands in the way of sending it now: nothing, something to be waited for, or a refusal. */
  readonly before: (
    live: Live,
    wanted: Wanted,
    permit: Permissions.Permit | undefined
  ) => Effect.Effect<void, McpError.RuntimeError> | undefined
  /** A session with which nothing else is possible than what is permitted. */
  readonly session: (live: Live) => Session.Session
}

/** @internal */
export const make = ({ admit, definition, learn, permissions }: Options): Permitted => {
  const toolOf = ({ kind, name, server }: Wanted): Tool.Tool | undefined =>
    kind === "tool" ? definition(server, name) : undefined

  const requestOf = (wanted: Wanted): Permissions.Request => {
    const { args, callId, config, kind, name, origin, server } = wanted
    return { callId, origin, subject: { kind, server, name, args }, config, tool: toolOf(wanted) }
  }

  const authorize: Permitted["authorize"] = (wanted) =>
    permissions.isOpen(wanted.origin) ? Effect.succeed(undefined) : permissions.authorize(requestOf(wanted))

  const refusal = (wanted: Wanted, permit: Permissions.Permit | undefined): McpError.PermissionDenied | undefined => {
    if (permit !== undefined) return permissions.stands(permit, toolOf(wanted))
    if (permissions.isOpen(wanted.origin)) return undefined
    // nothing had to be decided when it began, and now it has
    const { decision, rule } = permissions.decide(wanted.origin, wanted)
    const { kind, name, server } = wanted
    return decision === "allow"
      ? undefined
      : new McpError.PermissionDenied({ server, kind, name, why: "rule", rule: rule?.text })
  }

  const before: Permitted["before"] = (live, wanted, permit) => {
    const admission = wanted.kind === "tool" ? admit(live, wanted.name) : undefined
    // somebody has agreed to a definition, and nobody can say yet whether this is it
    const isUnknown = permit?.pin !== undefined && toolOf(wanted) === undefined
    const waiting = admission ?? (isUnknown ? learn(live) : undefined)
    if (waiting === undefined) {
      const refused = refusal(wanted, permit)
      return refused === undefined ? undefined : Effect.fail(refused)
    }
    return Effect.flatMap(waiting, () => {
      const refused = refusal(wanted, permit)
      return refused === undefined ? Effect.void : Effect.fail(refused)
    })
  }

  /** Over a session that somebody holds already; what only a way to a connection can meet is not met here. */
  const passed = (live: Live, wanted: Wanted): Effect.Effect<Permissions.Permit | undefined, McpError.CallError> =>
    Effect.flatMap(authorize(wanted), (permit) =>
      (before(live, wanted, permit) ?? Effect.void).pipe(
        Effect.as(permit),
        Effect.catchTags({
          CircuitOpen: () => Effect.fail(unseen(wanted)),
          ServerUnavailable: () => Effect.fail(unseen(wanted))
        })
      ))

  const session: Permitted["session"] = (live) => {
    const { config, server, session } = live
    const { connection } = session
    const wanted = (kind: Wanted["kind"], name: string, args?: Wanted["args"]): Wanted => ({
      origin: "program",
      config,
      kind,
      server,
      name,
      args
    })
    const tool = (name: string, args: JsonRpc.JsonObject = {}) =>
      Effect.map(passed(live, wanted("tool", name, args)), (permit) => permit?.args ?? args)
    const resource = (uri: string) => passed(live, wanted("resource", uri))
    const request: Connector.Connection["request"] = (method, params, options) =>
      Effect.suspend(() => {
        const name = named(method, params)
        if (name === undefined) return connection.request(method, params, options)
        const { arguments: args } = params ?? {}
        return Effect.zipRight(
          passed(live, wanted(name.kind, name.name, isObject(args) ? args : {})),
          connection.request(method, params, options)
        )
      })
    const { tasks } = connection
    return {
      ...session,
      connection: {
        ...connection,
        request,
        tasks: tasks && {
          callTool: (params, options) =>
            Stream.unwrap(Effect.as(
              tool(`${params.name}`, isObject(params.arguments) ? params.arguments : {}),
              tasks.callTool(params, options)
            ))
        },
        watch: (filter) =>
          Effect.zipRight(
            Effect.forEach(filter.resourceUris ?? [], resource, { discard: true }),
            connection.watch(filter)
          )
      },
      callTool: (name, args, options) =>
        Effect.flatMap(tool(name, args), (args) => session.callTool(name, args, options)),
      callToolStream: (name, args, options) =>
        Stream.unwrap(Effect.map(tool(name, args), (args) => session.callToolStream(name, args, options))),
      readResource: (uri, options) => Effect.zipRight(resource(uri), session.readResource(uri, options)),
      subscribeResource: (uri) => Stream.unwrap(Effect.as(resource(uri), session.subscribeResource(uri))),
      getPrompt: (name, args, options) =>
        Effect.zipRight(passed(live, wanted("prompt", name, args)), session.getPrompt(name, args, options)),
      request
    }
  }

  return {
    isOpen: permissions.isOpen,
    authorize,
    isClear: (live, tool, origin) => permissions.isOpen(origin) && admit(live, tool) === undefined,
    before,
    session
  }
}

const unseen = ({ kind, name, server }: Wanted): McpError.PermissionDenied =>
  new McpError.PermissionDenied({ server, kind, name, why: "changed" })

const isObject = (value: unknown): value is JsonRpc.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** What a request is about, if it is one that something is decided of. */
const named = (method: string, params: JsonRpc.JsonObject | undefined): Pick<Wanted, "kind" | "name"> | undefined => {
  switch (method) {
    case "tools/call":
      return { kind: "tool", name: `${params?.name}` }
    case "prompts/get":
      return { kind: "prompt", name: `${params?.name}` }
    case "resources/read":
    case "resources/subscribe":
      return { kind: "resource", name: `${params?.uri}` }
    default:
      return undefined
  }
}
