/** Prompts at the terminal: approvals of calls, questions of servers, and logins, one at a time. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Interaction from "../auth/Interaction.ts"
import * as InputHandlers from "../client/InputHandlers.ts"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as NodeInteraction from "../node/NodeInteraction.ts"
import * as Approval from "../safety/Approval.ts"
import * as Redaction from "../safety/Redaction.ts"
import { isCredential } from "../text/credentialName.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as Ask from "./Ask.ts"
import { label } from "./consent.ts"
import type * as Screen from "./Screen.ts"

type Shown = Screen.Screen["Type"]

/** The size of a page, which fits a terminal of 24 rows with the prompt. */
const pageRows = 20
const pageColumns = 80

/** The limit of arguments that are shown page by page, in characters. */
const maxPaged = 25 * Approval.maxShown

/** Splits the lines into pages. A line that is longer than a row takes several rows. */
const pages = (lines: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const rows = lines.flatMap((line) => line === "" ? [""] : line.match(new RegExp(`.{1,${pageColumns}}`, "gsu")) ?? [])
  return Array.from(
    { length: Math.ceil(rows.length / pageRows) },
    (_, at) => rows.slice(at * pageRows, (at + 1) * pageRows)
  )
}

/** Shows the pages one by one and asks after the last. Stopping before the last page denies. */
const read = (screen: Shown, lines: ReadonlyArray<string>): Effect.Effect<boolean> =>
  Effect.gen(function*() {
    const all = pages(lines)
    for (const [at, page] of all.entries()) {
      yield* screen.err(...page)
      if (at === all.length - 1) continue
      const answer = yield* screen.ask(`Page ${at + 1} of ${all.length}. Press Enter for the next page, n to deny: `)
      if (answer === undefined || answer.trim() !== "") return false
    }
    return yield* Ask.confirm(screen, "Allow this call?")
  })

/** Asks about calls that a rule sets to `ask` or that no rule covers. Without a terminal no person can be asked. */
export const approval = (screen: Shown, turns: Effect.Semaphore): Layer.Layer<Approval.Approval> =>
  screen.isInteractive
    ? Approval.layer(
      Approval.whole(
        ({ lines, name, server }, { rule, subject: { kind } }) =>
          turns.withPermits(1)(Effect.gen(function*() {
            yield* screen.err(
              rule === undefined
                ? `No permission rule covers this ${kind}:`
                : `A permission rule requires approval for this ${kind} (${rule}):`,
              [label(kind), { text: name, style: "strong" }, ` of ${server}`],
              ...(lines.length === 0 ? [] : [[label("arguments")]])
            )
            const isAgreed = yield* read(screen, lines.map((line) => `    ${line}`))
            return { _tag: isAgreed ? "Once" : "Deny" }
          })),
        maxPaged
      )
    )
    : Approval.layerNone

type Answer = InputHandlers.ElicitationAnswer

const declines: Answer = { action: "decline" }

const cancelled: Answer = { action: "cancel" }

/** Commands that can be typed instead of a value. */
const words: ReadonlyMap<string, Answer> = new Map<string, Answer>([[".decline", declines], [".cancel", cancelled]])

/** Longer questions are declined, because the server may be a gateway whose question is an approval. */
const most = 2 * Approval.maxShown

const warning = (text: string): Screen.Line => [{ text, style: "warning" }]

/** The command of a local server, or the host of a remote one. */
const whereabouts = (config: ConfigDiscovery.Found["config"]): string => {
  if (config === undefined) return ""
  if ("url" in config) return URL.canParse(config.url) ? new URL(config.url).host : config.url.split("?")[0]!
  return "args" in config ? [config.command, ...(config.args ?? [])].join(" ") : config.transport
}

const fill = (screen: Shown, server: string, schema: JsonRpc.JsonObject, isSuspect: (text: string) => boolean) =>
  Effect.gen(function*() {
    const form = yield* Effect.promise(() => import("./form.ts"))
    yield* screen.err([
      { text: "  Enter accepts the value in brackets; .decline declines, .cancel cancels.", style: "weak" }
    ])
    const entries = yield* form.complete({
      screen,
      server,
      isSecret: ({ about = "", label, name }) =>
        isCredential(name) || isCredential(label) || isSuspect(`${label}\n${about}`),
      words: new Set(words.keys())
    }, schema)
    const sent = yield* screen.ask(
      entries.length === 0 ? `  Accept? [y/N] ` : `  Send this to ${server}? [y/N] `
    )
    if (sent === undefined) return cancelled
    return Ask.isYes(sent)
      ? { action: "accept", content: Object.fromEntries(entries) } satisfies Answer
      : words.get(sent.trim()) ?? declines
  }).pipe(Effect.catchAll((word) => Effect.succeed(words.get(word) ?? cancelled)))

