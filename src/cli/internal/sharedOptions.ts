import type * as Command from "../Command.ts"

/** What every command can be told, before its name or behind it. */
export const sharedOptions: ReadonlyArray<Command.Option> = [
  { name: "json", about: "Write JSON: one document, or one a line where there is no end." },
  { name: "root", value: "DIR", about: "The workspace, in the place of the one around the current folder." },
  {
    name: "import",
    value: "HOST",
    repeated: true,
    about: "Read the files of this host too (claude-code, cursor, …, all)."
  },
  { name: "config", value: "FILE", repeated: true, about: "Read this file, and no others." },
  { name: "server", value: "NAME", repeated: true, about: "Only this server." },
  {
    name: "timeout",
    value: "DURATION",
    about: "How long a server may take to start, and then to answer: 500ms, 30s, 2m."
  },
  { name: "quiet", short: "q", about: "Say nothing but results and errors." },
  { name: "verbose", short: "v", about: "Tell on the standard error what happens." },
  { name: "no-color", about: "Write no colours, as NO_COLOR does." }
]

/** What is answered without running anything. */
export const builtInOptions: ReadonlyArray<Command.Option> = [
  { name: "help", short: "h", about: "Explain the program, or the command." },
  { name: "version", about: "Tell the version." },
  {
    name: "completions",
    value: "SHELL",
    choices: ["bash", "zsh", "fish", "sh"],
    about: "Write a script for this shell that completes what is typed."
  }
]
