/**
 * The runtime, put together: everything it does is done by one of the services it is made of.
 *
 * @internal
 */
import * as Array from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Limits from "../config/Limits.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import * as RuntimeMetrics from "../observability/RuntimeMetrics.ts"
import * as Bulkhead from "../resilience/Bulkhead.ts"
import * as CircuitBreaker from "../resilience/CircuitBreaker.ts"
import * as RetryPolicy from "../resilience/RetryPolicy.ts"
import * as Teardown from "../resilience/Teardown.ts"
import type * as PermissionRule from "../safety/PermissionRule.ts"
import * as Permissions from "../safety/Permissions.ts"
import * as Tool from "../tools/Tool.ts"
import * as ToolCache from "../tools/ToolCache.ts"
import * as ToolCatalog from "../tools/ToolCatalog.ts"
import * as ToolFilter from "../tools/ToolFilter.ts"
import * as ToolName from "../tools/ToolName.ts"
import * as CallStream from "./callStream.ts"
import * as CallTool from "./callTool.ts"
import * as ConnectionPool from "./ConnectionPool.ts"
import * as Departures from "./departures.ts"
import * as Gather from "./gather.ts"
import * as Logins from "./logins.ts"
import * as Offerings from "./offerings.ts"
import * as Permitted from "./permitted.ts"
import * as Present from "./present.ts"
import * as Requests from "./requests.ts"
import * as Required from "./required.ts"
import * as Sandbox from "./sandbox.ts"
import * as Server from "./Server.ts"
import * as ServerInfos from "./serverInfos.ts"
import * as Startup from "./startup.ts"
import * as Upkeep from "./upkeep.ts"

type Runtime = McpRuntime.McpRuntime["Type"]

/** @internal */
export interface Options {
  readonly servers: McpRuntime.Options["servers"]
  readonly progressInterval: Duration.DurationInput
  readonly requiredTimeout: Duration.DurationInput
}

