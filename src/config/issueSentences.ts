/**
 * The faults and warnings of configurations: the fault and its remedy, by kind. `{at}` is the field or key, `{host}` the host,
 * and `{detail}` the detail, which follows in parentheses where it is not named.
 */

/** Faults of a whole file: none of its servers is used. */
export const fileFaults = {
  unreadable: "The file cannot be read: check that it exists and that you may read it",
  "insecure-file": "Other users may change the file or its folder: make it yours, and writable for you alone",
  "not-a-file": "This is not a regular file: put a file in its place",
  "file-too-large": "The file is larger than a configuration may be: remove what does not belong in it",
  encoding: "The file is not UTF-8: save it as UTF-8",
  "nesting-too-deep": "The file is nested too deeply: flatten it",
  "too-many-entries": "The file has too many entries: split or shorten it",
  syntax: "The file cannot be parsed, so none of its servers is used: correct the syntax",
  "alias-limit": "The file repeats its parts by too many aliases: write them out",
  "duplicate-root-key": "The key {at} is there twice, and only one can count: join them",
  "root-not-object": "The top of the file is not a table: put the servers into an object with their root key",
  "servers-not-a-map": "What is under {at} is not a map of servers by name: make it one",
  "unsupported-schema": "The file does not name a schema that is known: give $schema the version it is written for",
  "unknown-import": "The list {at} names a host that is not known: correct or remove it",
  "invalid-policy": "The rule {at} of the policy cannot be understood and is left out: correct it",
  "invalid-permission":
    "The rule {at} cannot be understood, and until it is corrected nothing is permitted that it could be about"
}

/** Faults of one entry: it is not used, and still owns its name. */
export const entryFaults = {
  "not-an-object": "The entry is not a table: give it a command or a url",
  "missing-name": "The entry has no name: give it one",
  "invalid-name":
    "The name cannot be used: take 1 to 128 characters, all seen and of one script, without *, and no hyphen at its beginning",
  "reserved-name": "The name is reserved: take another one",
  "reserved-key": "The key {at} is reserved and can only be there by mistake or malice: remove it",
  "missing-transport": "It is not said how to reach the server: give it a command or a url",
  "missing-type": "The entry needs a type: write stdio, streamable-http or sse",
  "ambiguous-transport": "It has a command and a url, and nothing says which counts: remove one, or write a type",
  "ambiguous-url": "It has several urls that differ: keep one",
  "transport-mismatch": "The type does not go with the rest of the entry: correct the type, or give it the right {at}",
  "unknown-transport": "The word in {at} is no transport: write stdio, streamable-http, sse or ws",
  "unknown-key": "The key {at} is not known here: correct its spelling or remove it",
  "invalid-type": "The field {at} has the wrong type: correct it",
  "invalid-value": "The field {at} has a value that cannot be used: correct it",
  "empty-command": "The command is empty: name a program",
  "empty-url": "The url is empty: write it out, with its scheme",
  "invalid-url": "The url is not one: write it out, with its scheme",
  "unsupported-url-scheme": "The scheme of the url is not supported: use http, https, ws or wss",
  "insecure-url": "The url is not encrypted, so that others can read and change what is sent: use https",
  "invalid-header": "The header {at} cannot be sent: correct its name and value, or leave it to the client",
  "invalid-env": "The variable {at} cannot be handed to a program: correct its name and value",
  "path-escape": "The path in {at} leads out of its folder: keep it inside",
  "unsupported-field": "The field {at} cannot be used here, nor by {host}: remove it",
  "not-an-mcp-server": "The entry belongs to the host itself and is not a server that can be started: ignore it",
  "needs-gateway": "The server is an image that Docker's gateway runs: add the gateway as a server",
  "variable-forbidden": "A file of the workspace may not read that variable in {at}: grant it, or write the value",
  "variable-unset": "{detail}",
  "input-required": "An input in {at} has no answer: give one",
  "policy-denied": "A policy forbids this server: ask the author of the policy"
}

