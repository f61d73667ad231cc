/**
 * Turns the templates of a configuration into values, at each connect anew, so that changed values are used and none is
 * kept. Forbidden references fail before anything is asked, and the result is checked like any other configuration.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Util from "node:util"
import * as McpError from "../McpError.ts"
import * as ShellWords from "../text/shellWords.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as ConfigIssue from "./ConfigIssue.ts"
import type * as Dialect from "./Dialect.ts"
import * as Variables from "./environmentVariables.ts"
import * as Fingerprint from "./Fingerprint.ts"
import * as HostEnvironment from "./HostEnvironment.ts"
import * as Interpolation from "./Interpolation.ts"
import * as Paths from "./paths.ts"
import * as Program from "./program.ts"
import * as RemoteHeaders from "./remoteHeaders.ts"
import * as Scope from "./Scope.ts"
import * as Secrets from "./secrets.ts"
import * as ServerConfig from "./ServerConfig.ts"
import * as ServerPolicy from "./ServerPolicy.ts"
import * as Templates from "./templates.ts"
import * as Access from "./variableAccess.ts"

/** The question of an `${input:id}` or a `${secret:id}`. */
export interface Question extends Dialect.Input {
  readonly server: string
  /** The possible authors of the question. A question of a workspace must be answered by a person. */
  readonly origin: Scope.Origin
  readonly secret: boolean
  /** The file of the question; one id can be another question in another file. */
  readonly path: string | undefined
  /** Of the entry that asks. */
  readonly fingerprint: string | undefined
}

export interface Options {
  /**
   * Answers `${input:id}` where the environment has no `MCP_INPUT_<ID>`; without an answer, the default of the file counts.
   */
  readonly input: (question: Question) => Effect.Effect<Option.Option<Redacted.Redacted>>
  /** Answers `${secret:id}` where the environment has no `MCP_SECRET_<ID>`, for example from a keyring. */
  readonly secret: (question: Question) => Effect.Effect<Option.Option<Redacted.Redacted>>
  /** The policies that every configuration must pass after its variables are expanded, regardless of its origin. */
  readonly policies: Effect.Effect<ReadonlyArray<ServerPolicy.Policy>>
}

/** No answers and no policies. */
export const defaults: Options = {
  input: () => Effect.succeedNone,
  secret: () => Effect.succeedNone,
  policies: Effect.succeed([])
}

/** A part of a configuration that is not used; the server connects without it. */
export interface Warning extends ConfigIssue.EntryWarning {
  readonly at: string
  readonly variable: string | undefined
}

