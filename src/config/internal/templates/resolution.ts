/**
 * A configuration with its variables put in: who may ask for what is decided first, then programs are run and people
 * asked, and what comes out is checked like any other configuration.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as McpError from "../../../McpError.ts"
import * as ShellWords from "../../../text/shellWords.ts"
import * as UntrustedText from "../../../text/UntrustedText.ts"
import * as Variables from "../../environmentVariables.ts"
import type * as Expansion from "../../Expansion.ts"
import * as Fingerprint from "../../Fingerprint.ts"
import * as HostEnvironment from "../../HostEnvironment.ts"
import type * as Interpolation from "../../Interpolation.ts"
import type * as Resolution from "../../Resolution.ts"
import * as Scope from "../../Scope.ts"
import * as ServerConfig from "../../ServerConfig.ts"
import * as ServerPolicy from "../../ServerPolicy.ts"
import * as Dialect from "../dialect/dialect.ts"
import * as Paths from "../files/paths.ts"
import * as ClearText from "./clearText.ts"
import * as EnvFile from "./envFile.ts"
import * as Lookups from "./lookups.ts"
import * as Narrowed from "./narrowed.ts"
import * as Template from "./template.ts"

/** Of one value; a program cannot be given much more, and no server wants it. */
const longest = 64 * 1024

/**
 * Where values come from that are neither in the configuration nor in the environment. What cannot be had fails with a
 * sentence that holds nothing of it.
 *
 * @internal
 */
export interface Outside extends Resolution.Options {
  /** The text of a file; one that does not lie within the folder is refused. */
  readonly file: (path: string, within: string | undefined) => Effect.Effect<string, string>
  /** What a program prints. */
  readonly run: (
    argv: readonly [string, ...ReadonlyArray<string>],
    cwd: string,
    host: HostEnvironment.Host
  ) => Effect.Effect<string, string>
}

type Failure = McpError.ConfigurationError

type Why = Interpolation.Failure["kind"]

/**
 * The message for an unset variable, with the next step.
 *
 * @internal
 */
export const unsetDetail = (name: string, host: string | undefined): string => {
  const example = Dialect.withDefault(host, name)
  const otherwise = example === undefined
    ? "give it a default"
    : `give it a default (${UntrustedText.excerpt(example)})`
  return `${UntrustedText.quote(name)} is not set: set it before this program starts, or ${otherwise}`
}

const detailOf = (reference: Interpolation.Reference, why: Why, host: string | undefined): string => {
  const name = Template.nameOf(reference)
  if (why === "variable-forbidden") {
    const from = Lookups.answeredBy(reference) ?? name
    return `${
      UntrustedText.quote(from)
    } may not be read here: grant it when the server is approved, or move the server to a file of ` +
      "your own"
  }
  if (why === "input-required") {
    const from = Lookups.answeredBy(reference) ?? name
    return `${UntrustedText.quote(from)} is not set, and nothing else answers ${
      UntrustedText.quote(name)
    }: set it before this program starts, or ` +
      `give ${UntrustedText.quote(name)} a default`
  }
  return reference.kind === "env"
    ? unsetDetail(name, host)
    : `${UntrustedText.quote(name)} has no value here: write the value itself`
}

const faulty = (server: string, path: string, detail: string) =>
  new McpError.ConfigurationError({ server, path: UntrustedText.excerpt(path, 256), detail })

const missing = (
  { name: server, provenance }: ServerConfig.ServerConfig,
  path: string,
  reference: Interpolation.Reference,
  why: Why
) => {
  const from = reference.kind === "env" ? reference.name : Lookups.answeredBy(reference)
  return new McpError.ConfigurationError({
    server,
    path: UntrustedText.excerpt(path, 256),
    detail: detailOf(reference, why, provenance?.provider),
    variable: {
      name: UntrustedText.excerpt(Template.nameOf(reference), 256),
      why,
      ...(from === undefined ? {} : { from: UntrustedText.excerpt(from, 256) })
    }
  })
}

/** One trailing line break is how files and programs end, and no part of the value. */
const trimmed = (text: string): string => text.replace(/\r?\n$/, "")

/** What the literal variables of an entry are, that it may read itself. */
const ownOf = (config: ServerConfig.ServerConfig, expansion: Expansion.Expansion): ReadonlyMap<string, string> => {
  const own = new Map<string, string>()
  const add = (variables: ReadonlyMap<string, Redacted.Redacted> | undefined): void => {
    for (const [name, value] of variables ?? []) {
      const parts = Template.parse(Redacted.value(value))
      if (parts.every((part) => typeof part === "string")) own.set(name, parts.join(""))
    }
  }
  // whoever reads the environment means that, and not a neighbour of the same name
  if (!Scope.rights(expansion.origin).environment && "env" in config) add(config.env)
  add(expansion.own)
  return own
}