/** Faults that do not keep a server from being used. */
export const warnings = {
  coerced: "The field {at} is not written as text, as it should be: put it in quotes, or correct its type",
  "host-would-reject": "The host {host} itself would not take this entry as it is: write it in its own way",
  "unused-field": "The field {at} has no effect here: remove it",
  deprecated: "The spelling {at} is an old one: use the one that replaced it",
  "timeout-suspicious": "The time in {at} is unlikely in the unit that this host has: check it",
  "invalid-timeout": "The time in {at} is not one and is left out: write a positive number",
  "command-line":
    "The field {at} is a whole line, and no shell reads it: {detail}, and each of the other words as an element of args",
  whitespace: "There is space or a line break around the text of {at}: remove it if it is not meant",
  "url-userinfo": "The url has a user or password in it: put credentials into a header",
  "looks-like-variable": "What looks like a variable in {at} is none for this host and stays as it is: check it",
  "command-substitution": "The value of {at} is the output of a program that is run at each connect: check it",
  "conflicting-enabled": "The entry says both that it is on and that it is off, and counts as off: keep one",
  "name-not-portable": "Not every client takes such a name: prefer 1 to 64 letters, digits, _ and -",
  "duplicate-key": "The key {at} is there twice, and the last one counts: remove one",
  "duplicate-name": "Two servers are called {at}, and the last one counts: rename one",
  "env-dropped": "{at} makes programs load other code, or trust others, and is left out: set it in a file of your own",
  "wrong-root-key": "Servers stand under {at}, which is the key of another host: rename it",
  "empty-file": "The file is empty: add servers or remove it",
  "no-servers": "There are no servers in the file: put them under the root key of its host",
  "bom-stripped": "The file begins with a byte order mark, which some hosts refuse: save it without one",
  "jsonc-in-strict-json": "{host} takes neither comments nor trailing commas: remove them",
  "ignored-in-project": "A file of a workspace may not say {at}, so it is left out: set it in a file of your own",
  "not-inherited":
    "The {at} of a weaker file are for another address or program and do not follow: write them again if they are meant",
  "unpinned-package": "The package in {at} has no exact version, so what runs can change: pin it",
  "near-name": "The package in {at} is called almost like a well-known one: check its name",
  "remote-code": "The program in {at} is fetched from an address and run: check that you trust it",
  "privileged-container": "The container in {at} gets power over this machine: take it away",
  "visible-secret": "The value of {at} looks like a secret, and every process can see it: use a variable",
  "launch-override": "Check {at} before you agree: {detail}",
  "not-honoured": "The field {at} is not supported: {detail}"
}

/** The usual `{detail}`. */
export const usualDetail: { readonly [kind: string]: string } = {
  "variable-unset": "A variable in {at} has no value: set it, or give it a default",
  "command-line": "write the program alone there",
  "launch-override": "it decides which program runs, or which hosts it talks to",
  "not-honoured": "it has no effect here"
}

/** The hazards of a command line: the kind of the warning, and its detail with the names of what was found. */
export const hazards = {
  elsewhere: {
    kind: "remote-code",
    detail: "It runs code from an address or a repository, past any package registry."
  },
  shellText: { kind: "remote-code", detail: "It has a shell run the text of an argument." },
  text: {
    kind: "remote-code",
    detail: "It runs the text of an argument, so what it does is not what the program's name says."
  },
  downloaded: { kind: "remote-code", detail: "It runs code that is downloaded from an address." },
  newest: {
    kind: "unpinned-package",
    detail: "The package{name} is downloaded in its newest version; write an exact one after it."
  },
  image: {
    kind: "unpinned-package",
    detail: "The image{name} can become another one; write its digest (@sha256:…) after its name."
  },
  nearName: {
    kind: "near-name",
    detail: "The package{name} has nearly the name of {known}, and is not it; check how it is spelled."
  },
  allRights: { kind: "privileged-container", detail: "The container has all rights on this machine." },
  notSeparated: { kind: "privileged-container", detail: "The container is not separated from this machine." },
  moreRights: { kind: "privileged-container", detail: "The container gets rights that containers do not have." },
  unprotected: { kind: "privileged-container", detail: "The container loses the protection of containers." },
  device: { kind: "privileged-container", detail: "The container gets a device or the engine's socket." },
  engine: { kind: "privileged-container", detail: "The container can start other containers with all rights." },
  allFiles: { kind: "privileged-container", detail: "The container sees all files of this machine or person." },
  inAddress: { kind: "visible-secret", detail: "A secret in an address is kept in logs; put it into headers." },
  inArgument: { kind: "visible-secret", detail: "Other programs can see a secret in arguments; put it into env." },
  open: {
    kind: "launch-override",
    detail: "A variable decides which option, package or image this is, so it cannot be checked."
  },
  folder: { kind: "launch-override", detail: "The program is looked up in this folder." },
  code: { kind: "launch-override", detail: "It makes the program load or run other code." },
  trust: { kind: "launch-override", detail: "It switches off checks of the program's connections." },
  program: {
    kind: "launch-override",
    detail: "It decides where programs, packages or settings are found."
  },
  peer: {
    kind: "launch-override",
    detail: "It decides which host connections go through, or which certificates they accept."
  }
} as const
