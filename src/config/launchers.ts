/** The programs that start other programs or install packages, and well-known packages, as rows of `launcher.ts` and `hazards.ts`. */

/** A program that only starts another one. */
export interface Wrapper {
  /** Its options that take a value. */
  readonly valued?: ReadonlyArray<string>
  /** The number of its arguments before the program. */
  readonly operands?: number
  /** The option that takes a whole command line as one word. The word may follow it without a space. */
  readonly line?: RegExp
  /** Its other arguments before the program, if they are not as usual: `-x`, `NAME=value`. */
  readonly isOption?: RegExp
}

export const wrappers: ReadonlyMap<string, Wrapper> = new Map([
  ["env", { valued: ["-u", "--unset", "-C", "--chdir"], line: /^(?:-[0iv]*S|--split-string=|--split-string$)/ }],
  ["sudo", { valued: ["-u", "--user", "-g", "--group", "-h", "--host", "-p", "--prompt", "-C", "-D", "--chdir"] }],
  ["doas", { valued: ["-u", "-C"] }],
  ["nohup", {}],
  ["setsid", {}],
  ["time", { valued: ["-f", "-o"] }],
  ["timeout", { valued: ["-k", "--kill-after", "-s", "--signal"], operands: 1 }],
  ["gtimeout", { valued: ["-k", "--kill-after", "-s", "--signal"], operands: 1 }],
  ["nice", { valued: ["-n", "--adjustment"] }],
  ["ionice", { valued: ["-c", "--class", "-n", "--classdata"] }],
  ["stdbuf", { valued: ["-i", "-o", "-e"] }],
  ["wsl", { valued: ["-d", "--distribution", "-u", "--user", "--cd"] }],
  ["cmd", { line: /^\/(?:[^ckr]*\/)?[ckr]/i, isOption: /^(?!--$)[-/]|^\w+=/ }],
  ["command", {}],
  ["exec", { valued: ["-a"] }],
  ["corepack", {}]
])

/**
 * A program that downloads a package and runs it. An option in `named` has the package; without one it is the first
 * word.
 */
export interface Runner {
  readonly ecosystem: "npm" | "python" | "nuget"
  /** The subcommands that run a package; an empty list where the program needs none. */
  readonly verbs: ReadonlyArray<ReadonlyArray<string>>
  /** The subcommand that runs a program of the project, so that only the packages in `also` are downloaded. */
  readonly projectVerb?: string
  readonly named: ReadonlyArray<string>
  /** Options whose values are additional packages. */
  readonly also: ReadonlyArray<string>
  /** Options whose values are run by a shell. */
  readonly shell: ReadonlyArray<string>
  readonly valued: ReadonlyArray<string>
  /**
   * The sign of the server's process among those of the install. `marked`: npm sets `npm_lifecycle_event=npx` for the
   * server only. `child`: the server is a child in the runner's folder; install scripts run in other folders. `same`:
   * the runner's process becomes the server, so they cannot be told apart.
   */
  readonly server: "marked" | "child" | "same"
}

const npx: Runner = {
  ecosystem: "npm",
  verbs: [[]],
  named: ["-p", "--package"],
  also: [],
  shell: ["-c", "--call"],
  valued: ["-w", "--workspace", "--registry", "--cache", "--prefix", "--userconfig", "--loglevel", "-n", "--node-arg"],
  server: "marked"
}

const uvx: Runner = {
  ecosystem: "python",
  verbs: [[]],
  named: ["--from", "--spec"],
  also: ["--with", "-w"],
  shell: [],
  valued: [
    "-p",
    "--python",
    "--index",
    "--index-url",
    "-i",
    "--extra-index-url",
    "--default-index",
    "--find-links",
    "-f",
    "--cache-dir",
    "--directory",
    "--project",
    "--env-file",
    "--with-requirements",
    "--with-editable",
    "--refresh-package",
    "--prerelease",
    "--pip-args"
  ],
  server: "child"
}

const dnx: Runner = {
  ecosystem: "nuget",
  verbs: [[]],
  named: [],
  also: [],
  shell: [],
  valued: [
    "--version",
    "--source",
    "--add-source",
    "--configfile",
    "--framework",
    "-a",
    "--arch",
    "-v",
    "--verbosity"
  ],
  server: "child"
}

