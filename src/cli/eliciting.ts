/** Answers the questions of a server, one at a time: by the person at the terminal, or not at all. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Layer from "effect/Layer"
import * as InputHandlers from "../client/InputHandlers.ts"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as Approval from "../safety/Approval.ts"
import * as Redaction from "../safety/Redaction.ts"
import { isCredential } from "../text/credentialName.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Form from "./form.ts"
import type * as Screen from "./Screen.ts"

type Answer = InputHandlers.ElicitationAnswer

type Shown = Screen.Screen["Type"]

const weak = (text: string): Screen.Span => ({ text, style: "weak" })
const warning = (text: string): Screen.Line => [{ text, style: "warning" }]

/** Longer questions are declined, because the server may be a gateway whose question is an approval. */
const most = 2 * Approval.maxShown

const textLines = (text: string, indent: string): ReadonlyArray<Screen.Line> =>
  text.trim().split(/\r?\n/).map((line) => `${indent}${line}`)

/** Who asks, beside the name that it has here: its program, or the host that it runs on. */
const whereabouts = (config: ConfigDiscovery.Found["config"]): string => {
  if (config === undefined) return ""
  if ("url" in config) return URL.canParse(config.url) ? new URL(config.url).host : config.url.split("?")[0]!
  return "args" in config ? [config.command, ...(config.args ?? [])].join(" ") : config.transport
}

/** Taken in the place of an answer. */
const words: ReadonlyMap<string, Answer> = new Map([
  [".decline", { action: "decline" }],
  [".cancel", { action: "cancel" }]
])

const cancelled: Answer = { action: "cancel" }

const isYes = (answer: string): boolean => /^y(es)?$/i.test(answer.trim())

/** Nobody is asked for a password without being told who wants it. */
const isSecret = (field: Form.Field, isSuspect: (text: string) => boolean): boolean =>
  isCredential(field.name) || isCredential(field.label) ||
  isSuspect([field.label, field.about ?? ""].join("\n"))

const question = (
  { choices, initial, isList, kind, label, required }: Form.Field,
  text: (value: JsonRpc.Json) => string
) => {
  const what = choices.length === 0 ? kind : isList ? "any of these, with commas" : "one of these"
  const preset = initial === undefined
    ? required ? "" : " [leave out]"
    : ` [${Array.isArray(initial) ? initial.map(text).join(", ") : text(initial)}]`
  return `  ${label} (${what})${preset}: `
}

const fill = (screen: Shown, server: string, root: JsonRpc.JsonObject, isSuspect: (text: string) => boolean) =>
  Effect.gen(function*() {
    const { fields, read, textOf } = yield* Effect.promise(() => import("./form.ts"))
    const entries: Array<readonly [name: string, value: JsonRpc.Json]> = []
    for (const field of fields(root)) {
      if (field.about !== undefined) yield* screen.err(...textLines(field.about, "    "))
      if (field.choices.length > 0) {
        yield* screen.err(...field.choices.map(({ title }, at) => `    ${at + 1}  ${title}`))
      }
      const isHidden = isSecret(field, isSuspect)
      if (isHidden) {
        yield* screen.err(
          warning(`  This looks like a secret. What you type is not shown here, and sent to ${server}.`)
        )
      }
      for (;;) {
        const given = yield* screen.ask(question(field, textOf), isHidden)
        const text = given?.trim()
        if (text === undefined) return cancelled
        const instead = words.get(text)
        if (instead !== undefined) return instead
        if (text === "") {
          if (field.initial !== undefined) entries.push([field.name, field.initial])
          else if (field.required) {
            yield* screen.err("    It is needed.")
            continue
          }
          break
        }
        const value = yield* read(root, field, text)
        if (Either.isRight(value)) {
          entries.push([field.name, value.right])
          break
        }
        yield* screen.err(`    ${value.left}`)
      }
    }
    const sent = yield* screen.ask(
      entries.length === 0 ? `  Agree to it? [y/N] ` : `  Send this to ${server}? [y/N] `
    )
    if (sent === undefined) return cancelled
    const answer: Answer = isYes(sent)
      ? { action: "accept", content: Object.fromEntries(entries) }
      : words.get(sent.trim()) ?? { action: "decline" }
    return answer
  })

