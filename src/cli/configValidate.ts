// @effect-diagnostics strictEffectProvide:off -- a file is read only where one is named
/** What `mcp-runtime config validate` does. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as ConfigFiles from "../config/ConfigFiles.ts"
import type * as ConfigIssue from "../config/ConfigIssue.ts"
import * as Dialect from "../config/Dialect.ts"
import * as Trust from "../config/Trust.ts"
import * as McpError from "../McpError.ts"
import * as Application from "./Application.ts"
import type * as Command from "./Command.ts"
import * as ExitCode from "./ExitCode.ts"
import * as Failure from "./failure.ts"
import * as IssueShape from "./issueShape.ts"
import * as Screen from "./Screen.ts"
import type { Usage } from "./Usage.ts"

/** The document of `config validate --json`. */
export const Validated = Schema.Struct({
  file: Schema.String,
  /** Whose format it was read as. */
  host: Schema.NullOr(Schema.String),
  valid: Schema.Boolean,
  servers: Schema.Array(Schema.String),
  issues: Schema.Array(IssueShape.Issue)
})

const stdin = "-"

/** What is given without a name is read like a file of this name. */
const unnamed = "/stdin/mcp-client.jsonc"

const unreadable = (file: string, detail: string) =>
  new McpError.ConfigurationError({ server: Failure.fileItself, path: file, detail })

interface Given {
  readonly path: string
  readonly bytes: Uint8Array
}

const typed = (host: string | undefined): Effect.Effect<Given, McpError.ConfigurationError | Usage, Screen.Screen> =>
  Effect.flatMap(Screen.Screen, ({ input }) =>
    Effect.flatMap(input(ConfigFiles.defaults.maxBytes), (text) => {
      const ending = Dialect.find(host ?? "native")?.format ?? "jsonc"
      return text === undefined
        ? Effect.fail(unreadable(stdin, "the standard input is too long for a configuration"))
        : Effect.succeed({
          path: host === undefined ? unnamed : `/stdin/config.${ending}`,
          bytes: new TextEncoder().encode(text)
        })
    }))

const read = (file: string): Effect.Effect<Given, McpError.ConfigurationError> =>
  Effect.gen(function*() {
    const path = (yield* Path.Path).resolve(file)
    // who else may write to it is not the question here
    const content = yield* (yield* ConfigFiles.make()).read(path, { origin: "workspace" })
    if (content === undefined) return yield* unreadable(file, "there is no such file")
    if (content._tag === "Refused") return yield* unreadable(file, content.detail)
    return { path, bytes: content.bytes }
  }).pipe(Effect.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer)))

const verdict = (
  { servers }: ConfigDiscovery.Discovery,
  issues: ReadonlyArray<ConfigIssue.ConfigIssue>,
  host: string | null
): Screen.Line => {
  const isValid = issues.every(({ severity }) => severity !== "error")
  const many = `${servers.length} ${servers.length === 1 ? "server" : "servers"}`
  const counted = IssueShape.count(issues)
  return [
    { text: isValid ? "valid" : "invalid", style: isValid ? "good" : "bad" },
    `: ${many}${host === null ? "" : `, read as ${host}`}${counted === "" ? "" : `; ${counted}`}`
  ]
}

/** Where a file is that is given by its content. */
const nowhere = "/"

/** What one file says, whatever else there is on this machine. It is read from memory: no file that it names is. */
const only = (
  file: { readonly path: string; readonly host: string | undefined; readonly bytes: Uint8Array }
): Effect.Effect<ConfigDiscovery.Discovery> =>
  Effect.flatMap(ConfigDiscovery.ConfigDiscovery, ({ discover }) => discover).pipe(
    Effect.provide(
      ConfigDiscovery.layerFiles({
        root: nowhere,
        directory: nowhere,
        files: [{ path: file.path, host: file.host }],
        enableProjectConfig: false,
        enableUserConfig: false
      }).pipe(
        Layer.provide(ConfigFiles.layerMemory(new Map([[file.path, file.bytes]]))),
        Layer.provide(Layer.merge(Trust.layerAll(), NodePath.layer))
      )
    )
  )

export const run = (
  file: string,
  { shared, value }: Command.Invocation
): Effect.Effect<ExitCode.ExitCode, Command.Failure, Screen.Screen> =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const host = value("host")
    if (host !== undefined) yield* Application.knownHost(host)
    const given = yield* file === stdin ? typed(host) : read(file)
    const discovery = yield* only({ ...given, host })
    // the file is as valid where other variables are set
    const issues = discovery.issues.flatMap((issue): ReadonlyArray<ConfigIssue.ConfigIssue> => {
      if (issue.kind === "variable-unset") return []
      const path = issue.path === given.path ? file : issue.path
      // a program of that name may be on another machine, but hardly so
      return [{ ...issue, path, ...(issue.kind === "command-line" ? { severity: "error" } : {}) }]
    })
    const readAs = discovery.files[0]?.provider ?? host ?? null
    const valid = issues.every(({ severity }) => severity !== "error")
    if (shared.json) {
      yield* screen.json(Validated, {
        file,
        host: readAs,
        valid,
        servers: discovery.servers.map(({ name }) => name),
        issues: issues.map(IssueShape.of)
      })
    } else yield* screen.out(verdict(discovery, issues, readAs), ...IssueShape.lines(issues))
    return valid ? ExitCode.ok : ExitCode.config
  })
