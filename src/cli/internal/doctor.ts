// @effect-diagnostics strictEffectProvide:off -- the limits are those of the command
/** What `mcp-runtime doctor` does. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as EraMemory from "../../client/EraMemory.ts"
import * as NativeConnector from "../../client/NativeConnector.ts"
import type * as ConfigDiscovery from "../../config/ConfigDiscovery.ts"
import * as Resolution from "../../config/Resolution.ts"
import * as McpEvent from "../../McpEvent.ts"
import * as Teardown from "../../resilience/Teardown.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Screen from "../Screen.ts"
import * as Report from "./doctorReport.ts"
import * as Visit from "./doctorVisit.ts"
import * as NoServers from "./noServers.ts"
import * as Place from "./place.ts"
import * as Processes from "./processes.ts"
import * as Settling from "./settling.ts"

/** As many as the runtime itself connects at a time. */
const together = 3

const services = (shared: Command.Shared, { policies }: ConfigDiscovery.Discovery) =>
  NativeConnector.layer.pipe(
    Layer.provide(EraMemory.layerMemory),
    Layer.provideMerge(Visit.layerWatched),
    Layer.provideMerge(Layer.merge(Teardown.layer(), McpEvent.layer)),
    Layer.provideMerge(Resolution.layer({ policies: Effect.succeed(policies) })),
    Layer.provideMerge(NodeFileSystem.layer),
    // read when the layers are made, and again with each connect
    Layer.provideMerge(Application.limits(shared))
  )

/** Sockets are closed by the system, a moment after they were told to. */
const socketsLeft = (before: number, tries = 20): Effect.Effect<number> =>
  Effect.suspend(() => {
    const more = Math.max(0, Processes.sockets() - before)
    return more === 0 || tries === 0
      ? Effect.succeed(more)
      : Effect.delay(socketsLeft(before, tries - 1), "50 millis")
  })

const summary = ({ exitCode, servers }: Report.Report): Screen.Line => {
  const count = (health: Report.Server["health"]) => servers.filter((one) => one.health === health).length
  const text = [`${count("well")} well`, `${count("ill")} ill`, `${count("disabled")} disabled`]
    .filter((part) => !part.startsWith("0 ")).join(", ")
  return [{ text: text === "" ? "nothing to look at" : text, style: exitCode === ExitCode.ok ? "good" : "bad" }]
}

/** @internal */
export const run: Command.Program["run"] = ({ args, shared }) =>
  Effect.flatMap(Application.look(shared), (discovery) =>
    Effect.gen(function*() {
      const screen = yield* Screen.Screen
      const wanted = yield* Application.named([...args, ...shared.servers], discovery)
      const chosen = wanted.length === 0 ? discovery.servers : Array.from(new Set(wanted))
      const files = discovery.issues.filter(({ server, severity }) => server === undefined && severity === "error")
      const before = Processes.sockets()
      let finished = 0
      const visits = Effect.forEach(chosen, (found) =>
        Visit.visit(found, discovery.issues).pipe(
          Effect.tap((server) => {
            finished++
            return shared.json ? Effect.void : screen.out(...Report.lines(server, screen.columns))
          })
        ), { concurrency: together })
      const visited = yield* Effect.flatMap(McpEvent.McpEvents, (events) =>
        Settling.watched(events, screen, shared, ({ installs }, onInterrupt) => {
          const what = () =>
            `${finished} of ${chosen.length} checked`
          const details = Effect.sync(() => Array.from(installs.values()))
          return Effect.onInterrupt(Settling.showing(screen, what, details)(visits), () => onInterrupt)
        })).pipe(Effect.provide(services(shared, discovery)))
      const sockets = chosen.length === 0 ? 0 : yield* socketsLeft(before)
      const codes: ReadonlyArray<ExitCode.ExitCode> = [
        ...visited.map(({ exitCode }) =>
          exitCode
        ),
        ...(files.length === 0 ? [] : [ExitCode.config]),
        ...(sockets === 0 ? [] : [ExitCode.tool])
      ]
      const exitCode = codes.reduce(Report.worse, ExitCode.ok)
      const report: Report.Report = {
        servers: visited,
        files: files.map((issue) => ({ place: Place.of(issue), message: issue.message })),
        socketsLeft: sockets,
        exitCode
      }
      if (shared.json) yield* screen.json(Report.Report, report)
      else {
        if (sockets > 0) {
          yield* screen.out([
            { text: "fault", style: "bad" },
            `  sockets that are open although all is closed: ${sockets}`
          ])
        }
        for (const { message, place } of report.files) {
          yield* screen.out([{ text: "fault", style: "bad" }, `  ${place}`], `       ${message}`)
        }
        if (chosen.length > 0) yield* screen.out(summary(report))
        else if (files.length === 0) yield* NoServers.note
      }
      return exitCode
    }))