export const runners: ReadonlyMap<string, Runner> = new Map([
  ["npx", npx],
  ["npm", { ...npx, verbs: [["exec"], ["x"]] }],
  ["pnpx", { ...npx, server: "child" }],
  ["pnpm", { ...npx, verbs: [["dlx"]], server: "child" }],
  ["yarn", { ...npx, verbs: [["dlx"]], server: "child" }],
  ["bunx", { ...npx, server: "child" }],
  ["bun", { ...npx, verbs: [["x"]], server: "child" }],
  ["uvx", uvx],
  ["uv", {
    ...uvx,
    verbs: [["tool", "run"], ["x"]],
    projectVerb: "run",
    valued: [...uvx.valued, "--extra", "--no-extra", "--group", "--no-group", "--only-group", "--package"]
  }],
  ["pipx", { ...uvx, verbs: [["run"]], server: "same" }],
  ["dnx", dnx],
  ["dotnet", { ...dnx, verbs: [["tool", "exec"], ["dnx"]] }]
])

/** Programs that run containers. */
export const engines: ReadonlyArray<string> = ["docker", "podman", "nerdctl", "finch"]

/** Their options before `run` that take a value. */
export const engineOptions: ReadonlyArray<string> = [
  "-c",
  "--context",
  "-H",
  "--host",
  "-l",
  "--log-level",
  "--config"
]

/** Programs that can run the text of an argument, and the options that make them do so. */
export const interpreters: ReadonlyArray<readonly [programs: string, text: RegExp]> = [
  ["sh bash zsh dash ash ksh fish csh tcsh nu", /^(-[a-z]*c|--command$)/i],
  ["cmd", /^\/.*[ckr]/i],
  ["node", /^(-e|--eval|-p|--print|-pe)(=|$)|^(-r|--require|--import|--loader|--experimental-loader)=(data|https?):/],
  ["bun", /^(-e|--eval|-p|--print)(=|$)/],
  ["python python3 py", /^-c/],
  ["perl", /^-[a-z]*[eE]/],
  ["ruby", /^-[a-z]*e/],
  ["php", /^-r/],
  ["osascript", /^-e/]
]

/** Their options whose value is the next word. */
export const interpreterOptions =
  "-o +o -O +O --rcfile --init-file -r --require --import --loader -C --conditions -W -X -I"

/** The options of `run` of a container engine that take no value. */
export const containerSwitches =
  `--detach --disable-content-trust --init --interactive --no-healthcheck --oom-kill-disable --privileged --publish-all
   --quiet --read-only --replace --rm --sig-proxy --tty --use-api-socket`

/** Well-known scopes and packages, whose names others may imitate. */
export const knownNames = `
  @anthropic-ai @azure @browserbasehq @cloudflare @elastic @github @google @google-cloud @microsoft
  @modelcontextprotocol @mongodb-js @notionhq @openai @playwright @sentry @shopify @stripe @supabase @upstash @vercel
  chrome-devtools-mcp context7-mcp exa-mcp-server fastmcp figma-developer-mcp firecrawl-mcp mcp-proxy mcp-remote
  mcp-server-fetch mcp-server-git mcp-server-kubernetes mcp-server-sqlite mcp-server-time mongodb-mcp-server
  postgres-mcp puppeteer-mcp-server serena-agent supergateway tavily-mcp task-master-ai`

/** Well-known packages of scopes that have many. */
export const knownInScopes = `
  @browserbasehq/mcp @elastic/mcp-server-elasticsearch @modelcontextprotocol/server-brave-search
  @modelcontextprotocol/server-everart @modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem
  @modelcontextprotocol/server-gdrive @modelcontextprotocol/server-github @modelcontextprotocol/server-gitlab
  @modelcontextprotocol/server-google-maps @modelcontextprotocol/server-memory @modelcontextprotocol/server-postgres
  @modelcontextprotocol/server-puppeteer @modelcontextprotocol/server-redis
  @modelcontextprotocol/server-sequential-thinking @modelcontextprotocol/server-slack @notionhq/notion-mcp-server
  @playwright/mcp @sentry/mcp-server @supabase/mcp-server-supabase @upstash/context7-mcp`
