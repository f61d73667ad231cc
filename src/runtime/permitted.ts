/** Checks each request of a caller before it waits for a connection, and again when it is sent. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import type * as McpClient from "../client/McpClient.ts"
import * as Limits from "../config/Limits.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import { isObject, toObject } from "../json/Json.ts"
import * as McpError from "../McpError.ts"
import * as Deadline from "../resilience/Deadline.ts"
import type * as PermissionRule from "../safety/PermissionRule.ts"
import * as Permissions from "../safety/Permissions.ts"
import type * as Tool from "../tools/Tool.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import * as ToolFilter from "../tools/ToolFilter.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Server from "./Server.ts"

type Live = Server.Live

interface Subject extends Omit<PermissionRule.Subject, "args" | "server"> {
  readonly args?: McpClient.Arguments | undefined
}

const operations = { tool: "tools/call", prompt: "prompts/get", resource: "resources/read" } as const

/** A request of a caller, and its origin. */
export interface Wanted extends Subject {
  readonly server: string
  readonly origin: Permissions.Origin
  readonly config: ServerConfig.ServerConfig
  readonly callId?: string | undefined
  readonly identity: string | undefined
}

export type Permitted = Effect.Effect.Success<ReturnType<typeof make>>

export const make = ({ admit, definition, learn }: ToolCatalog.ToolCatalog["Type"]) =>
  Effect.gen(function*() {
    const limits = yield* Limits.CurrentLimits
    const permissions = yield* Permissions.Permissions
    const toolOf = ({ kind, name, server }: Wanted): Tool.Tool | undefined =>
      kind === "tool" ? definition(server, name) : undefined

    const plainOf = ({ args, config }: Wanted) =>
      args && toObject(args, ServerConfig.limits(config, limits).maxMessageBytes, "arguments")

    const requestOf = (wanted: Wanted, args: JsonRpc.JsonObject | undefined): Permissions.Request => {
      const { callId, config, identity, kind, name, origin, server } = wanted
      return { callId, origin, identity, subject: { kind, server, name, args }, config, tool: toolOf(wanted) }
    }

    /**
     * Decides when it is called. `undefined` if no permission is needed. Fails for arguments that are not JSON before a rule
     * or a person sees them.
     */
    const authorize = (
      wanted: Wanted
    ): Effect.Effect<Permissions.Permit | undefined, McpError.InvalidArguments | McpError.PermissionDenied> => {
      if (permissions.isOpen(wanted.origin)) return Effect.succeed(undefined)
      const { kind, server } = wanted
      const plain = plainOf(wanted)
      return plain !== undefined && Either.isLeft(plain)
        ? Effect.fail(new McpError.InvalidArguments({ server, operation: operations[kind], ...plain.left }))
        : permissions.authorize(requestOf(wanted, plain?.right))
    }

    /** The permit of a request that began while it needed none. */
    const open = (wanted: Wanted): Permissions.Permit => {
      const plain = plainOf(wanted)
      const args = plain && Either.getOrUndefined(plain)
      const request = requestOf(wanted, args)
      return { args, request, revision: -1, by: "rule", pin: undefined }
    }

    const standing = (
      live: Live,
      wanted: Wanted,
      permit: Permissions.Permit | undefined,
      deadline: Deadline.Deadline | undefined
    ): ReturnType<typeof before> => {
      if (permit === undefined && permissions.isOpen(wanted.origin)) return undefined
      const decided = permissions.stands(permit ?? open(wanted), toolOf(wanted), live.config)
      return decided && asking(deadline, decided)
    }

    /**
     * Decides again at the time of sending: waits for a list if one is needed, within the deadline, and asks for an added
     * tool, during which the deadline stands still. Fails if the permit no longer holds.
     */
    const before = (
      live: Live,
      wanted: Wanted,
      permit: Permissions.Permit | undefined,
      deadline?: Deadline.Deadline
    ): Effect.Effect<unknown, McpError.RuntimeError> | undefined => {
      const admission = wanted.kind === "tool" ? admit(live, wanted.name) : undefined
      // the permit may depend on a definition that the server has not sent in this run; an admission does not need it
      const isUnknown = () => toolOf(wanted) === undefined
      const waiting = (permit?.pin !== undefined || permit?.by === "read-only") && isUnknown()
        ? Effect.zipRight(admission ?? Effect.void, Effect.suspend(() => isUnknown() ? learn(live) : Effect.void))
        : admission
      if (waiting === undefined) return standing(live, wanted, permit, deadline)
      // a list of tools that does not answer must not keep the call longer than its own limits
      const within = deadline === undefined ? waiting : Deadline.boundWait(deadline, () => ({}), waiting)
      return Effect.flatMap(within, () => standing(live, wanted, permit, deadline) ?? Effect.void)
    }

    /** For a caller that holds the connection: an error about reaching the server means that it has changed. */
    const passed = (live: Live, wanted: Wanted): Effect.Effect<Permissions.Permit | undefined, McpError.CallError> =>
      Effect.flatMap(authorize(wanted), (permit) =>
        (before(live, wanted, permit) ?? Effect.void).pipe(
          Effect.as(permit),
          Effect.catchTags({
            CircuitOpen: () => Effect.fail(unseen(wanted)),
            ServerUnavailable: () => Effect.fail(unseen(wanted))
          })
        ))

    /** The client of a connection, restricted to permitted requests. */
    const session = (
      live: Live,
      origin: Permissions.Origin,
      identity: string | undefined
    ): McpClient.McpClient => {
      const { config, server, session } = live
      const isOffered = ToolFilter.make(config)

      /** Gives the permitted copy of the arguments, which the caller cannot change meanwhile. */
      const pass = (subject: Subject): Effect.Effect<JsonRpc.JsonObject | undefined, McpError.CallError> =>
        Effect.suspend(() => {
          const { kind, name } = subject
          if (kind === "tool" && !isOffered(name)) {
            return Effect.fail(new McpError.NotFound({ server, kind, name, suggestions: [] }))
          }
          return Effect.map(
            passed(live, { origin, config, identity, server, ...subject }),
            (permit) => permit?.args
          )
        })
      const tool = (name: string, args: McpClient.Arguments = {}) =>
        Effect.map(pass({ kind: "tool", name, args }), (permitted) => permitted ?? args)
      const resource = (uri: string) => pass({ kind: "resource", name: uri })

      const sending = <A>(
        method: string,
        given: JsonRpc.JsonObject | undefined,
        send: (params: JsonRpc.JsonObject | undefined) => Effect.Effect<A, McpError.CallError>
      ): Effect.Effect<A, McpError.CallError> =>
        Effect.suspend(() => {
          const subjects = subjectsOf(method, given)
          if (subjects.length === 0) return send(given)
          const params = { ...given }
          return Effect.flatMap(
            Effect.forEach(subjects, pass),
            ([args]) =>
              send(isObject(params["arguments"]) && args !== undefined ? { ...params, arguments: args } : params)
          )
        })
      const request: McpClient.McpClient["request"] = (method, params, options) =>
        sending(method, params, (params) => session.request(method, params, options))
      const { tasks } = session
      return {
        ...session,
        tasks: tasks && {
          ...tasks,
          callTool: (params, options) =>
            sending("tools/call", params, (params) => tasks.callTool(params ?? {}, options))
        },
        watch: (filter) =>
          Effect.suspend(() => {
            const resourceUris = filter.resourceUris === undefined ? undefined : [...filter.resourceUris]
            return Effect.zipRight(
              Effect.forEach(resourceUris ?? [], resource, { discard: true }),
              session.watch({ ...filter, resourceUris })
            )
          }),
        callTool: (name, args, options) =>
          Effect.flatMap(tool(name, args), (args) => session.callTool(name, args, options)),
        callToolStream: (name, args, options) =>
          Stream.unwrap(Effect.map(tool(name, args), (args) => session.callToolStream(name, args, options))),
        readResource: (uri, options) => Effect.zipRight(resource(uri), session.readResource(uri, options)),
        subscribeResource: (uri) => Stream.unwrap(Effect.as(resource(uri), session.subscribeResource(uri))),
        getPrompt: (name, args, options) =>
          Effect.flatMap(
            pass({ kind: "prompt", name, args: args ?? {} }),
            (permitted) =>
              permitted === undefined
                ? session.getPrompt(name, args, options)
                : session.getPrompt(name, texts(permitted), options)
          ),
        complete: (ref, context) =>
          Effect.zipRight(
            "prompt" in ref ? pass({ kind: "prompt", name: ref.prompt }) : resource(ref.template),
            session.complete(ref, context)
          ),
        notify: (method, params) => sending(method, params, (params) => session.notify(method, params)),
        request
      }
    }

    return { authorize, before, session }
  })

