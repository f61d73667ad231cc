/**
 * Makes a list of configurations the servers. A connection that changes serves on until the first attempt of its successor
 * has succeeded; if that fails, it stays, and the report has the error.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fingerprint from "../config/Fingerprint.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import type * as McpEvent from "../McpEvent.ts"
import type * as Link from "./Link.ts"
import type * as Server from "./Server.ts"

/** The part of `Servers` that a reload works with. */
export interface Registry {
  readonly shareIdentical: boolean
  readonly current: () => ReadonlyMap<string, Server.Server>
  readonly isClosed: () => boolean
  readonly newLink: (config: ServerConfig.ServerConfig, down?: Link.Down) => Link.Link
  readonly newServer: (config: ServerConfig.ServerConfig, link: Link.Link) => Server.Server
  /** Replaces all servers in one step, starts the links that are new, and retires those that serve no name. */
  readonly commit: (next: ReadonlyMap<string, Server.Server>) => void
  /** Starts a link that serves no name yet, and waits for its first attempt. */
  readonly firstAttempt: (link: Link.Link, names: ReadonlyArray<string>) => Effect.Effect<void, Link.UseError>
}

type Report = { readonly [K in keyof McpEvent.ReloadReport]: Array<McpEvent.ReloadReport[K][number]> }

const emptyReport = (): Report => ({ added: [], removed: [], changed: [], unchanged: [], failed: [] })

/** The configurations that block their server; of several with one name the first counts. */
const blockedOf = (
  configs: ReadonlyArray<ServerConfig.ServerConfig>
): ReadonlyMap<string, ServerConfig.ServerConfig> => {
  const first = new Map<string, ServerConfig.ServerConfig>()
  for (const config of configs) if (!first.has(config.name)) first.set(config.name, config)
  return new Map(Array.from(first).filter(([, { blocked }]) => blocked !== undefined))
}

