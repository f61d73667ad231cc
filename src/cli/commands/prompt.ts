/** `mcp-runtime prompt`: prints the messages of a prompt. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { nearest, suggestion } from "../../text/nearest.ts"
import type * as ToolResult from "../../tools/ToolResult.ts"
import * as Application from "../Application.ts"
import * as CallResult from "../callResult.ts"
import type * as Command from "../Command.ts"
import { type Usage, usage } from "../Command.ts"
import * as NoServers from "../noServers.ts"
import * as Offered from "../offered.ts"
import { orNull } from "../orNull.ts"
import * as Screen from "../Screen.ts"
import { signature } from "./prompts.ts"

/** The document of `prompt --json`. */
export const Prompted = Schema.Struct({
  server: Schema.String,
  prompt: Schema.String,
  description: orNull(Schema.String),
  messages: Schema.Array(Schema.Struct({
    role: Schema.String,
    /** As sent by the server. */
    content: Schema.Unknown
  }))
})

/** The arguments of prompts are always strings. */
const typed = (words: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, string>, Usage> =>
  Effect.map(
    Effect.forEach(words, (word) => {
      const equals = word.indexOf("=")
      return equals < 1
        ? usage(`invalid argument "${word}"`, "Use name=text.")
        : Effect.succeed([word.slice(0, equals), word.slice(equals + 1)] as const)
    }),
    (pairs) => new Map(pairs)
  )

const find = (ref: string, application: Application.Application) =>
  Effect.gen(function*() {
    yield* NoServers.refuse(application.discovery)
    const { items, missing } = yield* application.ask(application.runtime.prompts)
    const identityOf = ({ name, server }: Offered.Prompt) => ({ server, tool: name })
    return yield* Offered.named("prompt", ref, application.discovery, items, identityOf, missing)
  })

const check = (prompt: Offered.Prompt, given: ReadonlyMap<string, string>): Effect.Effect<void, Usage> => {
  const names = prompt.arguments.map(({ name }) => name)
  const next = `Usage: mcp-runtime prompt ${signature(prompt)}`
  const unknown = Array.from(given.keys()).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    return usage(
      `the prompt "${prompt.name}" has no argument "${unknown}"`,
      suggestion(nearest(unknown, names)) ?? next
    )
  }
  const absent = prompt.arguments.find(({ name, required }) => required && !given.has(name))
  return absent === undefined ? Effect.void : usage(`missing argument "${absent.name}"`, next)
}

const lines = (content: ToolResult.Content): ReadonlyArray<Screen.Line> =>
  content._tag === "Image" || content._tag === "Audio"
    ? [[{ text: `[${content._tag.toLowerCase()}, ${content.mimeType}; use --json to get it]`, style: "weak" }]]
    : CallResult.lines([CallResult.ofContent(content)])

const run: Command.Command["run"] = ({ args: [ref = "", ...words], shared }) =>
  Effect.gen(function*() {
    const given = yield* typed(words)
    const choice = Offered.choiceOf(ref, shared, { answers: true, once: true })
    return yield* Application.use(shared, choice, (application) =>
      Effect.gen(function*() {
        const screen = yield* Screen.Screen
        const found = yield* find(ref, application)
        yield* check(found, given)
        const { name: prompt, server } = found
        const { description, messages } = yield* application.ask(
          application.runtime.getPrompt(server, prompt, Object.fromEntries(given), { origin: "person" })
        )
        if (shared.json) {
          const contents = messages.map(({ content, role }) => ({ role, content: content.raw }))
          yield* screen.json(Prompted, { server, prompt, description, messages: contents })
        } else {
          for (const [at, { content, role }] of messages.entries()) {
            yield* screen.out(...(at === 0 ? [] : [""]), [{ text: role, style: "strong" }], ...lines(content))
          }
        }
      }))
  })

export const command: Command.Command = {
  args: [
    { name: "prompt", about: "SERVER/PROMPT, or PROMPT if only one server has it", required: true },
    { name: "argument", about: "name=text", required: false, repeated: true }
  ],
  options: [],
  examples: [["prompt github/review pr=12", "Print the messages of a prompt with one argument"]],
  run
}
