/** `mcp-runtime approve`: approves servers of a workspace, and changed tools. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Scope from "../../config/Scope.ts"
import * as Trust from "../../config/Trust.ts"
import * as McpError from "../../McpError.ts"
import { isCredential } from "../../text/credentialName.ts"
import { nearest, suggestion } from "../../text/nearest.ts"
import * as ShellWords from "../../text/shellWords.ts"
import * as ToolPins from "../../tools/ToolPins.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import { Usage, usage } from "../Command.ts"
import * as Consent from "../consent.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Lookup from "../lookup.ts"
import * as Offered from "../offered.ts"
import { orNull } from "../orNull.ts"
import * as Screen from "../Screen.ts"

const reasons: Record<Trust.Why, string> = {
  new: "not approved yet",
  changed: "changed since it was approved",
  unreadable: "its approval file cannot be read"
}

/** A server in the list and the question, with the variables that it would be allowed to read. */
const waitingOf = (
  one: Trust.Pending,
  trust: Trust.Trust["Type"],
  granted?: ReadonlyArray<string>
): Consent.Waiting =>
  Consent.server(trust, one, `: ${reasons[one.why]}`, [
    [Consent.label("fingerprint"), one.fingerprint],
    ...(granted === undefined || one.variables.length === 0 ? [] : [[
      Consent.label("may read"),
      granted.length === 0 ? "none of these variables (allow one with --variable NAME)" : granted.join(", ")
    ]])
  ], granted)

/** The environment variables that an approval now would allow. */
export const grants = (
  { variables }: Pick<Trust.Candidate, "variables">,
  wanted: ReadonlyArray<string>
): ReadonlyArray<string> =>
  wanted.length === 0
    ? variables.filter((name) => !isCredential(name))
    : variables.filter((name) => wanted.includes(name))

/** The document of `approve --json`. */
export const Approvals = Schema.Struct({
  servers: Schema.Array(Schema.Struct({
    server: Schema.String,
    root: Schema.String,
    /** Identifies exactly this entry. */
    fingerprint: Schema.String,
    why: Schema.Literal("new", "changed", "unreadable"),
    /** For `unreadable`: the file, the error and its fix. */
    detail: Schema.optional(Schema.String),
    /** The environment variables that it refers to. */
    variables: Schema.Array(Schema.Struct({ name: Schema.String, credential: Schema.Boolean })),
    consent: Schema.Array(Schema.Struct({
      label: Schema.String,
      text: Schema.String,
      level: Schema.Literal("plain", "warning")
    })),
    /** `waiting`: there was no terminal to ask. */
    decision: Schema.Literal("approved", "refused", "waiting"),
    /** The variables that it is allowed to read. */
    granted: Schema.Array(Schema.String)
  }))
})

/** A fingerprint identifies one version of an entry, unlike a name. */
const isFingerprint = (text: string): boolean => /^sha256:[0-9a-f]{64}$/i.test(text)

const documentOf = (one: Trust.Pending, decision: Consent.Decision, granted: ReadonlyArray<string> = []) => ({
  ...one,
  variables: one.variables.map((name) => ({ name, credential: isCredential(name) })),
  consent: Trust.consent(one),
  decision,
  granted
})

/** Reports why a named server does not need approval. */
const settled = (wanted: string, variables: ReadonlyArray<string>, { discovery }: Lookup.Found) =>
  Effect.gen(function*() {
    if (isFingerprint(wanted) && !discovery.servers.some(({ fingerprint }) => fingerprint === wanted.toLowerCase())) {
      return yield* new Usage({
        detail: "no server that needs approval has this fingerprint; its entry may have changed",
        next: "Review the current entries with `mcp-runtime approve`."
      })
    }
    const found = yield* Application.server(wanted, discovery)
    const { name, provenance, sources, state } = found
    yield* Application.usable(found, discovery)
    if (state._tag === "Denied") {
      const { decision } = state
      return yield* new McpError.PermissionDenied({ server: name, why: "policy", kind: "server", name, decision })
    }
    const asks = [provenance, ...sources].some(({ origin }) => !Scope.rights(origin).start)
    if (asks && variables.length > 0) {
      return yield* new Usage({
        detail: `the server "${name}" is already approved, so its variables cannot be changed`,
        next: `Run \`mcp-runtime revoke ${ShellWords.quote(name)}\`, then approve it again.`
      })
    }
    const { note } = yield* Screen.Screen
    yield* note(`${name}: ${asks ? "already approved" : "needs no approval"}`)
  })