export const make = (
  { commit, current, firstAttempt, isClosed, newLink, newServer, shareIdentical }: Registry
): (configs: ReadonlyArray<ServerConfig.ServerConfig>) => Effect.Effect<McpEvent.ReloadReport> => {
  const turns = Effect.unsafeMakeSemaphore(1)
  let requests = 0
  /** The last request that has had its turn. */
  let applied = 0
  /** The servers that the last request blocks: no request before it may start them. */
  let blocked: ReadonlyMap<string, ServerConfig.ServerConfig> = new Map()

  const isBlocked = (name: string): boolean => current().get(name)?.config.blocked !== undefined

  /** Stops servers at once, whatever reloads are under way; returns their names. */
  const block = (): ReadonlySet<string> => {
    const next = new Map(current())
    const stopped = new Set<string>()
    for (const config of blocked.values()) {
      const old = next.get(config.name)
      if (old === undefined || old.config.blocked !== undefined) continue
      next.set(config.name, newServer(config, newLink(config, old.link.switchedOff())))
      stopped.add(config.name)
    }
    if (stopped.size > 0) commit(next)
    return stopped
  }

  const sharedLink = (next: ReadonlyMap<string, Server.Server>, config: ServerConfig.ServerConfig) => {
    if (!shareIdentical) return undefined
    const key = Fingerprint.connection(config)
    return [...next.values(), ...current().values()].find(({ link }) => Fingerprint.connection(link.config) === key)
      ?.link
  }

  /** Whether a connection serves on until its successor is ready. */
  const isWarm = (old: Server.Server, config: ServerConfig.ServerConfig): boolean =>
    old.live !== undefined && ServerConfig.isEager(config) && config.enabled !== false && config.blocked === undefined

  /** Commits every change that waits for no successor; returns the configurations that need one. */
  const apply = (
    configs: ReadonlyArray<ServerConfig.ServerConfig>,
    stopped: ReadonlySet<string>,
    report: Report
  ): ReadonlyArray<ServerConfig.ServerConfig> => {
    const next = new Map<string, Server.Server>()
    const warm: Array<ServerConfig.ServerConfig> = []
    for (const config of configs) {
      const { name } = config
      const old = current().get(name)
      if (next.has(name)) {
        const detail = "another server of the same configuration has this name"
        const error = new McpError.ConfigurationError({ server: name, path: "name", detail })
        report.failed.push({ server: name, error })
      } else if (
        old !== undefined && Fingerprint.configuration(old.config) === Fingerprint.configuration(config)
      ) {
        next.set(name, old)
        ;(stopped.has(name) ? report.changed : report.unchanged).push(name)
      } else if (old !== undefined && Fingerprint.connection(old.config) === Fingerprint.connection(config)) {
        next.set(name, newServer(config, old.link))
        report.changed.push(name)
      } else if (old !== undefined && isWarm(old, config)) {
        next.set(name, old)
        warm.push(config)
      } else {
        const link = sharedLink(next, config) ?? newLink(config, old?.link.switchedOff())
        next.set(name, newServer(config, link))
        ;(old === undefined ? report.added : report.changed).push(name)
      }
    }
    for (const name of current().keys()) if (!next.has(name)) report.removed.push(name)
    commit(next)
    return warm
  }

  /** Puts a successor with a connection in the place of the servers that can share it. */
  const settle = (
    successor: Link.Link,
    configs: ReadonlyArray<ServerConfig.ServerConfig>,
    report: Report
  ): void => {
    const next = new Map(current())
    let serves = false
    for (const config of configs) {
      const old = current().get(config.name)
      // a later request has removed or blocked it
      if (isClosed() || old === undefined || old.config.blocked !== undefined) continue
      const down = old.link.switchedOff()
      // without a connection, it was closed because all of its servers were switched off
      const isReady = down === undefined && successor.connected() !== undefined
      serves ||= isReady
      next.set(config.name, newServer(config, isReady ? successor : newLink(config, down)))
      report.changed.push(config.name)
    }
    commit(next)
    if (!serves) successor.close()
  }

  /** Waits for the first attempt of one successor for all of these servers. */
  const replace = (configs: ReadonlyArray<ServerConfig.ServerConfig>, report: Report): Effect.Effect<void> =>
    Effect.uninterruptibleMask((restore) => {
      const wanted = configs.filter(({ name }) => !isBlocked(name))
      const [first] = wanted
      if (first === undefined) return Effect.void
      const successor = newLink(first)
      return Effect.matchCauseEffect(restore(firstAttempt(successor, wanted.map(({ name }) => name))), {
        onFailure: (cause) => {
          successor.close()
          const failure = Cause.failureOrCause(cause)
          if (Either.isRight(failure)) return Effect.failCause(failure.right)
          for (const { name: server } of wanted) report.failed.push({ server, error: failure.left })
          return Effect.void
        },
        onSuccess: () => Effect.sync(() => settle(successor, wanted, report))
      })
    })

  /** The configurations that one successor can serve. */
  const grouped = (configs: ReadonlyArray<ServerConfig.ServerConfig>) => {
    const groups = new Map<string, Array<ServerConfig.ServerConfig>>()
    for (const config of configs) {
      const key = shareIdentical ? Fingerprint.connection(config) : config.name
      groups.set(key, [...groups.get(key) ?? [], config])
    }
    return Array.from(groups.values())
  }

  /** Failures before a change say nothing about the server after it. An isolated server stays isolated. */
  const closeBreakers = ({ added, changed }: Report): Effect.Effect<void> =>
    Effect.forEach([...added, ...changed], (name) => {
      const breaker = current().get(name)?.breaker
      return breaker === undefined || breaker.isIsolated() ? Effect.void : breaker.reset
    }, { discard: true })

  return (configs) =>
    Effect.suspend(() => {
      const request = ++requests
      blocked = blockedOf(configs)
      const stopped = isClosed() ? new Set<string>() : block()
      const report = emptyReport()
      return turns.withPermits(1)(Effect.suspend(() => {
        // a later request has been applied
        if (isClosed() || request < applied) return Effect.void
        applied = request
        const wanted = configs.map((config) => blocked.get(config.name) ?? config)
        const warm = grouped(apply(wanted, stopped, report))
        return Effect.zipRight(
          Effect.forEach(warm, (same) => replace(same, report), { concurrency: "unbounded", discard: true }),
          closeBreakers(report)
        )
      })).pipe(Effect.as(report))
    })
}
