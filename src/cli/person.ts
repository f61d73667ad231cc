/** The person at the terminal, who approves calls, answers the questions of servers and logs in, one question at a time. */
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

/** The rows of one page: what fits the smallest usual terminal with its question. */
const pageRows = 20
const pageColumns = 80

/** The most characters of arguments that a person is asked to read, page by page. */
const maxPaged = 25 * Approval.maxShown

/** The lines in pages that fit the screen; a line that is longer than a row takes several. */
const pages = (lines: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const rows = lines.flatMap((line) => line === "" ? [""] : line.match(new RegExp(`.{1,${pageColumns}}`, "gsu")) ?? [])
  return Array.from(
    { length: Math.ceil(rows.length / pageRows) },
    (_, at) => rows.slice(at * pageRows, (at + 1) * pageRows)
  )
}

/** Shows each page after a key, and asks at the end; a person who stops before has not seen all, and so refuses. */
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

/** Asks about a call where a rule wants it, or no rule decides; without a terminal there is no person. */
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

/** Typed in the place of an answer. */
const words: ReadonlyMap<string, Answer> = new Map<string, Answer>([[".decline", declines], [".cancel", cancelled]])

/** Longer questions are declined, because the server may be a gateway whose question is an approval. */
const most = 2 * Approval.maxShown

const warning = (text: string): Screen.Line => [{ text, style: "warning" }]

/** The program of a server, or the host that it runs on. */
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

/** The length of the longest text in the question, as it would be shown. */
const lengthOf = ({ message, requestedSchema, url = "" }: InputHandlers.Elicitation): number => {
  let longest = 0
  // also the names of fields, which are shown where a field has no title
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

/** The screen without the secrets that are known: a server can put what it was told into a question. */
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

/** Answers the questions of servers, or declines them without a terminal. */
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

/** Shows the address of a login, opens a browser, and takes the address at its end in the place of a callback. */
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
    ...(screen.isInteractive ? { ask: screen.ask, paste: "also" } : {})
  })