const variablesOf = (one: Trust.Pending, wanted: ReadonlyArray<string>): Effect.Effect<void, Usage> => {
  const unknown = wanted.find((name) => !one.variables.includes(name))
  return unknown === undefined ? Effect.void : usage(
    `the entry of "${one.server}" does not refer to the variable "${unknown}"`,
    suggestion(nearest(unknown, one.variables)) ??
      (one.variables.length === 0 ? "It refers to none." : `It refers to ${one.variables.join(", ")}.`)
  )
}

const nothing = "No server needs approval."

const list = (waiting: ReadonlyArray<Trust.Pending>, trust: Trust.Trust["Type"]) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    if (waiting.length === 0) return yield* screen.note(nothing)
    yield* screen.out(...waiting.flatMap((one, at) => [...(at === 0 ? [] : [""]), ...waitingOf(one, trust).lines]))
    yield* screen.note(
      "",
      screen.isInteractive
        ? "Approve a server with `mcp-runtime approve SERVER`, or review all with --all."
        : "Approve a server with `mcp-runtime approve FINGERPRINT`."
    )
  })

const servers: Command.Command["run"] = ({ args: [wanted], isSet, shared, values }) =>
  Lookup.find(shared, (found) =>
    Effect.gen(function*() {
      const screen = yield* Screen.Screen
      yield* Application.named(shared.servers, found.discovery)
      const variables = values("variable")
      const waiting = (yield* found.trust.pending).filter(({ server }) =>
        shared.servers.length === 0 || shared.servers.includes(server)
      )
      if (wanted === undefined && !isSet("all")) {
        return yield* shared.json
          ? screen.json(Approvals, { servers: waiting.map((one) => documentOf(one, "waiting")) })
          : list(waiting, found.trust)
      }
      const chosen = waiting.filter(({ fingerprint, server }) =>
        wanted === undefined || fingerprint === wanted.toLowerCase() || server === wanted
      )
      const decided = yield* Effect.forEach(chosen, (one) =>
        Effect.gen(function*() {
          yield* variablesOf(one, variables)
          const granted = grants(one, variables)
          const decision = yield* Consent.decide(waitingOf(one, found.trust, granted), wanted?.toLowerCase())
          return documentOf(one, decision, decision === "approved" ? granted : [])
        }))
      if (wanted !== undefined && chosen.length === 0) yield* settled(wanted, variables, found)
      else if (chosen.length === 0) yield* screen.note(nothing)
      if (shared.json) yield* screen.json(Approvals, { servers: decided })
      return decided.every(({ decision }) => decision === "approved") ? ExitCode.ok : ExitCode.permission
    }))

/** The document of `approve --tool --json`. */
export const ToolApproval = Schema.Struct({
  server: Schema.String,
  tool: Schema.String,
  /** The fingerprint of the current definition; null if it needs no approval. */
  fingerprint: orNull(Schema.String),
  changes: Schema.Array(Schema.String),
  /** `waiting`: there was no terminal to ask. */
  decision: Schema.Literal("approved", "refused", "waiting", "unneeded")
})

/** A quarantined tool with its changes. */
const quarantined = (one: ToolPins.Quarantined, pins: ToolPins.ToolPins["Type"]): Consent.Waiting => {
  const lines: ReadonlyArray<Screen.Line> = [
    [
      { text: Offered.spelled(one), style: "strong" },
      one.why === "changed" ? " has changed:" : " needs approval:"
    ],
    ...ToolPins.render(one.changes).map((line) => `  ${line}`),
    [Consent.label("fingerprint"), one.fingerprint]
  ]
  return {
    name: Offered.spelled(one),
    fingerprint: one.fingerprint,
    lines,
    unseen: one.changes.every(({ omitted = 0 }) => omitted === 0) ? [] : [
      ...lines,
      [
        { text: "warning: ", style: "warning" },
        "the new definition is too long to be shown whole, so it cannot be approved at the prompt."
      ],
      "Read the whole definition, then approve exactly this version:"
    ],
    options: `--tool ${Offered.format(one)} `,
    question: "Approve the new definition?",
    approve: pins.approve(one.server, one.tool, one.fingerprint)
  }
}