const visit = (screen: Shown, url: string | undefined) =>
  Effect.gen(function*() {
    if (url === undefined || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      yield* screen.err(warning("  The URL cannot be opened."))
      return declines
    }
    const { host, protocol } = new URL(url)
    yield* screen.err(
      [{ text: "  page:  ", style: "weak" }, { text: url, style: "strong" }],
      [{ text: "  host:  ", style: "weak" }, host],
      ...(protocol === "https:"
        ? []
        : [warning("  The connection is not encrypted: others can read what you enter there.")])
    )
    const given = yield* screen.ask(
      "  Open the page in a browser if you trust it. Continue? [y = yes, n = no, Enter = cancel] "
    )
    const text = (given ?? "").trim()
    if (Ask.isYes(text)) return { action: "accept" } satisfies Answer
    return /^no?$/i.test(text) ? declines : words.get(text) ?? cancelled
  })

/** The length of the longest text in the question after escaping. */
const lengthOf = ({ message, requestedSchema, url = "" }: InputHandlers.Elicitation): number => {
  let longest = 0
  // keys count too: the name of a field is shown if it has no title
  JSON.stringify([message, url, requestedSchema], (key, value: unknown) => {
    for (const text of [key, value]) {
      if (typeof text === "string") longest = Math.max(longest, UntrustedText.escape(text).length)
    }
    return value
  })
  return longest
}

const answer = (
  screen: Shown,
  { servers }: ConfigDiscovery.Discovery,
  elicitation: InputHandlers.Elicitation
): Effect.Effect<Answer> =>
  Effect.gen(function*() {
    const { message, mode, requestedSchema, server, url } = elicitation
    const declined = (why: string) =>
      Effect.as(
        (screen.isInteractive ? screen.err : screen.note)([
          { text: "declined: ", style: "warning" },
          `${server} asks ${why}`
        ]),
        declines
      )
    if (!screen.isInteractive) {
      const text = UntrustedText.excerpt(message, 200)
      return yield* declined(`a question, but there is no terminal to answer it: ${text}`)
    }
    const length = lengthOf(elicitation)
    if (length > most) return yield* declined(`a question of ${length} characters, and the limit is ${most}`)
    const { scan } = yield* Effect.promise(() => import("../safety/InjectionScan.ts"))
    const isSuspect = (text: string) =>
      scan(text, { channel: "elicitation" }).some(({ category }) => category === "elicitation-phishing")
    yield* screen.err(
      [{ text: server, style: "strong" }, " asks:"],
      [{ text: "  from:  ", style: "weak" }, whereabouts(servers.find(({ name }) => name === server)?.config)],
      ...message.trim().split(/\r?\n/).map((line) => `  | ${line}`),
      ...(isSuspect(message)
        ? [warning("  It asks for a secret. The operator of the server will see your answer.")]
        : [])
    )
    return yield* mode === "url" ? visit(screen, url) : fill(screen, server, requestedSchema ?? {}, isSuspect)
  }).pipe(
    Effect.onInterrupt(() => screen.err("", "  The question was withdrawn."))
  )

/** Redacts known secrets, because a server can put a secret that it was given into a question. */
const discreet = (screen: Shown, known: Redaction.Redactor["known"]): Shown => {
  const hidden = (line: Screen.Line): Screen.Line =>
    typeof line === "string"
      ? known(line)
      : line.map((part) => typeof part === "string" ? known(part) : { ...part, text: known(part.text) })
  return {
    ...screen,
    err: (...lines) => screen.err(...lines.map(hidden)),
    note: (...lines) => screen.note(...lines.map(hidden)),
    ask: (question, isSecret) => screen.ask(known(question), isSecret)
  }
}

/** Asks the questions of servers at the terminal, or declines them without one. */
export const inputs = (
  screen: Shown,
  discovery: ConfigDiscovery.Discovery,
  turns: Effect.Semaphore
): Layer.Layer<InputHandlers.InputHandlers> =>
  InputHandlers.layer({
    elicit: (elicitation) =>
      Effect.flatMap(Redaction.Redaction, ({ known }) =>
        turns.withPermits(1)(answer(discreet(screen, known), discovery, elicitation))),
    elicitModes: ["form", "url"]
  })

/** Prints the login URL, opens a browser, and accepts the final URL in place of a callback. */
export const login = (
  screen: Shown,
  { browser, timeout }: { readonly browser: boolean; readonly timeout: Duration.Duration | undefined }
): Layer.Layer<Interaction.Interaction> =>
  NodeInteraction.layer({
    browser,
    ...(timeout === undefined ? {} : { timeout }),
    announce: ({ opens, server, url }) =>
      // an error line, because `--quiet` hides notes
      screen.err(
        ["Log in to ", { text: server, style: "strong" }, opens ? " in the browser that opens, or here:" : " here:"],
        `  ${url}`
      ),
    ...(screen.isInteractive ? { ask: screen.ask } : {})
  })