/** What has to be asked for outside, each once. */
interface Wanted {
  readonly at: string
  readonly reference: Interpolation.Reference
}

const wants = (
  config: ServerConfig.ServerConfig,
  asking: Interpolation.Asking
): Either.Either<ReadonlyMap<string, Wanted>, Failure> => {
  const wanted = new Map<string, Wanted>()
  for (const { at, field, template } of ServerConfig.texts(config)) {
    const permits = Lookups.permits(asking, field, template)
    for (const reference of Template.references(template)) {
      const variable = Template.nameOf(reference)
      if (!permits(reference)) {
        return Either.left(missing(config, at, reference, "variable-forbidden"))
      }
      if (["input", "secret", "file", "cmd"].includes(reference.kind)) wanted.set(variable, { at, reference })
    }
  }
  return Either.right(wanted)
}

/** The answer from the environment, if the entry's origin may read that variable. */
const setAnswer = (
  reference: Interpolation.Reference,
  { grants, origin }: Expansion.Expansion,
  host: HostEnvironment.Host
): { readonly value: string | undefined; readonly isForbidden: boolean } => {
  const variable = Lookups.answeredBy(reference)
  const value = variable === undefined ? undefined : Lookups.ownValue(host.variables(), variable)
  if (variable === undefined || value === undefined || value === "") return { value: undefined, isForbidden: false }
  return Scope.rights(origin).environment || grants.includes(variable)
    ? { value, isForbidden: false }
    : { value: undefined, isForbidden: true }
}

const ask = (
  outside: Outside,
  config: ServerConfig.ServerConfig,
  expansion: Expansion.Expansion,
  host: HostEnvironment.Host,
  { at, reference }: Wanted
): Effect.Effect<string | undefined, Failure> => {
  const { name: server } = config
  const { kind, name } = reference
  const home = Paths.home(expansion, host)
  const failed = (detail: string) => faulty(server, at, `${UntrustedText.quote(Template.nameOf(reference))} ${detail}`)
  switch (kind) {
    case "file":
      return outside.file(Paths.absolute(name, expansion.directory, home), undefined).pipe(
        Effect.mapBoth({ onFailure: failed, onSuccess: trimmed })
      )
    case "cmd": {
      const argv = ShellWords.withoutShell(name, { home, isWindows: host.platform === "win32" })
      if (argv === undefined) return Effect.fail(failed("needs a shell, and none is used: write it into a program"))
      return outside.run(argv, expansion.directory, host).pipe(
        Effect.mapBoth({ onFailure: failed, onSuccess: trimmed })
      )
    }
    default: {
      const declared = expansion.inputs?.find(({ id }) => id === name)
      const choices = declared?.choices
      const question: Resolution.Question = {
        server,
        id: name,
        origin: expansion.origin,
        description: declared?.description,
        secret: kind === "secret" || declared?.secret === true,
        choices
      }
      const set = setAnswer(reference, expansion, host)
      const answer = set.value !== undefined
        ? Effect.succeedSome(Redacted.make(set.value))
        : kind === "secret"
        ? outside.secret(question)
        : outside.input(question)
      return Effect.flatMap(answer, (answer) => {
        const value = Option.match(answer, { onNone: () => declared?.default, onSome: Redacted.value })
        if (value === undefined && set.isForbidden) {
          return Effect.fail(missing(config, at, reference, "variable-forbidden"))
        }
        return choices !== undefined && value !== undefined && !choices.includes(value)
          ? Effect.fail(failed("has an answer that is not among its choices"))
          : Effect.succeed(value)
      })
    }
  }
}

/** A header of which nothing is left but the word before a credential says nothing. */
const isEmptied = (value: string): boolean => /^\s*(?:[A-Za-z][A-Za-z0-9-]*\s+)?$/.test(value)

const withoutExpansion = ({ expansion: _, ...config }: ServerConfig.ServerConfig): ServerConfig.ServerConfig => config

