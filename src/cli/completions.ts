/** The words that may stand at the end of a line, for shells and the repl, and the scripts that shells ask with. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Shape from "../json/describe.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as Application from "./Application.ts"
import * as Command from "./Command.ts"
import { builtInOptions, entryIn, sharedOf, sharedOptions } from "./commandLine.ts"
import * as ExitCode from "./ExitCode.ts"
import * as Lookup from "./lookup.ts"
import { identityOf, spelled } from "./offered.ts"
import * as Screen from "./Screen.ts"

/** The names that only the servers tell. */
export interface Known {
  readonly servers: ReadonlyArray<string>
  /** The parameters of each tool, by `server/tool`. */
  readonly tools: ReadonlyMap<string, ReadonlyArray<string>>
}

export const unknown: Known = { servers: [], tools: new Map() }

/** The tools of connected servers, and those in the cache of the others. */
export const knownOf = ({ discovery, runtime }: Pick<Application.Application, "discovery" | "runtime">) =>
  Effect.map(runtime.offered(0).tools, ({ tools }): Known => ({
    servers: discovery.servers.map(({ name }) => name),
    tools: new Map(
      tools.map((tool) => [
        spelled(identityOf(tool)),
        Shape.parameters(tool.inputSchema).map(({ name }) => name)
      ])
    )
  }))

/**
 * The cache is read while the runtime starts, so it is asked until every server is known that can be, or the one that the
 * person has named, for half a second at most.
 */
const cached = (ref: string) => (application: Application.Application) =>
  application.runtime.offered(0).tools.pipe(
    Effect.repeat({
      schedule: Schedule.intersect(Schedule.spaced("20 millis"), Schedule.recurs(25)),
      until: ({ missing }) => {
        const open = missing.filter(({ status }) => status._tag === "Idle").map(({ server }) => server)
        const named = application.discovery.servers.find(({ name }) => ref.startsWith(`${name}/`))
        return open.length === 0 || (named !== undefined && !open.includes(named.name))
      }
    }),
    Effect.zipRight(knownOf(application))
  )

interface Candidate {
  readonly word: string
  readonly about?: string | undefined
}

interface Read {
  readonly args: ReadonlyArray<string>
  readonly given: ReadonlyMap<string, ReadonlyArray<string>>
  /** The option whose value comes next. */
  readonly open: Command.Option | undefined
}

/** Words that may be incomplete or wrong. */
const read = (words: ReadonlyArray<string>, options: ReadonlyArray<Command.Option>): Read => {
  const args: Array<string> = []
  const given = new Map<string, Array<string>>()
  let open: Command.Option | undefined
  for (const word of words) {
    const [, name, inline] = /^--?([^=]+)(?:=(.*))?$/s.exec(word) ?? []
    if (open !== undefined) {
      given.set(open.name, [...given.get(open.name) ?? [], word])
      open = undefined
    } else if (name === undefined) args.push(word)
    else {
      const option = options.find((one) => one.name === name || one.short === name)
      if (option?.value === undefined || inline !== undefined) given.set(name, [...given.get(name) ?? [], inline ?? ""])
      else open = option
    }
  }
  return { args, given, open }
}

const named = (words: Iterable<string>): ReadonlyArray<Candidate> => Array.from(words, (word) => ({ word }))

const valuesOf = ({ choices, name }: Command.Option, { servers }: Known): ReadonlyArray<Candidate> =>
  named(
    choices ?? (name === "import" ? [...Lookup.hosts, "all"] : name === "server" || name === "share" ? servers : [])
  )

const among = (
  words: ReadonlyArray<string>,
  word: string,
  commands: ReadonlyArray<Command.Named>,
  command: Command.Loaded | undefined,
  known: Known
): ReadonlyArray<Candidate> => {
  const options = [...command?.options ?? [], ...sharedOptions, ...(command === undefined ? builtInOptions : [])]
  const { args, open } = read(words, options)
  if (open !== undefined) return valuesOf(open, known)
  const parameters = args[0] === "call" && args[1] !== undefined ? known.tools.get(args[1]) ?? [] : []
  if (word.startsWith("-")) {
    return [
      ...options.map(({ about, name }) => ({ word: `--${name}`, about })),
      ...named(parameters.map((name) => `--${name}`))
    ]
  }
  const [name, ...rest] = args
  if (name === undefined || (name === "help" && rest.length === 0)) {
    return commands.map(({ name, summary }) => ({ word: name, about: summary }))
  }
  if (parameters.length > 0) return named(parameters.map((name) => `${name}=`))
  const argument = argumentAt(command, rest.length)
  if (argument?.choices !== undefined) return named(argument.choices)
  return argument?.name === "tool"
    ? named(known.tools.keys())
    : argument?.name === "server"
    ? named(known.servers)
    : []
}

