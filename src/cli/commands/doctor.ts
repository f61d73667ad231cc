// @effect-diagnostics strictEffectProvide:off -- the limits are those of the command
/** `mcp-runtime doctor`: what is wrong with which server, and what to do about it. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as EraMemory from "../../client/EraMemory.ts"
import * as NativeConnector from "../../client/NativeConnector.ts"
import type * as ConfigDiscovery from "../../config/ConfigDiscovery.ts"
import * as Resolution from "../../config/Resolution.ts"
import * as McpEvent from "../../McpEvent.ts"
import * as Teardown from "../../resilience/Teardown.ts"
import * as Answers from "../answers.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as Report from "../doctorReport.ts"
import * as Visit from "../doctorVisit.ts"
import * as ExitCode from "../ExitCode.ts"
import * as NoServers from "../noServers.ts"
import * as Place from "../place.ts"
import * as Processes from "../processes.ts"
import * as Screen from "../Screen.ts"
import * as Settling from "../settling.ts"

/** As many as the runtime itself connects at a time. */
const together = 3

const services = (shared: Command.Shared, { policies }: ConfigDiscovery.Discovery) =>
  NativeConnector.layer.pipe(
    Layer.provide(EraMemory.layerMemory),
    Layer.provideMerge(Visit.layerWatched),
    Layer.provideMerge(Layer.merge(Teardown.layer(), McpEvent.layer)),
    Layer.provideMerge(Layer.unwrapEffect(
      Effect.map(Answers.make(shared), ({ sources }) =>
        Resolution.layer({ policies: Effect.succeed(policies), ...sources }))
    )),
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

const run: Command.Command["run"] = ({ args, shared }) =>
  Application.look(shared, (discovery) =>
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

export const command: Command.Command = {
  description: [
    "Each server is found, checked for consent, started or reached, greeted, asked for its tools, pinged and closed; "
    + "then it is looked whether anything of it is left. The time of each step is shown.",
    "Its names, schemas and texts are looked through as well. What is only worth a look is a warning.",
    "The exit code is 0 if all are well, or else that of the worst: a server that cannot be reached (4), that is not "
    + "agreed to (5), whose configuration cannot be used (3), or that does something wrong (1)."
  ],
  args: [{ name: "server", about: "the servers to look at (default: all)", required: false, repeated: true }],
  options: [],
  examples: [
    ["doctor", "All servers, one after the other."],
    ["doctor github --timeout 10s", "This one, and no longer than ten seconds for each step."],
    ["doctor --json", "For a program to read."]
  ],
  run
}