/** Asks a person, while the deadline stands still. */
export const asking = <A, E, R>(
  deadline: Deadline.Deadline | undefined,
  question: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  if (deadline === undefined) return question
  const pause = (isPaused: boolean) => Effect.sync(() => deadline.pause(isPaused))
  return Effect.acquireUseRelease(pause(true), () => deadline.restore(question), () => pause(false))
}

const unseen = ({ kind, name, server }: Wanted): McpError.PermissionDenied =>
  new McpError.PermissionDenied({ server, kind, name, why: "changed" })

/** The permitted copy of a prompt's arguments, which are strings. */
const texts = (args: JsonRpc.JsonObject) => args as Readonly<Record<string, string>>

const listOf = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : value === undefined ? [] : [value]

/** The subjects of a request that need a permission; none for other methods. */
const subjectsOf = (method: string, params: JsonRpc.JsonObject | undefined): ReadonlyArray<Subject> => {
  const args = isObject(params?.["arguments"]) ? params["arguments"] : {}
  switch (method) {
    case "tools/call":
      return [{ kind: "tool", name: `${params?.["name"]}`, args }]
    case "prompts/get":
      return [{ kind: "prompt", name: `${params?.["name"]}`, args }]
    case "resources/read":
    case "resources/subscribe":
      return [{ kind: "resource", name: `${params?.["uri"]}` }]
    case "subscriptions/listen": {
      const filter = isObject(params?.["notifications"]) ? params["notifications"] : {}
      return listOf(filter["resourceSubscriptions"]).map((uri) => ({ kind: "resource", name: `${uri}` }))
    }
    case "completion/complete": {
      // completing a prompt or a template needs the permission to use it
      const ref = isObject(params?.["ref"]) ? params["ref"] : {}
      return [
        ref["type"] === "ref/resource"
          ? { kind: "resource", name: `${ref["uri"]}` }
          : { kind: "prompt", name: `${ref["name"]}` }
      ]
    }
    default:
      return []
  }
}