/** @internal */
export const make = (
  options: Options
): Effect.Effect<Runtime, McpError.RequiredServersFailed, McpRuntime.Requirements | Scope.Scope> =>
  Effect.gen(function*() {
    const catalog = yield* ToolCatalog.ToolCatalog
    const events = yield* McpEvent.McpEvents
    const metrics = yield* RuntimeMetrics.RuntimeMetrics
    const pool = yield* ConnectionPool.ConnectionPool
    const teardown = yield* Teardown.Teardown
    const limits = yield* Limits.CurrentLimits
    const clock = yield* Effect.clock
    const permissions = yield* Permissions.Permissions
    const permitted = Permitted.make({
      limits,
      permissions,
      definition: catalog.definition,
      admit: catalog.admit,
      learn: catalog.learn
    })
    const servers = Server.make({
      limits,
      pool,
      breakers: yield* CircuitBreaker.CircuitBreaker,
      bulkhead: yield* Bulkhead.Bulkhead,
      metrics,
      publish: events.publish
    })
    const calls = CallTool.make({
      clock,
      pool,
      servers,
      retry: yield* RetryPolicy.RetryPolicy,
      publish: events.publish,
      definition: catalog.definition,
      learn: catalog.discover,
      permitted
    })
    const ask = Requests.asking(pool, servers)
    const infos = ServerInfos.make({ calls, catalog, events, pool, servers })
    const offerings = Offerings.make({ cache: yield* ToolCache.ToolCache, clock, pool })
    const sandbox = Sandbox.make(pool)
    const logins = yield* Logins.make(pool)

    yield* Startup.watch({ pool, events, metrics, runtimeServers: servers, servers: options.servers })
    const { prompts, resources, templates } = offerings
    yield* Departures.watch(pool, [servers.forget, resources.forget, templates.forget, prompts.forget])
    yield* pool.onConnected(yield* Upkeep.make({ catalog, offerings, pool, sandbox }))
    yield* Effect.forkScoped(calls.reportRunning(Duration.decode(options.progressInterval)))
    yield* permissions.configure("servers", agreed(options.servers))
    yield* pool.reload(options.servers)
    yield* Required.await(pool, options.servers, Duration.decode(options.requiredTimeout))

    /** What is meant by a name or an identity; a tool that is filtered out is not there. */
    const find = (ref: McpRuntime.ToolRef): Either.Either<Identity, McpError.NotFound> => {
      const index = catalog.index()
      if (typeof ref === "string") {
        const entry = index.resolve(ref)
        return entry === undefined
          ? Either.left(missing("", ref, index.suggest(ref)))
          : Either.right({ server: entry.server, tool: entry.tool.name })
      }
      if (index.find(ref.server, ref.tool) !== undefined) return Either.right(ref)
      // of a server that nothing is known of, only the server can tell what is not filtered out
      const config = pool.config(ref.server)
      if (!catalog.isKnown(ref.server) && (config === undefined || ToolFilter.make(config)(ref.tool))) {
        return Either.right(ref)
      }
      return Either.left(missing(ref.server, ref.tool, index.suggest(ref.tool)))
    }
    const findListed = (ref: McpRuntime.ToolRef) =>
      Effect.flatMap(catalog.list, ({ quarantined }): Effect.Effect<Identity, Unfound> => {
        const found = find(ref)
        const aside = Either.isLeft(found) ? quarantined.find((one) => isMeant(ref, one)) : undefined
        return aside === undefined ? found : Effect.fail(
          new McpError.PermissionDenied({
            server: aside.server,
            why: "quarantined",
            kind: "tool",
            name: aside.tool,
            changed: aside.changes.map(({ path }) => path)
          })
        )
      })
    /** The same, after a list. Only the server named in a call is waited for beyond `firstListWait`. */
    const findAnew = (ref: McpRuntime.ToolRef): Effect.Effect<Identity, Unfound> =>
      Effect.suspend(() => {
        const server = typeof ref === "string" ? ToolName.parse(ref)?.server : ref.server
        if (server === undefined || pool.config(server) === undefined || catalog.isKnown(server)) {
          return findListed(ref)
        }
        return Effect.zipRight(
          Effect.ignore(catalog.discover(server)),
          Effect.suspend(() => {
            const found = catalog.isKnown(server) ? find(ref) : undefined
            return found !== undefined && Either.isRight(found) ? found : findListed(ref)
          })
        )
      })

    /** The same for a call, whose time it takes a part of. */
    const lookedUp = (ref: McpRuntime.ToolRef, own: McpRuntime.CallOptions | undefined) => {
      const server = typeof ref === "string" ? "" : ref.server
      const total = own?.totalTimeout ?? (pool.config(server)?.toolTimeout ?? limits.toolTimeout)
      const limit = Option.getOrElse(Duration.decodeUnknown(total), () => limits.toolTimeout)
      return findAnew(ref).pipe(
        Effect.timeoutFail({
          duration: limit,
          onTimeout: () =>
            new McpError.RequestTimeout({ server, kind: "total", operation: "tools/call", limit, outcome: "not-sent" })
        }),
        Effect.timed,
        Effect.map(([took, identity]) => [identity, { ...own, totalTimeout: Duration.subtract(limit, took) }] as const)
      )
    }

    const callTool: Runtime["callTool"] = (ref, args = {}, own) =>
      Effect.suspend(() => {
        const found = find(ref)
        if (Either.isRight(found)) return calls.callTool(found.right.server, found.right.tool, args, own)
        return Effect.flatMap(lookedUp(ref, own), ([identity, left]) =>
          calls.callTool(identity.server, identity.tool, args, left))
      })

    const ruled = ({ server, tool: { name } }: ToolCatalog.Offered) =>
      permissions.decide("model", { kind: "tool", server, name })

    const runtimeTool = (offered: ToolCatalog.Offered): McpRuntime.RuntimeTool => ({
      ...offered,
      requiresApproval: ruled(offered).decision === "ask",
      call: (args = {}, own) => calls.callTool(offered.server, offered.tool.name, args, own)
    })

    const toolsOf = ({ missing, quarantined, rejected, tools }: ToolCatalog.Listing): McpRuntime.Tools => {
      const denied = tools.map((one) => ({ one, ruling: ruled(one) })).filter(({ ruling }) =>
        ruling.decision === "deny"
      )
        .map(({ one, ruling }) => ({ server: one.server, tool: one.tool.name, rule: ruling.rule?.text, one }))
      const hidden = new Set(denied.map(({ one }) => one))
      const [all, apps] = Array.partition(
        tools.filter((one) => !hidden.has(one)).map(runtimeTool),
        ({ tool }) => Tool.isAppOnly(tool)
      )
      const toolsByName = new Map<string, Array<McpRuntime.RuntimeTool>>()
      for (const one of all) {
        const same = toolsByName.get(one.tool.name)
        if (same === undefined) toolsByName.set(one.tool.name, [one])
        else same.push(one)
      }
      return {
        tools: all,
        apps,
        toolsByName,
        missing,
        rejected,
        quarantined,
        denied: denied.map(({ one: _, ...rest }) => rest)
      }
    }
    const tools = Effect.map(catalog.list, toolsOf)

    const gather = Gather.make(pool, ask)
    const offered: Runtime["offered"] = (wait) => ({
      tools: Effect.map(catalog.listWithin(wait), toolsOf),
      resources: gather("resources/list", offerings.resources, wait),
      resourceTemplates: gather("resources/templates/list", offerings.templates, wait),
      prompts: gather("prompts/list", offerings.prompts, wait)
    })
    const { firstListWait } = catalog
    const withBreaker = (server: string, f: (breaker: CircuitBreaker.Breaker) => Effect.Effect<void>) =>
      Effect.flatMap(pool.find(server), () => {
        const found = servers.find(server)
        return found === undefined ? Effect.void : f(found.breaker)
      })
    const send = Requests.make(pool, ask, permitted)

    return {
      tools,
      tool: (ref) =>
        Effect.suspend(() => {
          const offered = (identity: Identity) => {
            const entry = catalog.index().find(identity.server, identity.tool)
            if (entry === undefined) return Effect.fail(missing(identity.server, identity.tool, []))
            const _tag = pool.isConnected(entry.server) ? "Ready" as const : "Deferred" as const
            return Effect.succeed(runtimeTool({ _tag, ...entry }))
          }
          return Effect.catchAll(
            Effect.flatMap(find(ref), offered),
            () => Effect.flatMap(findAnew(ref), offered)
          )
        }),
      callTool,
      callToolStream: (ref, args, own) => CallStream.make((more) => callTool(ref, args, { ...own, ...more }), own),
      refreshTools: (server) => {
        const connected = pool.members().filter(({ live }) => live !== undefined).map(({ config }) => config.name)
        const refresh = server === undefined
          ? Effect.forEach(connected, (one) => Effect.either(catalog.refresh(one)), { concurrency: "unbounded" })
          : catalog.refresh(server)
        return Effect.zipRight(refresh, tools)
      },
      resources: gather("resources/list", offerings.resources, firstListWait),
      resourceTemplates: gather("resources/templates/list", offerings.templates, firstListWait),
      readResource: (server, uri, own) =>
        send(
          server,
          { method: "resources/read", uri },
          own?.origin ?? "program",
          ({ session }, { meta }) => session.readResource(uri, { meta })
        ),
      subscribeResource: (server, uri, own) => {
        const subscription: Effect.Effect<Stream.Stream<void, McpError.RuntimeError>, McpError.RuntimeError> = Effect
          .suspend(() => {
            const config = pool.config(server)
            const origin = own?.origin ?? "program"
            if (config === undefined) return Effect.flatMap(pool.find(server), () => subscription)
            const wanted: Permitted.Wanted = { origin, config, kind: "resource", server, name: uri }
            return Effect.map(
              permitted.authorize(wanted),
              (permit) =>
                CallStream.subscription(pool, server, (live) =>
                  Stream.unwrap(Effect.as(
                    permitted.before(live, wanted, permit) ?? Effect.void,
                    live.session.subscribeResource(uri)
                  )))
            )
          })
        return Stream.unwrap(subscription)
      },
      prompts: gather("prompts/list", offerings.prompts, firstListWait),
      offered,
      getPrompt: (server, prompt, args, own) =>
        send(
          server,
          { method: "prompts/get", prompt, args: args ?? {} },
          own?.origin ?? "program",
          // the cast: a copy of these
          ({ session }, given) =>
            session.getPrompt(prompt, given.args as typeof args | undefined ?? args, { meta: given.meta })
        ),
      servers: {
        list: infos.all,
        get: infos.one,
        changes: infos.changes,
        connect: pool.connect,
        reconnect: pool.reconnect,
        disconnect: pool.disconnect,
        disconnectAll: pool.disconnectAll,
        enable: pool.enable,
        disable: pool.disable,
        reload: (servers) =>
          Effect.tap(
            Effect.zipRight(
              permissions.configure("servers", agreed(servers.map(atOnce(pool)))),
              Effect.ensuring(
                pool.reload(servers),
                Effect.suspend(() => permissions.configure("servers", agreed(pool.configs())))
              )
            ),
            (report) =>
              Effect.zipRight(
                // failures before the change say nothing about the server that it has become
                Effect.forEach(
                  [...report.added, ...report.changed],
                  (server) => Effect.ignore(withBreaker(server, forgetFailures))
                ),
                Effect.sync(() => events.publish(McpEvent.McpEvent.ConfigurationReloaded({ report })))
              )
          ),
        isolate: (server) => withBreaker(server, ({ isolate }) => isolate),
        resetBreaker: (server) => withBreaker(server, ({ reset }) => reset),
        ...logins
      },
      events: Stream.takeUntil(events.stream, ({ _tag }) => _tag === "TeardownComplete"),
      subscribe: events.subscribe,
      withClient: (server, f, own) =>
        ask(server, "the session", (live) => f(permitted.session(live, own?.origin ?? "program"))),
      notifySandboxState: sandbox.notify,
      teardownReport: teardown.report
    }
  })