const filled = (
  config: ServerConfig.ServerConfig,
  asking: Interpolation.Asking
): Either.Either<{ readonly fields: object; readonly warnings: ReadonlyArray<Resolution.Warning> }, Failure> => {
  const { name: server } = config
  const warnings: Array<Resolution.Warning> = []
  let failure: Failure | undefined
  const fail = (error: Failure): undefined => {
    failure ??= error
  }
  const fields = ServerConfig.mapTexts(withoutExpansion(config), (written) => {
    const { at, field, template } = written
    const lookup = Lookups.lookup(asking, field, template)
    let isShort = false
    const text = Template.fill(template, (reference): Either.Either<string, Failure> => {
      const answer = Template.answer(lookup, reference)
      if (Either.isLeft(answer)) {
        const { kind, variable } = answer.left
        if (kind !== "variable-unset" || reference.kind !== "env" || !isDispensable(written)) {
          return Either.left(missing(config, at, reference, kind))
        }
        isShort = true
        warnings.push({ kind, at, variable, detail: unsetDetail(variable, config.provenance?.provider) })
        return Either.right("")
      }
      return answer.right.length <= longest
        ? Either.right(answer.right)
        : Either.left(
          faulty(server, at, `${UntrustedText.quote(Template.nameOf(reference))} is longer than ${longest} characters`)
        )
    })
    if (Either.isLeft(text)) return fail(text.left)
    const value = text.right
    const isSent = field === "header" || field === "url"
    // eslint-disable-next-line no-control-regex
    if (isSent ? /[\0\r\n]/.test(value) : value.includes("\0")) {
      return fail(faulty(server, at, "its value holds a character that cannot be handed on (a line break or a zero)"))
    }
    return isShort && isEmptied(value) ? undefined : value
  })
  return failure === undefined ? Either.right({ fields, warnings }) : Either.left(failure)
}

/** Its text would say what is wrong with a value, and so the value: what was written is there to be looked at. */
const checked = (
  fields: object,
  config: ServerConfig.ServerConfig
): Effect.Effect<ServerConfig.ServerConfig, Failure> =>
  Effect.mapError(ServerConfig.decode(fields), ({ path }) => {
    const root = path.split(".")[0]
    const asked = ServerConfig.texts(config).filter(({ at }) => at.split(".")[0] === root)
    const names = new Set(asked.flatMap(({ template }) => Template.references(template)).map(Template.nameOf))
    const which = Array.from(names).slice(0, 8).map((text) => UntrustedText.quote(text)).join(", ")
    return faulty(config.name, path, `what it says is not valid here once its variables have values: look at ${which}`)
  })

/** What a stranger has written sends no credentials in the clear. */
const confidential = (
  { expansion, ...written }: ServerConfig.ServerConfig,
  plain: ServerConfig.ServerConfig
): Effect.Effect<void, Failure> => {
  if (!("url" in written) || !("url" in plain) || expansion === undefined) return Effect.void
  if (Scope.rights(expansion.origin).environment || !ClearText.isClear(new URL(plain.url))) return Effect.void
  const { headers = new Map<string, Redacted.Redacted>(), headersCommand, oauth } = written
  const templates = Array.from(headers, ([name, template]) => [name, Redacted.value(template)] as const)
  const clientSecret = oauth === false ? undefined : oauth?.clientSecret
  return ClearText.hasCredentials({ headers: templates, headersCommand, clientSecret })
    ? Effect.fail(faulty(written.name, "url", "it is not encrypted, and credentials are sent to it: use https"))
    : Effect.void
}

const withEnvFile = (
  outside: Outside,
  config: ServerConfig.ServerConfig,
  expansion: Expansion.Expansion | undefined,
  host: HostEnvironment.Host
): Effect.Effect<Resolution.Resolved, Failure> => {
  if (config.transport !== "stdio" || config.envFile === undefined) return Effect.succeed({ config, warnings: [] })
  const { envFile, ...rest } = config
  const path = Paths.absolute(envFile, expansion?.directory, Paths.home(expansion, host))
  const isFree = expansion === undefined || Scope.rights(expansion.origin).substitute
  return outside.file(path, isFree ? undefined : expansion.root ?? expansion.directory).pipe(
    Effect.mapError((detail) => faulty(config.name, "envFile", `the file ${detail}`)),
    Effect.map((text) => {
      const read = Array.from(EnvFile.parse(text), ([name, value]) => [name, Redacted.make(value)] as const)
      // consent does not show the contents of the file, which can change later
      const isUsable = (name: string): boolean => isFree || Variables.effect(name) === undefined
      return {
        config: { ...rest, env: new Map([...read.filter(([name]) => isUsable(name)), ...(config.env ?? [])]) },
        warnings: read.flatMap(([name]): ReadonlyArray<Resolution.Warning> =>
          isUsable(name) ? [] : [{ kind: "env-dropped", at: "envFile", variable: name }]
        )
      }
    })
  )
}

