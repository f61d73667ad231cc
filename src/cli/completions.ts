/** Completions of the last word of a line, for shells and the repl, and the completion scripts of shells. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Shape from "../json/describe.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as Application from "./Application.ts"
import * as Command from "./Command.ts"
import * as CommandLine from "./commandLine.ts"
import * as Lookup from "./lookup.ts"
import { identityOf, spelled } from "./offered.ts"
import * as Screen from "./Screen.ts"

/** The names that can be completed. */
export interface Known {
  readonly servers: ReadonlyArray<string>
  /** The parameters of each tool, by `server/tool`. */
  readonly tools: ReadonlyMap<string, ReadonlyArray<string>>
}

export const unknown: Known = { servers: [], tools: new Map() }

/** The tools of connected servers, and the cached tools of the others. */
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
 * The runtime reads its cache in the background, so this waits until all servers, or the typed one, are known, for at most
 * half a second.
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

const maxCandidates = 200

/** Words that need no quotes in a shell. */
const plain = /^[\w./:@=-]+$/

/** The option or argument that the last word belongs to. */
const nextOf = ({ open, words }: CommandLine.Read, command: Command.Loaded | undefined) =>
  open ?? command?.args[words.length - 1] ?? command?.args.find(({ repeated }) => repeated === true)

/** What the options and arguments of these names complete to. */
const sources = new Map<string | undefined, keyof Known>([
  ["server", "servers"],
  ["share", "servers"],
  ["tool", "tools"],
  ["argument", "tools"]
])

const among = (
  words: ReadonlyArray<string>,
  word: string,
  commands: ReadonlyArray<Command.Named>,
  command: Command.Loaded | undefined,
  known: Known
): Iterable<Candidate | string> => {
  const read = CommandLine.read(words, command)
  const [name, ref = "", ...rest] = read.words
  const parameters = name === "call" ? known.tools.get(ref) ?? [] : []
  if (read.open === undefined && word.startsWith("-")) {
    const builtIn = command === undefined ? CommandLine.builtInOptions : []
    const options = [...command?.options ?? [], ...CommandLine.sharedOptions, ...builtIn]
    return [
      ...options.map(({ about, name }) => ({ word: `--${name}`, about })),
      ...parameters.map((name) => `--${name}`)
    ]
  }
  const isCommand = name === undefined || (name === "help" && ref === "" && rest.length === 0)
  if (read.open === undefined && isCommand) return commands.map(({ name, summary }) => ({ word: name, about: summary }))
  const next = nextOf(read, command)
  if (next?.name === "argument") return parameters.map((name) => `${name}=`)
  if (next?.name === "import") return [...Lookup.hosts, "all"]
  const source = sources.get(next?.name)
  return next?.choices ?? (source === undefined ? [] : source === "servers" ? known.servers : known.tools.keys())
}

/** The completions of the last word. */
export const candidates = (
  words: ReadonlyArray<string>,
  word: string,
  commands: ReadonlyArray<Command.Named>,
  command: Command.Loaded | undefined,
  known: Known
): ReadonlyArray<Candidate> =>
  Array.from(among(words, word, commands, command, known), (one) => typeof one === "string" ? { word: one } : one)
    .filter((one) => one.word.startsWith(word) && plain.test(one.word))
    .slice(0, maxCandidates)

/** Prints one completion per line, with its description after a tab. Starts no server. */
export const print = (
  line: ReadonlyArray<string>,
  commands: ReadonlyArray<Command.Entry>
): Effect.Effect<void, Command.Failure, Screen.Screen> =>
  Effect.gen(function*() {
    const [words, word = ""] = [line.slice(0, -1), line.at(-1)]
    const entry = CommandLine.entryIn(CommandLine.read(words), commands)
    const command = entry && (yield* Command.load(entry))
    const read = CommandLine.read(words, command)
    const shared = CommandLine.sharedOf(read.given)
    const source = sources.get(nextOf(read, command)?.name)
    const known = source === undefined
      ? unknown
      : source === "servers"
      ? { ...unknown, servers: (yield* Lookup.look(shared, Effect.succeed)).discovery.servers.map(({ name }) => name) }
      : yield* Application.use(shared, () => Effect.succeed({ lazy: true }), cached(read.words[1] ?? word))
    const found = candidates(words, word, commands, command, known)
    const screen = yield* Screen.Screen
    yield* screen.out(
      ...found.map(({ about, word }) => about === undefined ? word : `${word}\t${UntrustedText.excerpt(about, 100)}`)
    )
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

/** The script of a shell. It runs the program for each completion, so it never gets out of date. */
export const script = (shell: string): string => shell === "zsh" ? zsh : shell === "fish" ? fish : bash
