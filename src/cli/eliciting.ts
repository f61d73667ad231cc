/** Answers the questions of a server, one at a time: by the person at the terminal, or not at all. */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as InputHandlers from "../client/InputHandlers.ts"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as Approval from "../safety/Approval.ts"
import * as Redaction from "../safety/Redaction.ts"
import { isCredential } from "../text/credentialName.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Form from "./form.ts"
import * as Screen from "./Screen.ts"

type Answer = InputHandlers.ElicitationAnswer

type Shown = Screen.Screen["Type"]

const weak = (text: string): Screen.Span => ({ text, style: "weak" })
const warning = (text: string): Screen.Line => [{ text, style: "warning" }]

/** Longer questions are declined, because the server may be a gateway whose question is an approval. */
const most = 2 * Approval.maxShown

const textLines = (text: string, indent: string): ReadonlyArray<Screen.Line> =>
  text.trim().split(/\r?\n/).map((line) => `${indent}${line}`)

/** The program of a server, or the host that it runs on. */
const whereabouts = (config: ConfigDiscovery.Found["config"]): string => {
  if (config === undefined) return ""
  if ("url" in config) return URL.canParse(config.url) ? new URL(config.url).host : config.url.split("?")[0]!
  return "args" in config ? [config.command, ...(config.args ?? [])].join(" ") : config.transport
}

const declines: Answer = { action: "decline" }

const cancelled: Answer = { action: "cancel" }

/** Typed in the place of an answer. */
const words: ReadonlyMap<string, Answer> = new Map<string, Answer>([[".decline", declines], [".cancel", cancelled]])

/** A field for a secret is announced with the name of its server, and not shown while it is typed. */
const isSecret = (field: Form.Field, isSuspect: (text: string) => boolean): boolean =>
  isCredential(field.name) || isCredential(field.label) ||
  isSuspect([field.label, field.about ?? ""].join("\n"))

const fill = (screen: Shown, server: string, root: JsonRpc.JsonObject, isSuspect: (text: string) => boolean) =>
  Effect.gen(function*() {
    const form = yield* Effect.promise(() => import("./form.ts"))
    const asking: Form.Asking = {
      screen,
      server,
      isSecret: (field) => isSecret(field, isSuspect),
      words: new Set(words.keys())
    }
    const entries: Array<readonly [name: string, value: JsonRpc.Json]> = []
    for (const field of form.fields(root)) {
      const value = yield* form.ask(asking, root, field)
      if (value !== undefined) entries.push([field.name, value])
    }
    const sent = yield* screen.ask(
      entries.length === 0 ? `  Agree to it? [y/N] ` : `  Send this to ${server}? [y/N] `
    )
    if (sent === undefined) return cancelled
    return Screen.isYes(sent)
      ? { action: "accept", content: Object.fromEntries(entries) } satisfies Answer
      : words.get(sent.trim()) ?? declines
  }).pipe(Effect.catchAll((word) => Effect.succeed(words.get(word) ?? cancelled)))

const visit = (screen: Shown, url: string | undefined) =>
  Effect.gen(function*() {
    if (url === undefined || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      yield* screen.err(warning("  It names no page that could be opened."))
      return declines
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
    return Screen.isYes(text)
      ? { action: "accept" } satisfies Answer
      : /^no?$/i.test(text)
      ? declines
      : words.get(text) ?? cancelled
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
      return declines
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
      yield* screen.err(warning("  It asks for a secret, which the operator of this server will see."))
    }
    if (mode === "url") return yield* visit(screen, url)
    yield* screen.err([weak("  Enter takes what is in brackets; .decline refuses, and .cancel ends it.")])
    return yield* fill(screen, server, requestedSchema ?? {}, isSuspect)
  }).pipe(
    Effect.onInterrupt(() => screen.err("", "  The question was withdrawn."))
  )

/** Notes the question that was declined, because it is why a tool did not go on. */
const declined = (screen: Shown, { message, server }: InputHandlers.Elicitation): Effect.Effect<Answer> =>
  Effect.as(
    screen.note([
      { text: "declined: ", style: "warning" },
      `${server} asks something, and there is no terminal to answer at: ${UntrustedText.excerpt(message, 200)}`
    ]),
    declines
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
