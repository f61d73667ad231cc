/**
 * What a reload is going to do with each server.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Fingerprint from "../config/Fingerprint.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import type * as McpEvent from "../McpEvent.ts"
import { essence } from "./essence.ts"
import type * as Link from "./Link.ts"

/**
 * A name and who serves it.
 *
 * @internal
 */
export interface Entry {
  readonly config: ServerConfig.ServerConfig
  readonly link: Link.Link
}

/** @internal */
export type Report = {
  readonly [K in keyof McpEvent.ReloadReport]: Array<McpEvent.ReloadReport[K][number]>
}

/** @internal */
export interface Plan {
  readonly next: ReadonlyMap<string, Entry>
  /** Not started yet. */
  readonly fresh: ReadonlySet<Link.Link>
  /** Those that serve on until their successors are ready. */
  readonly warm: ReadonlyArray<ServerConfig.ServerConfig>
  readonly report: Report
}

/** @internal */
export interface Options {
  readonly configs: ReadonlyArray<ServerConfig.ServerConfig>
  readonly entries: ReadonlyMap<string, Entry>
  /** The names that this reload has blocked before it was its turn. */
  readonly stopped: ReadonlySet<string>
  /** Whether one may serve all that are the same but for their names. */
  readonly share: boolean
  readonly makeLink: (
    config: ServerConfig.ServerConfig,
    down: Link.Down | undefined
  ) => Effect.Effect<Link.Link>
}

/** @internal */
export const emptyReport = (): Report => ({ added: [], removed: [], changed: [], unchanged: [], failed: [] })

const twin = (among: Iterable<Entry>, config: ServerConfig.ServerConfig): Link.Link | undefined => {
  const wanted = essence(config)
  for (const { link } of among) if (essence(link.config) === wanted) return link
  return undefined
}

/** Whether a server that changes may serve on until its successor is ready. */
const isWarm = (old: Entry | undefined, config: ServerConfig.ServerConfig): boolean =>
  old?.link.connected() !== undefined && ServerConfig.isEager(config) && config.enabled !== false &&
  config.blocked === undefined

/** @internal */
export const make = ({ configs, entries, share, stopped, makeLink }: Options): Effect.Effect<Plan> =>
  Effect.gen(function*() {
    const next = new Map<string, Entry>()
    const fresh = new Set<Link.Link>()
    const warm: Array<ServerConfig.ServerConfig> = []
    const report = emptyReport()
    for (const config of configs) {
      const { name } = config
      const old = entries.get(name)
      if (next.has(name)) {
        const detail = "another server of the same configuration has this name"
        report.failed.push({
          server: name,
          error: new McpError.ConfigurationError({ server: name, path: "name", detail })
        })
      } else if (old !== undefined && Fingerprint.configuration(old.config) === Fingerprint.configuration(config)) {
        next.set(name, old)
        ;(stopped.has(name) ? report.changed : report.unchanged).push(name)
      } else if (old !== undefined && essence(old.config) === essence(config)) {
        next.set(name, { config, link: old.link })
        report.changed.push(name)
      } else if (old !== undefined && isWarm(old, config)) {
        next.set(name, old)
        warm.push(config)
      } else {
        const known = share ? twin([...next.values(), ...entries.values()], config) : undefined
        // what somebody has switched off stays so whatever its configuration becomes
        const link = known ?? (yield* makeLink(config, old?.link.switchedOff()))
        if (known === undefined) fresh.add(link)
        next.set(name, { config, link })
        ;(old === undefined ? report.added : report.changed).push(name)
      }
    }
    for (const name of entries.keys()) if (!next.has(name)) report.removed.push(name)
    return { next, fresh, warm, report }
  })