export interface Resolved {
  readonly config: ServerConfig.ServerConfig
  readonly warnings: ReadonlyArray<Warning>
  /** The values of references to secret sources, and those with the name of a credential. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

/**
 * Used before each connect. Without a Layer it reads the environment of the process, and has no inputs, secrets, files or
 * programs.
 */
export class Resolution extends Context.Reference<Resolution>()("effect-mcp-runtime/config/Resolution", {
  defaultValue: (): {
    /** Returns the same configuration if it has no templates. It has no time limit of its own. */
    readonly resolve: (config: ServerConfig.ServerConfig) => Effect.Effect<Resolved, McpError.ConnectError>
  } => environmentOnly
}) {}

/** The sources of values beside the environment; an error is a sentence that contains nothing of the value. */
interface Sources extends Options {
  /** The text of a file; a file outside of the folder `within` is refused. */
  readonly file: (path: string, within: string | undefined) => Effect.Effect<string, string>
  /** The output of a program. */
  readonly run: (program: Program.Program) => Effect.Effect<string, string>
}

type Failure = McpError.ConfigurationError

const longestValue = 64 * 1024

const quote = UntrustedText.quote

const invalid = (server: string, path: string, detail: string, variable?: McpError.ConfigurationError["variable"]) =>
  new McpError.ConfigurationError({
    server,
    path: UntrustedText.excerpt(path, 256),
    detail,
    ...(variable === undefined ? {} : { variable })
  })

const missing = (config: ServerConfig.ServerConfig, path: string, failure: Access.Failure) => {
  const { kind, reference } = failure
  const from = reference.kind === "env" ? reference.name : Access.answeredBy(reference)
  return invalid(config.name, path, Access.nextStep(failure, config.provenance?.provider), {
    name: UntrustedText.excerpt(Interpolation.nameOf(reference), 256),
    why: kind,
    ...(from === undefined ? {} : { from: UntrustedText.excerpt(from, 256) })
  })
}

/** The results beside the configuration itself. */
interface Notes {
  readonly warnings: Array<Warning>
  readonly secrets: Set<string>
}

/** A configuration that has templates. */
type Templates = ServerConfig.ServerConfig & { readonly expansion: Scope.Expansion }

/** A bearer token in a variable as a header, so that it is read by the same rules as any other variable. */
const withBearer = (config: Templates): Templates => {
  if (!("bearerTokenEnvVar" in config) || config.bearerTokenEnvVar === undefined) return config
  const { bearerTokenEnvVar, ...rest } = config
  const others = Array.from(config.headers ?? []).filter(([name]) => name.toLowerCase() !== "authorization")
  const bearer = Redacted.make(`Bearer \${env:${bearerTokenEnvVar}}`)
  return { ...rest, headers: new Map([...others, ["authorization", bearer]]) }
}

/** The configuration without the inherited variables that its origin may not read. */
const narrowed = (config: Templates, { warnings }: Notes): Templates => {
  const { grants, origin } = config.expansion
  if (Scope.rights(origin).environment || !("inheritEnv" in config) || config.inheritEnv === undefined) return config
  const { inheritEnv: asked } = config
  const inheritEnv = typeof asked === "boolean"
    ? false
    : asked.filter((name) => grants.includes(name) || Variables.isHarmless(name))
  if (asked === true || (asked !== false && asked.length > (inheritEnv || []).length)) {
    warnings.push({ kind: "ignored-in-project", at: "inheritEnv", variable: undefined })
  }
  return { ...config, inheritEnv }
}

/** The literal variables of an entry. Empty for an origin with the right to the environment, which is read in their place. */
const entryVariablesOf = ({ expansion, ...config }: Templates): ReadonlyMap<string, string> => {
  const { entryVariables = [], onlyEntryVariables, origin } = expansion
  const readsEnv = onlyEntryVariables === true || !Scope.rights(origin).environment
  const env = "env" in config && readsEnv ? config.env ?? [] : []
  return new Map([...env, ...entryVariables].flatMap(([name, value]) => {
    const text = Interpolation.plainText(Redacted.value(value))
    return text === undefined ? [] : [[name, text]]
  }))
}

const askingOf = (config: Templates, environment: Access.Asking["environment"]): Access.Asking => {
  const { grants, inputs = [], onlyEntryVariables, origin, builtins } = config.expansion
  return {
    origin,
    grants,
    entryVariables: entryVariablesOf(config),
    environment: onlyEntryVariables === true ? {} : environment,
    builtins,
    answers: new Map(),
    hidden: new Set(inputs.flatMap(({ id, secret }) => secret === true ? [id] : []))
  }
}

/** The references of a configuration with their values. */
const references = (config: Templates, asking: Access.Asking) =>
  Templates.texts(config).flatMap(({ at, field, template }) => {
    const valueOf = Access.answer(asking, field, template)
    return Interpolation.references(template).map((reference) => ({ at, reference, value: valueOf(reference) }))
  })

/** One trailing line break ends files and outputs, and is no part of the value. */
const trimmed = (text: string): string => text.replace(/\r?\n$/, "")

/** The value that a file, a program or a person gives; nothing if there is no answer. */
const answerOf =
  (sources: Sources, config: Templates, host: HostEnvironment.Host) =>
  (reference: Interpolation.Reference, at: string): Effect.Effect<string | undefined, Failure> => {
    const { expansion } = config
    const { kind, name } = reference
    const home = Paths.home(expansion, host)
    const failed = (detail: string) => invalid(config.name, at, `${quote(Interpolation.nameOf(reference))} ${detail}`)
    if (kind === "file" || kind === "cmd") {
      const argv = ShellWords.withoutShell(name, { home, isWindows: host.platform === "win32" })
      const text = kind === "file"
        ? sources.file(Paths.absolute(name, expansion.directory, home), undefined)
        : argv === undefined
        ? Effect.fail("needs a shell, which is not used: put it into a script")
        : sources.run({ argv, cwd: expansion.directory, host })
      return Effect.mapBoth(text, { onFailure: failed, onSuccess: trimmed })
    }
    const declared = expansion.inputs?.find(({ id }) => id === name)
    const { fingerprint, origin } = expansion
    const secret = kind === "secret" || declared?.secret === true
    const question = { ...declared, id: name, server: config.name, origin, secret, fingerprint }
    const choices = declared?.choices
    const variable = Access.answeredBy(reference) ?? ""
    const set = Access.valueIn(host.variables(), variable)
    const isGranted = Scope.rights(origin).environment || expansion.grants.includes(variable)
    const ask = kind === "secret" ? sources.secret : sources.input
    return Effect.gen(function*() {
      const answer = set !== undefined && isGranted
        ? Option.some(Redacted.make(set))
        : yield* ask({ ...question, path: config.provenance?.path })
      const value = Option.match(answer, { onNone: () => declared?.default, onSome: Redacted.value })
      if (value === undefined && set !== undefined) {
        return yield* missing(config, at, { kind: "variable-forbidden", reference })
      }
      return value === undefined || choices === undefined || choices.includes(value)
        ? value
        : yield* failed("has an answer that is not one of its choices")
    })
  }

/** True if only the scheme of a header is left, such as `Bearer `, because its variable is empty. */
const isEmptied = (value: string): boolean => /^\s*(?:[A-Za-z][A-Za-z0-9-]*\s+)?$/.test(value)

/** The fields with the values of their templates. */
const filled = Effect.fnUntraced(function*(config: Templates, asking: Access.Asking, { secrets }: Notes) {
  const { expansion: _, ...plain } = config
  for (const { at, reference, value } of references(config, asking)) {
    if (Either.isLeft(value)) return yield* missing(config, at, value.left)
    if (value.right.length > longestValue) {
      const name = quote(Interpolation.nameOf(reference))
      return yield* invalid(config.name, at, `${name} is longer than ${longestValue} characters`)
    }
    if (Secrets.isSecret(reference, value.right)) secrets.add(value.right)
  }
  let broken: string | undefined
  const fields = Templates.mapTexts(plain, ({ at, field, template }) => {
    const value = Either.getOrElse(Access.resolve(asking, field, template), () => template)
    // oxlint-disable-next-line no-control-regex
    if ((field === "header" || field === "url" ? /[\0\r\n]/ : /\0/).test(value)) broken ??= at
    // an empty default makes a header optional
    return value !== template && at.startsWith("headers.") && isEmptied(value) ? undefined : value
  })
  return broken === undefined
    ? fields
    : yield* invalid(config.name, broken, "the value contains a line break or a NUL, which cannot be sent")
})

/** Decodes the result. The error of the schema would contain the value, so it names the variables in its place. */
const checked = (fields: object, config: ServerConfig.ServerConfig) =>
  Effect.mapError(ServerConfig.decode(fields), ({ path }) => {
    const root = path.split(".")[0]
    const asked = Templates.texts(config).filter(({ at }) => at.split(".")[0] === root)
    const names = new Set(asked.flatMap(({ template }) => Interpolation.references(template)).map(Interpolation.nameOf))
    const which = Array.from(names).slice(0, 8).map((name) => quote(name)).join(", ")
    return invalid(config.name, path, `not valid after its variables are expanded: check ${which}`)
  })

/** An entry without the right to the environment sends no credentials in the clear. */
const confidential = ({ expansion, ...config }: Templates, plain: ServerConfig.ServerConfig) => {
  if (!("url" in config) || !("url" in plain)) return Effect.void
  if (Scope.rights(expansion.origin).environment || !RemoteHeaders.isClear(new URL(plain.url))) return Effect.void
  return RemoteHeaders.hasCredentials(config)
    ? Effect.fail(invalid(config.name, "url", "it is not encrypted, and credentials would be sent to it: use https"))
    : Effect.void
}

/** The variables of a file, without the names that Node makes of lines that have none. */
export const variablesOf = (file: string): ReadonlyArray<readonly [string, string]> =>
  Object.entries(Util.parseEnv(file.replace(/^\ufeff/, ""))).flatMap(([name, value]) =>
    value === undefined || !/^[A-Za-z_][\w.-]*$/.test(name) ? [] : [[name, value] as const]
  )

const withEnvFile = (
  sources: Sources,
  config: ServerConfig.ServerConfig,
  expansion: Scope.Expansion | undefined,
  host: HostEnvironment.Host,
  { secrets, warnings }: Notes
): Effect.Effect<ServerConfig.ServerConfig, Failure> => {
  if (config.transport !== "stdio" || config.envFile === undefined) return Effect.succeed(config)
  const { env: written = new Map<string, Redacted.Redacted>(), envFile, ...rest } = config
  const path = Paths.absolute(envFile, expansion?.directory, Paths.home(expansion, host))
  const isFree = expansion === undefined || Scope.rights(expansion.origin).substitute
  return sources.file(path, isFree ? undefined : expansion.root ?? expansion.directory).pipe(
    Effect.mapError((detail) => invalid(config.name, "envFile", `the file ${detail}`)),
    Effect.map((text) => {
      const env = new Map<string, Redacted.Redacted>()
      for (const [name, value] of variablesOf(text)) {
        // consent does not show the content of the file, which can change later
        if (!isFree && Variables.effect(name) !== undefined) {
          warnings.push({ kind: "env-dropped", at: "envFile", variable: name })
          continue
        }
        env.set(name, Redacted.make(value))
        if (!written.has(name) && Secrets.isSecret({ kind: "env", name }, value)) secrets.add(value)
      }
      return { ...rest, env: new Map([...env, ...written]) }
    })
  )
}

const hasTemplates = (config: ServerConfig.ServerConfig): config is Templates => config.expansion !== undefined

/** The environment variables that are unset now, found without running a program or asking anything. */
export const unset = (
  config: ServerConfig.ServerConfig,
  environment: Access.Asking["environment"]
): ReadonlyArray<{ readonly at: string; readonly detail: string }> =>
  !hasTemplates(config) ?
    [] :
    references(withBearer(config), askingOf(config, environment)).flatMap(({ at, value }) =>
      Either.isLeft(value) && value.left.kind === "variable-unset" && value.left.reference.kind === "env"
        ? [{ at, detail: Access.nextStep(value.left, config.provenance?.provider) }]
        : []
    )

/** The kinds of references that files, programs and people answer. */
const asked: ReadonlySet<Interpolation.Reference["kind"]> = new Set(["input", "secret", "file", "cmd"])

/** The values of the templates of a configuration, from their sources. */
const fromTemplates = Effect.fnUntraced(
  function*(sources: Sources, found: Templates, host: HostEnvironment.Host, notes: Notes) {
    const config = narrowed(withBearer(found), notes)
    const asking = askingOf(config, host.variables())
    const all = references(config, asking)
    for (const { at, value } of all) {
      if (Either.isLeft(value) && value.left.kind === "variable-forbidden") {
        return yield* missing(config, at, value.left)
      }
    }
    const answers = new Map<string, string | undefined>()
    const ask = answerOf(sources, config, host)
    for (const { at, reference } of all) {
      const name = Interpolation.nameOf(reference)
      if (asked.has(reference.kind) && !answers.has(name)) answers.set(name, yield* ask(reference, at))
    }
    const plain = yield* checked(yield* filled(config, { ...asking, answers }, notes), config)
    yield* confidential(config, plain)
    return plain
  }
)

const fromSources = (sources: Sources): Resolution["Type"] => ({
  resolve: Effect.fnUntraced(function*(found) {
    const host = yield* HostEnvironment.HostEnvironment
    const { expansion, name } = found
    const notes: Notes = { warnings: [], secrets: new Set() }
    const plain = hasTemplates(found) ? yield* fromTemplates(sources, found, host, notes) : found
    const complete = yield* withEnvFile(sources, plain, expansion, host, notes)
    const config = expansion === undefined
      ? complete
      : Paths.anchored(complete, expansion.directory, Paths.home(expansion, host), host.platform)
    // the fingerprint of the entry as it was found, because values are not part of its identity
    const fingerprint = expansion === undefined ? Fingerprint.of(found) : expansion.fingerprint
    const decision = ServerPolicy.decide(yield* sources.policies, ServerPolicy.subject(config, fingerprint))
    if (decision !== "allowed") {
      return yield* new McpError.PermissionDenied({ server: name, why: "policy", kind: "server", name, decision })
    }
    const secrets = new Set([...notes.secrets, ...Secrets.named(config)])
    secrets.delete("")
    return { config, warnings: notes.warnings, secrets: Array.from(secrets, (secret) => Redacted.make(secret)) }
  })
})

const unavailable = () => Effect.fail("is not available here: provide Resolution.layer to read files and run programs")

const environmentOnly = fromSources({ ...defaults, file: unavailable, run: unavailable })

/** True if a real path is the folder, or below it. */
const isInside = (folder: string, path: string): boolean => {
  const outer = folder.replace(/[\\/]+$/, "")
  return path.startsWith(outer) && /^([\\/]|$)/.test(path.slice(outer.length))
}

const readFile = (fs: FileSystem.FileSystem): Sources["file"] => (path, within) =>
  Effect.gen(function*() {
    const tooLarge = `is larger than ${longestValue} bytes`
    // the file that is read is the one that was checked: a link is followed once
    const real = yield* fs.realPath(path)
    if (within !== undefined && !isInside(yield* fs.realPath(within), real)) {
      return yield* Effect.fail("is outside the workspace")
    }
    const { size, type } = yield* fs.stat(real)
    // a pipe or a device may never end
    if (type !== "File") return yield* Effect.fail("is not a regular file")
    if (size > longestValue) return yield* Effect.fail(tooLarge)
    const bytes = yield* fs.readFile(real)
    return bytes.length > longestValue ? yield* Effect.fail(tooLarge) : new TextDecoder().decode(bytes)
  }).pipe(
    Effect.mapError((error) => {
      if (typeof error === "string") return error
      return error._tag === "SystemError" && error.reason === "NotFound" ? "does not exist" : "cannot be read"
    }),
    Effect.timeoutFail({ duration: "2 seconds", onTimeout: () => "could not be read within 2 seconds" })
  )

/**
 * With files (up to 64 KiB, 2 s), programs (no shell, no more of the environment than a server gets, 64 KiB, 10 s), and
 * the answers of the application.
 */
export const make = (options?: Partial<Options>): Effect.Effect<Resolution["Type"], never, FileSystem.FileSystem> =>
  Effect.map(FileSystem.FileSystem, (fs) =>
    fromSources({
      ...defaults,
      ...options,
      file: readFile(fs),
      run: Program.run
    }))

export const layer = (options?: Partial<Options>): Layer.Layer<Resolution, never, FileSystem.FileSystem> =>
  Layer.effect(Resolution, make(options))

/** Answers for tests: inputs and secrets by id, files by absolute path, outputs by command line. */
export interface Answers {
  readonly inputs?: Readonly<Record<string, string>> | undefined
  readonly secrets?: Readonly<Record<string, string>> | undefined
  readonly files?: Readonly<Record<string, string>> | undefined
  readonly programs?: Readonly<Record<string, string>> | undefined
  readonly policies?: ReadonlyArray<ServerPolicy.Policy> | undefined
}

export const layerTest = (
  { files, inputs, policies = [], programs, secrets }: Answers = {}
): Layer.Layer<Resolution> => {
  const find = (among: Readonly<Record<string, string>> = {}, key: string) =>
    Option.fromNullable(Access.valueIn(among, key))
  const orElse = (found: Option.Option<string>) => Effect.mapError(found, () => "does not exist")
  return Layer.succeed(
    Resolution,
    fromSources({
      input: ({ id }) => Effect.succeed(Option.map(find(inputs, id), Redacted.make)),
      secret: ({ id }) => Effect.succeed(Option.map(find(secrets, id), Redacted.make)),
      policies: Effect.succeed(policies),
      file: (path) => orElse(find(files, path)),
      run: ({ argv }) => orElse(find(programs, argv.join(" ")))
    })
  )
}
