// @effect-diagnostics strictEffectProvide:off -- files are read only where an option names one
/** Values from outside of the configuration: variables of `--env-file`, and values for `${input:…}`. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import * as Interpolation from "../config/Interpolation.ts"
import * as Resolution from "../config/Resolution.ts"
import * as Scope from "../config/Scope.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as Templates from "../config/templates.ts"
import * as NodeTokenStore from "../node/NodeTokenStore.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as Ask from "./Ask.ts"
import type * as Command from "./Command.ts"
import { Usage } from "./Command.ts"
import * as Screen from "./Screen.ts"

const disk = Layer.merge(NodeFileSystem.layer, NodePath.layer)

/** Runs a command with the variables of these files. A later file overrides an earlier one, the environment all. */
export const withEnvFiles = <A, E, R>(
  files: ReadonlyArray<string>,
  run: Effect.Effect<A, E, R>
): Effect.Effect<A, E | Usage, R> =>
  files.length === 0 ? run : Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const host = yield* HostEnvironment.HostEnvironment
    const read = yield* Effect.forEach(files, (file) =>
      Effect.mapBoth(fs.readFileString(file), {
        onFailure: () => new Usage({ detail: `cannot read the file ${UntrustedText.quote(file)} (--env-file)` }),
        onSuccess: Resolution.variablesOf
      }))
    const fromFiles = Object.fromEntries(read.flat())
    const variables = () => ({ ...fromFiles, ...host.variables() })
    return yield* Effect.provideService(run, HostEnvironment.HostEnvironment, { ...host, variables })
  }).pipe(Effect.provide(NodeFileSystem.layer))

/** The storage key of a value. It includes the fingerprint of an entry that others can change. */
const keyOf = ({ fingerprint, id, origin, path, secret }: Resolution.Question): string =>
  JSON.stringify([secret ? "secret" : "input", path, id, Scope.rights(origin).environment ? null : fingerprint])

/** The ids of the inputs that a configuration refers to. */
const idsOf = (config: ServerConfig.ServerConfig): ReadonlyArray<string> =>
  Templates.texts(config).flatMap(({ template }) => Interpolation.references(template))
    .flatMap(({ kind, name }) => kind === "input" || kind === "secret" ? [name] : [])

/**
 * Values from `--input`, from prompts and from earlier runs. Prompts for missing values of the servers with these names, and
 * of servers with an input that `--input` names without a value.
 *
 * @param keeps - saves the values of `--input` for later runs
 */
export const make = Effect.fnUntraced(function*(
  { inputs }: Command.Shared,
  servers: ReadonlyArray<ConfigDiscovery.Found>,
  names: ReadonlySet<string>,
  keeps = false
) {
  const screen = yield* Screen.Screen
  const store = yield* NodeTokenStore.make()
  const given = new Map<string, string>()
  const anew = new Set<string>()
  for (const input of inputs) {
    const [, id = "", value] = /^([^=]+)(?:=(.*))?$/s.exec(input) ?? []
    if (id === "" || (value === undefined && !screen.isInteractive)) {
      return yield* new Usage({
        detail: id === "" ? "--input needs an id" : `--input ${UntrustedText.quote(id)} needs a value`,
        next: "Usage: --input ID=VALUE"
      })
    }
    if (value === undefined) anew.add(id)
    else given.set(id, value)
  }
  const typed = new Map<string, Redacted.Redacted>()

  const known = (question: Resolution.Question): Effect.Effect<Option.Option<Redacted.Redacted>> => {
    const key = keyOf(question)
    const value = given.get(question.id)
    const answer = value === undefined ? typed.get(key) : Redacted.make(value)
    if (answer !== undefined) return Effect.succeedSome(answer)
    if (anew.has(question.id)) return Effect.succeedNone
    // the choices may have changed since the value was saved
    const isChoice = (kept: Redacted.Redacted) => question.choices?.includes(Redacted.value(kept)) !== false
    return Effect.map(Effect.orElseSucceed(store.get(key), () => Option.none()), Option.filter(isChoice))
  }

  const keep = (question: Resolution.Question, value: Redacted.Redacted) =>
    Effect.gen(function*() {
      const { choices, id } = question
      if (choices?.includes(Redacted.value(value)) === false) {
        yield* screen.note(`The value for ${id} is invalid and not saved. Valid values: ${choices.join(", ")}`)
        return Option.none()
      }
      typed.set(keyOf(question), value)
      yield* store.set(keyOf(question), value).pipe(
        Effect.zipRight(store.where),
        Effect.matchEffect({
          onFailure: ({ detail }) => screen.note(`The value cannot be saved: ${detail}.`),
          onSuccess: (where) => screen.note(`Value saved in ${where}. Change it with --input ${id}.`)
        })
      )
      return Option.some(value)
    })

  const asked = Effect.fnUntraced(function*(question: Resolution.Question) {
    const { choices, default: fallback, description, id, secret: isSecret, server } = question
    yield* screen.err(
      [{ text: server, style: "strong" }, ` needs ${id}${description === undefined ? "" : `: ${description}`}`],
      ...(choices === undefined ? [] : [`  one of: ${choices.join(", ")}`])
    )
    const answer = yield* Ask.value(screen, {
      prompt: `${id}${fallback === undefined ? "" : ` [${fallback}]`}: `,
      isSecret,
      read: (line = "") =>
        Effect.succeed(
          line === "" || choices?.includes(line) !== false
            ? Either.right(line)
            : Either.left("Choose one of the values above.")
        )
    })
    return answer === "" ? Option.none<Redacted.Redacted>() : yield* keep(question, Redacted.make(answer))
  })

  const asking = (question: Resolution.Question) =>
    Effect.flatMap(known(question), (answer) => {
      if (Option.isNone(answer)) return screen.isInteractive ? asked(question) : Effect.succeedNone
      return keeps && given.has(question.id) ? keep(question, answer.value) : Effect.succeed(answer)
    })

  // resolved like at a connect, so that exactly the values that a connect needs are asked for
  const { resolve } = yield* Resolution.make({ input: asking, secret: asking })
  for (const { config, name, state } of servers) {
    if (config === undefined || state._tag !== "Ready") continue
    const ids = idsOf(config)
    const isAsked = screen.isInteractive && ids.some((id) => names.has(name) || anew.has(id))
    const isKept = keeps && ids.some((id) => given.has(id))
    if (isAsked || isKept) yield* Effect.ignore(resolve(config))
  }
  return { input: known, secret: known }
}, Effect.provide(disk))