/** What configurations agree to for a model, each for its own server. */
const agreed = (
  servers: ReadonlyArray<Pick<ServerConfig.ServerConfig, "name" | "autoApprove">>
): ReadonlyArray<PermissionRule.Input> =>
  servers.flatMap(({ autoApprove = [], name }) =>
    autoApprove.map((tool) => ({ decision: "allow" as const, server: name, tool, source: "user" as const }))
  )

/** What counts as soon as it is given: for what becomes another server it is only what was agreed to already. */
const atOnce =
  (pool: ConnectionPool.ConnectionPool["Type"]) =>
  (config: ServerConfig.ServerConfig): Pick<ServerConfig.ServerConfig, "name" | "autoApprove"> => {
    const { autoApprove, name } = config
    const present = pool.config(name)
    if (present === undefined || Present.isSame(present, config)) return config
    return { name, autoApprove: autoApprove?.filter((tool) => present.autoApprove?.includes(tool) === true) }
  }

const forgetFailures = ({ isIsolated, reset }: CircuitBreaker.Breaker): Effect.Effect<void> =>
  Effect.suspend(() => isIsolated() ? Effect.void : reset)

type Unfound = McpError.NotFound | McpError.PermissionDenied

/** Whether somebody means a tool that no index has any more. */
const isMeant = (ref: McpRuntime.ToolRef, { server, tool }: Identity): boolean => {
  if (typeof ref !== "string") return ref.server === server && ref.tool === tool
  const read = ToolName.parse(ref)
  return (read?.server === server && read.tool === tool) ||
    (["double", "single"] as const).some((style) => ToolName.qualify(server, tool, style) === ref)
}

interface Identity {
  readonly server: string
  readonly tool: string
}

const missing = (server: string, name: string, suggestions: ReadonlyArray<string>) =>
  new McpError.NotFound({ server, kind: "tool", name, suggestions })