const visit = (screen: Shown, url: string | undefined) =>
  Effect.gen(function*() {
    if (url === undefined || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      yield* screen.err(warning("  It names no page that could be opened."))
      const declined: Answer = { action: "decline" }
      return declined
    }
    const { host, protocol } = new URL(url)
    yield* screen.err(
      [weak("  page:  "), { text: url, style: "strong" }],
      [weak("  host:  "), host],
      ...(protocol === "https:" ? [] : [warning("  What you enter there can be read on the way.")])
    )
    const given = yield* screen.ask(
      "  Open it in a browser if you trust it. Go on? [y = yes, n = no, Enter = not now] "
    )
    const text = (given ?? "").trim()
    const answer: Answer = isYes(text)
      ? { action: "accept" }
      : /^no?$/i.test(text)
      ? { action: "decline" }
      : words.get(text) ?? cancelled
    return answer
  })

/** The length of the longest text in the question. */
const lengthOf = (
  { message, requestedSchema, url }: InputHandlers.Elicitation,
  { fields }: typeof Form
): number => {
  const texts = [message, url ?? ""]
  for (const { about = "", choices, label } of fields(requestedSchema ?? {})) {
    texts.push(about, label)
    for (const { title } of choices) texts.push(title)
  }
  return texts.reduce((longest, text) => Math.max(longest, UntrustedText.escape(text).length), 0)
}

const asked = (
  screen: Shown,
  { servers }: ConfigDiscovery.Discovery,
  elicitation: InputHandlers.Elicitation
): Effect.Effect<Answer> =>
  Effect.gen(function*() {
    const { message, mode, requestedSchema, server, url } = elicitation
    const length = lengthOf(elicitation, yield* Effect.promise(() => import("./form.ts")))
    if (length > most) {
      yield* screen.err([
        { text: "declined: ", style: "warning" },
        `${server} asks with ${length} characters, and at most ${most} can be shown`
      ])
      const answer: Answer = { action: "decline" }
      return answer
    }
    const { scan } = yield* Effect.promise(() => import("../safety/InjectionScan.ts"))
    const isSuspect = (text: string) =>
      scan(text, { channel: "elicitation" }).some(({ category }) => category === "elicitation-phishing")
    const where = whereabouts(servers.find(({ name }) => name === server)?.config)
    yield* screen.err(
      [{ text: server, style: "strong" }, " asks you, and not this program:"],
      [weak("  who:   "), where],
      ...textLines(message, "  | ")
    )
    if (isSuspect(message)) {
      yield* screen.err(warning("  It asks for a secret. Whoever runs this server will have it."))
    }
    if (mode === "url") return yield* visit(screen, url)
    yield* screen.err([weak("  Enter takes what is in brackets; .decline refuses, and .cancel ends it.")])
    return yield* fill(screen, server, requestedSchema ?? {}, isSuspect)
  }).pipe(
    Effect.onInterrupt(() => screen.err("", "  The question was withdrawn."))
  )

/** Whoever reads the output learns why a tool did not go on. */
const declined = (screen: Shown, { message, server }: InputHandlers.Elicitation): Effect.Effect<Answer> =>
  Effect.as(
    screen.note([
      { text: "declined: ", style: "warning" },
      `${server} asks something, and nobody is at a terminal to answer: ${UntrustedText.excerpt(message, 200)}`
    ]),
    { action: "decline" }
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

/** @param turns - one question at a time */
export const layer = (
  screen: Shown,
  discovery: ConfigDiscovery.Discovery,
  turns: Effect.Semaphore
): Layer.Layer<InputHandlers.InputHandlers> =>
  InputHandlers.layer({
    elicit: (elicitation) =>
      Effect.flatMap(Redaction.Redaction, ({ known }) => {
        const shown = discreet(screen, known)
        return screen.isInteractive
          ? turns.withPermits(1)(asked(shown, discovery, elicitation))
          : declined(shown, elicitation)
      }),
    elicitModes: ["form", "url"]
  })
