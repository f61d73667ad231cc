// @effect-diagnostics strictEffectProvide:off -- files are read by few commands, and provided where they are
/** `mcp-runtime doctor`: what is wrong with which server, and what to do about it. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as ConfigDiscovery from "../../config/ConfigDiscovery.ts"
import * as NodeMcpRuntime from "../../node/NodeMcpRuntime.ts"
import * as Teardown from "../../resilience/Teardown.ts"
import * as StderrReader from "../../stderrReader.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as Visit from "../doctorVisit.ts"
import * as ExitCode from "../ExitCode.ts"
import { clock } from "../following.ts"
import * as IssueShape from "../issueShape.ts"
import { indented } from "../layout.ts"
import * as NoServers from "../noServers.ts"
import * as Processes from "../processes.ts"
import * as Screen from "../Screen.ts"
import * as View from "../serverView.ts"
import * as Settling from "../settling.ts"

/** The document of `doctor --json`. */
export const Report = Schema.Struct({
  servers: Schema.Array(Visit.Server),
  /** What is wrong with files. */
  files: Schema.Array(Schema.Struct({ place: Schema.String, message: Schema.String })),
  /** Sockets of this program that are open although everything is closed. */
  socketsLeft: Schema.Number,
  exitCode: Schema.Number
})
export type Report = typeof Report.Type

const problemLines = (
  { cause, hint, level, message, step }: Visit.Problem,
  columns: number
): ReadonlyArray<Screen.Line> => {
  const title = level === "error" ? "  fault  " : "  warning  "
  const [first = "", ...more] = indented(title.length, `${cause} (${step})`, columns)
  return [
    [
      { text: title, style: level === "error" ? "bad" : "warning" },
      { text: first.trimStart(), style: "strong" }
    ],
    ...more,
    ...indented(9, UntrustedText.excerpt(message, 600), columns),
    ...(hint === null ? [] : indented(9, hint, columns))
  ]
}

const lines = (server: Visit.Server, columns: number): ReadonlyArray<Screen.Line> => {
  const { era, name, problems, protocolVersion, state, stderr, steps, tools, transport } = server
  const facts = [
    ...(transport === null ? [] : [transport]),
    ...(protocolVersion === null ? [] : [`protocol ${protocolVersion} (${era} era)`]),
    ...(tools === null ? [] : [`${tools} tool${tools === 1 ? "" : "s"}`])
  ]
  const times = steps.map(({ milliseconds, outcome, step }) =>
    `${step} ${outcome === "failed" ? "failed after " : ""}${milliseconds} ms`
  )
  return [
    [
      { text: name, style: "strong" },
      "  ",
      View.span(state),
      { text: facts.length === 0 ? "" : `  ${facts.join(", ")}`, style: "weak" }
    ],
    ...(times.length === 0 ? [] : indented(2, times.join(", "), columns)).map((text): Screen.Line => [
      { text, style: "weak" }
    ]),
    ...problems.flatMap((problem) => problemLines(problem, columns)),
    ...(stderr === null
      ? []
      : ["  the end of its stderr", ...StderrReader.tail(stderr, { frames: true }).map((line) => `    | ${line}`)])
  ]
}

/** The servers in each state, and the time of this picture. */
const summary = ({ exitCode, servers }: Report, at: number): Screen.Line => {
  const counts = View.State.literals.flatMap((state) => {
    const count = servers.filter((server) => server.state === state).length
    return count === 0 ? [] : [`${count} ${state}`]
  })
  return [
    { text: counts.join(", "), style: exitCode === ExitCode.ok ? "good" : "bad" },
    { text: `  ${clock(at)} UTC`, style: "weak" }
  ]
}

const fault = (text: string): Screen.Line => [{ text: "fault", style: "bad" }, `  ${text}`]

/** As many as the runtime connects at a time. */
const together = 3

const run: Command.Command["run"] = ({ args, shared }) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const names = [...args, ...shared.servers]
    const watch: Visit.Watch = new Map()
    const sockets = Processes.sockets()
    const { files, servers } = yield* Application.use(
      shared,
      (discovery) =>
        Effect.as(Application.named(names, discovery), {
          servers: names.length === 0 ? undefined : names,
          once: true,
          rests: true
        }),
      (application) =>
        Effect.gen(function*() {
          const { discovery, starting } = application
          const chosen = discovery.servers.filter(({ name }) => names.length === 0 || names.includes(name))
          const files = discovery.issues.filter(({ server, severity }) => server === undefined && severity === "error")
          if (chosen.length + files.length === 0 && !shared.json) yield* NoServers.note
          let finished = 0
          const visit = (found: ConfigDiscovery.Found) =>
            Effect.tap(Visit.visit(found, application, watch), () => Effect.sync(() => finished++))
          const servers = yield* Stream.fromIterable(chosen).pipe(
            // in the order of the configuration, because a stream keeps it
            Stream.mapEffect(visit, { concurrency: together }),
            Stream.tap((server) => shared.json ? Effect.void : screen.out(...lines(server, screen.columns))),
            Stream.runCollect,
            Settling.showing(screen, () => `${finished} of ${chosen.length} checked`, starting)
          )
          return { files, servers: Array.from(servers) }
        }).pipe(Effect.provide(NodeFileSystem.layer)),
      {
        faults: "collected",
        using: NodeMcpRuntime.using(Layer.provideMerge(Visit.transports(watch), Teardown.layer()))
      }
    )
    const { open: socketsLeft } = yield* Processes.leftovers([], "", sockets)
    const exitCode = Visit.worst([
      ...servers.map(({ exitCode }) => exitCode),
      ...(files.length === 0 ? [] : [ExitCode.config]),
      ...(socketsLeft === 0 ? [] : [ExitCode.tool])
    ])
    const report: Report = {
      servers,
      files: files.map((issue) => ({ place: IssueShape.place(issue), message: issue.message })),
      socketsLeft,
      exitCode
    }
    if (shared.json) yield* screen.json(Report, report)
    else {
      if (socketsLeft > 0) yield* screen.out(fault(`sockets that are open although all is closed: ${socketsLeft}`))
      for (const { message, place } of report.files) yield* screen.out(fault(place), `       ${message}`)
      if (servers.length > 0) yield* screen.out(summary(report, yield* Clock.currentTimeMillis))
    }
    return exitCode
  })

export const command: Command.Command = {
  description: [
    "Each server is found, checked for an approval, started or reached, greeted, asked for its tools, pinged and closed; "
    + "then processes that it has left are looked for. The time of each step is shown.",
    "Its names, schemas and texts are looked through as well. What is only worth a look is a warning.",
    "The exit code is 0 without a fault, or else that of the worst: a server that cannot be reached (4), whose "
    + "configuration cannot be used (3), that is not approved (5), or that does something wrong (1)."
  ],
  args: [{ name: "server", about: "the servers to look at (default: all)", required: false, repeated: true }],
  options: [],
  examples: [
    ["doctor", "All servers, in the order of the configuration."],
    ["doctor github --timeout 10s", "This one, and no longer than ten seconds for each step."],
    ["doctor --json", "For a program to read."]
  ],
  run
}