const approveTool = (
  ref: string,
  { args, shared }: Command.Invocation
): Effect.Effect<ExitCode.ExitCode, Command.Failure, Screen.Screen> =>
  Application.use(
    shared,
    (discovery) =>
      Offered.identify(ref, discovery) === undefined
        ? usage("--tool needs the server of the tool", "Usage: --tool SERVER/TOOL")
        : Offered.choiceOf(ref, shared)(discovery),
    ({ discovery, pins, runtime, ask }) =>
      Effect.gen(function*() {
        const screen = yield* Screen.Screen
        const identity = Offered.identify(ref, discovery)!
        const { missing, quarantined: all, tools } = yield* ask(runtime.tools)
        const ofServer = [...all, ...tools.map(Offered.identityOf)].filter(({ server }) => server === identity.server)
        const names = [...new Set(ofServer.map(({ tool }) => tool))]
        yield* Offered.only(names.filter((name) => name === identity.tool), {
          kind: "tool",
          name: identity.tool,
          server: identity.server,
          all: names,
          missing,
          choose: ""
        })
        const one = all.find(({ server, tool }) => server === identity.server && tool === identity.tool)
        if (one === undefined) {
          yield* screen.note(`${Offered.spelled(identity)}: needs no approval`)
        }
        const fingerprint = args[0]?.toLowerCase()
        if (fingerprint !== undefined && one !== undefined && fingerprint !== one.fingerprint) {
          return yield* new Usage({
            detail: "the fingerprint does not match: the tool has changed since you reviewed it",
            next: "Review the current definition before you approve it."
          })
        }
        const decision = one === undefined
          ? "unneeded" as const
          : yield* Consent.decide(quarantined(one, pins), fingerprint)
        if (shared.json) {
          yield* screen.json(ToolApproval, {
            ...identity,
            fingerprint: one?.fingerprint,
            changes: one === undefined ? [] : ToolPins.render(one.changes),
            decision
          })
        }
        return decision === "approved" || decision === "unneeded" ? ExitCode.ok : ExitCode.permission
      })
  )

const run: Command.Command["run"] = (invocation) => {
  const { args, isSet, value } = invocation
  const wrong = (detail: string) => usage(detail, "Run `mcp-runtime approve --help`.")
  const ref = value("tool")
  if (isSet("all") && (args.length > 0 || ref !== undefined)) {
    return wrong("--all cannot be used with a server or --tool")
  }
  if (isSet("variable") && (args.length === 0 || ref !== undefined)) {
    return wrong("--variable needs a server")
  }
  return ref === undefined ? servers(invocation) : approveTool(ref, invocation)
}

export const command: Command.Command = {
  description: [
    "Servers that a workspace configures need your approval before they start. On a terminal the command shows the whole "
    + "entry and asks. Without a terminal, pass the fingerprint of the entry: it approves that entry and no other.",
    "A tool whose definition has changed since it was first seen is quarantined; --tool shows the changes and approves "
    + "the new definition."
  ],
  args: [
    {
      name: "server",
      about: "Server, or fingerprint (sha256:…) of a server or tool (default: list all that need approval)",
      required: false
    }
  ],
  options: [
    {
      name: "variable",
      value: "NAME",
      repeated: true,
      about: "Let the server read only this environment variable (default: all it refers to, except credentials)"
    },
    { name: "all", about: "Ask about each server that needs approval" },
    { name: "tool", value: "SERVER/TOOL", about: "Approve the current definition of this tool" }
  ],
  examples: [
    ["approve", "List servers that need approval, with the programs they would start"],
    ["approve github --variable GITHUB_TOKEN", "Approve a server and let it read a credential"],
    ["approve --tool github/search", "Show the changes of a tool and approve them"]
  ],
  run
}