/** Shells and the repl show and insert these without quotes. */
const plain = /^[\w./:@=-]+$/

const most = 200

const argumentAt = (command: Command.Loaded | undefined, at: number): Command.Argument | undefined =>
  command?.args[at] ?? command?.args.find(({ repeated }) => repeated === true)

/** The words that the last one may become. */
export const candidates = (
  words: ReadonlyArray<string>,
  word: string,
  commands: ReadonlyArray<Command.Named>,
  command: Command.Loaded | undefined,
  known: Known
): ReadonlyArray<Candidate> =>
  among(words, word, commands, command, known).filter((one) => one.word.startsWith(word) && plain.test(one.word))
    .slice(0, most)

/** Which names a word can need: the discovery is read for servers, and the cache as well for tools. */
const needs = (words: ReadonlyArray<string>, command: Command.Loaded | undefined): "nothing" | "servers" | "tools" => {
  const { args, open } = read(words, [...command?.options ?? [], ...sharedOptions])
  if (open !== undefined) return open.name === "server" || open.name === "share" ? "servers" : "nothing"
  const argument = argumentAt(command, Math.max(0, args.length - 1))?.name
  return command !== undefined && (argument === "tool" || argument === "argument")
    ? "tools"
    : argument === "server"
    ? "servers"
    : "nothing"
}

/** Prints what the last word may become, one in a line, with its explanation behind a tab. It starts no server. */
export const print = (
  line: ReadonlyArray<string>,
  commands: ReadonlyArray<Command.Entry>
): Effect.Effect<ExitCode.ExitCode, Command.Failure, Screen.Screen> =>
  Effect.gen(function*() {
    const [words, word = ""] = [line.slice(0, -1), line.at(-1)]
    const entry = yield* Effect.orElseSucceed(entryIn(words, commands), () => undefined)
    const command = entry === undefined || entry === "help" ? undefined : yield* Command.load(entry)
    const shared = sharedOf(read(words, sharedOptions).given)
    const need = needs(words, command)
    const known = need === "nothing"
      ? unknown
      : need === "servers"
      ? { ...unknown, servers: (yield* Lookup.look(shared, Effect.succeed)).discovery.servers.map(({ name }) => name) }
      : yield* Application.use(shared, () =>
        Effect.succeed({ rests: true }), cached(read(words, sharedOptions).args[1] ?? word))
    const found = candidates(words, word, commands, command, known)
    const screen = yield* Screen.Screen
    yield* screen.out(
      ...found.map(({ about, word }) =>
        about === undefined ? word : `${word}\t${UntrustedText.excerpt(about, 100)}`
      )
    )
    return ExitCode.ok
  })

const bash = `_mcp_runtime() {
  local IFS=$'\\n' word=\${COMP_WORDS[COMP_CWORD]} words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=($(mcp-runtime --complete "\${words[@]}" 2>/dev/null | cut -f1))
  case \${COMPREPLY[0]} in *=) compopt -o nospace 2>/dev/null ;; esac
}
complete -o default -F _mcp_runtime mcp-runtime effect-mcp-runtime`

const zsh = `#compdef mcp-runtime effect-mcp-runtime
_mcp_runtime() {
  local -a found
  found=("\${(@f)$(mcp-runtime --complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("\${(@)\${(@)found//:/\\\\:}/$'\\t'/:}")
  if [[ -n \${found[1]} ]]; then _describe mcp-runtime found; else _files; fi
}
compdef _mcp_runtime mcp-runtime effect-mcp-runtime`

const fish = `function __mcp_runtime
  set -l found (mcp-runtime --complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c mcp-runtime -f -a '(__mcp_runtime)'
complete -c effect-mcp-runtime -f -a '(__mcp_runtime)'`

/** A script that asks the program at each key, so that it knows every server and tool, and never ages. */
export const script = (shell: string): string => shell === "zsh" ? zsh : shell === "fish" ? fish : bash