const askingOf = (
  config: ServerConfig.ServerConfig,
  expansion: Expansion.Expansion,
  environment: Interpolation.Asking["environment"]
): Interpolation.Asking => ({
  origin: expansion.origin,
  grants: expansion.grants,
  own: ownOf(config, expansion),
  environment,
  places: expansion.places,
  answers: new Map(),
  hidden: new Set((expansion.inputs ?? []).flatMap(({ id, secret }) => secret === true ? [id] : []))
})

/** Only a header may be left empty, because any other field changes its meaning without the value. */
const isDispensable = ({ at, field }: ServerConfig.Site): boolean => field === "header" && !at.startsWith("oauth.")

/**
 * The environment variables that are unset now, found without running a command or asking the application. One with
 * severity `error` prevents a connect.
 *
 * @internal
 */
export const unset = (
  config: ServerConfig.ServerConfig,
  environment: Interpolation.Asking["environment"]
): ReadonlyArray<{ readonly at: string; readonly detail: string; readonly severity: "error" | "warning" }> => {
  if (config.expansion === undefined) return []
  const { config: narrowed } = Narrowed.make(config, config.expansion)
  const asking = askingOf(narrowed, config.expansion, environment)
  return ServerConfig.texts(narrowed).flatMap((text) => {
    const { at, field, template } = text
    const references = Template.references(template).filter(({ kind }) => kind === "env")
    if (references.length === 0) return []
    const lookup = Lookups.lookup(asking, field, template)
    return references.flatMap((reference) => {
      const answer = Template.answer(lookup, reference)
      if (Either.isRight(answer) || answer.left.kind !== "variable-unset") return []
      const detail = unsetDetail(reference.name, config.provenance?.provider)
      return [{ at, detail, severity: isDispensable(text) ? "warning" as const : "error" as const }]
    })
  })
}

const resolved = (outside: Outside, config: ServerConfig.ServerConfig, expansion: Expansion.Expansion) =>
  Effect.gen(function*() {
    const host = yield* HostEnvironment.HostEnvironment
    const narrowed = Narrowed.make(config, expansion)
    const asking = askingOf(narrowed.config, expansion, host.variables())
    const answers = new Map<string, string>()
    for (const [variable, wanted] of yield* wants(narrowed.config, asking)) {
      const answer = yield* ask(outside, config, expansion, host, wanted)
      if (answer !== undefined) answers.set(variable, answer)
    }
    const { fields, warnings } = yield* filled(narrowed.config, { ...asking, answers })
    const plain = yield* checked(fields, narrowed.config)
    yield* confidential(narrowed.config, plain)
    const complete = yield* withEnvFile(outside, plain, expansion, host)
    return {
      config: Paths.anchored(complete.config, expansion.directory, Paths.home(expansion, host), host.platform),
      warnings: [...narrowed.warnings, ...warnings, ...complete.warnings]
    }
  })

/** @internal */
export const make = (outside: Outside): Resolution.Resolution["Type"] => {
  const permitted = Effect.fnUntraced(function*(given: ServerConfig.ServerConfig, config: ServerConfig.ServerConfig) {
    const policies = yield* outside.policies
    if (policies.length === 0) return
    // as it was known when it was found, whose values are none of its identity
    const fingerprint = given.expansion === undefined ? Fingerprint.of(given) : given.expansion.fingerprint
    const decision = ServerPolicy.decide(policies, ServerPolicy.subject(config, fingerprint))
    if (decision !== "allowed") {
      return yield* new McpError.PermissionDenied({
        server: config.name,
        why: "policy",
        kind: "server",
        name: config.name,
        decision
      })
    }
  })
  return {
    resolve: (config) =>
      Effect.tap(
        config.expansion !== undefined
          ? resolved(outside, config, config.expansion)
          : Effect.flatMap(HostEnvironment.HostEnvironment, (host) => withEnvFile(outside, config, undefined, host)),
        (resolved) => permitted(config, resolved.config)
      )
  }
}

const nowhere = "cannot be had here: nothing reads files or runs programs (provide Resolution.layer)"

/** @internal */
export const nobody: Resolution.Options = {
  input: () => Effect.succeedNone,
  secret: () => Effect.succeedNone,
  policies: Effect.succeed([])
}

/** @internal */
export const environmentOnly: Resolution.Resolution["Type"] = make({
  ...nobody,
  file: () => Effect.fail(nowhere),
  run: () => Effect.fail(nowhere)
})
