/** A discovery as if there were only some of its servers: a command starts no others, whatever changes meanwhile. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"

type Service = ConfigDiscovery.ConfigDiscovery["Type"]

export const narrowed = (service: Service, names: ReadonlySet<string>): Service => {
  const mine = (all: ReadonlyArray<string>) => all.filter((name) => names.has(name))
  const of = (discovery: ConfigDiscovery.Discovery): ConfigDiscovery.Discovery => {
    const servers = discovery.servers.filter(({ name }) => names.has(name))
    return { ...discovery, servers, configs: servers.flatMap(({ config }) => config ?? []) }
  }
  return {
    discover: Effect.map(service.discover, of),
    current: Effect.map(service.current, of),
    changes: Stream.filterMap(service.changes, ({ diff, discovery }) => {
      const { added, changed, removed } = diff
      const all = [...added, ...changed, ...removed].length
      const own = { added: mine(added), changed: mine(changed), removed: mine(removed) }
      // where nothing differs it is what was found wrong that does
      return all > 0 && own.added.length + own.changed.length + own.removed.length === 0
        ? Option.none()
        : Option.some({ diff: own, discovery: of(discovery) })
    })
  }
}
