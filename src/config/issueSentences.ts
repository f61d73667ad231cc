/**
 * The faults and warnings of configurations: the fault and its remedy, by kind. `{at}` is the field or key, `{host}` the host,
 * and `{detail}` the detail, which follows in parentheses where it is not named.
 */

/** Faults of a whole file: none of its servers is used. */
export const fileFaults = {
  unreadable: "The file cannot be read: check that it exists and that you have permission to read it",
  "insecure-file":
    "Other users can change the file or its folder: own both yourself, and remove write permission for others",
  "not-a-file": "This is not a regular file: replace it with one",
  "file-too-large": "The file is larger than the limit for a configuration: remove what does not belong in it",
  encoding: "The file is not UTF-8: save it as UTF-8",
  "nesting-too-deep": "The file is nested too deeply: flatten it",
  "too-many-entries": "The file has too many entries: split or shorten it",
  syntax: "The file has a syntax error, so none of its servers are used: fix the syntax",
  "alias-limit": "The file uses too many aliases: write the values out",
  "duplicate-root-key": "The key {at} appears twice: merge the two",
  "root-not-object": "The top level of the file is not an object: put the servers into an object under their root key",
  "servers-not-a-map": "The value of {at} is not an object of servers by name: make it one",
  "unsupported-schema":
    "The file does not name a known schema: set $schema to the version that the file is written for",
  "unknown-import": "The list {at} names an unknown host: correct or remove it",
  "invalid-policy": "The policy rule {at} is not valid and is ignored: correct it",
  "invalid-permission": "The rule {at} is not valid, and everything that it could cover is denied until it is corrected"
}

/** Faults of one entry: it is not used, and still owns its name. */
export const entryFaults = {
  "not-an-object": "The entry is not an object: give it a command or a url",
  "missing-name": "The entry has no name: add one",
  "invalid-name":
    "The name is not valid: use 1 to 128 visible characters of one script, without *, and do not begin with a hyphen",
  "reserved-name": "The name is reserved: choose another one",
  "reserved-key": "The key {at} is reserved, so it is a mistake or an attack: remove it",
  "missing-transport": "The entry does not say how to reach the server: add a command or a url",
  "missing-type": "The entry needs a type: use stdio, streamable-http or sse",
  "ambiguous-transport": "The entry has both a command and a url: remove one, or add a type",
  "ambiguous-url": "The entry has several different urls: keep one",
  "transport-mismatch": "The type does not match the rest of the entry: correct the type, or the field {at}",
  "unknown-transport": "The transport in {at} is unknown: use stdio, streamable-http, sse or ws",
  "unknown-key": "The key {at} is unknown: correct its spelling or remove it",
  "invalid-type": "The field {at} has the wrong type: correct it",
  "invalid-value": "The value of {at} is not valid: correct it",
  "empty-command": "The command is empty: name a program",
  "empty-url": "The url is empty: enter the whole address, with its scheme",
  "invalid-url": "The url is not valid: enter the whole address, with its scheme",
  "unsupported-url-scheme": "The scheme of the url is not supported: use http, https, ws or wss",
  "insecure-url": "The url is not encrypted, so others can read and change what is sent: use https",
  "invalid-header": "The header {at} cannot be sent: correct its name and value, or leave it to the client",
  "invalid-env": "The variable {at} cannot be passed to a program: correct its name and value",
  "path-escape": "The path in {at} leads outside its folder: keep it inside",
  "unsupported-field": "The field {at} is supported neither here nor by {host}: remove it",
  "not-an-mcp-server": "The entry belongs to the host itself and is not a server: ignore it",
  "needs-gateway": "The server is an image that Docker's gateway runs: add the gateway as a server",
  "variable-forbidden": "A workspace file may not read the variable in {at}: grant it, or write the value",
  "variable-unset": "{detail}",
  "input-required": "An input in {at} has no answer: provide one",
  "policy-denied": "A policy denies this server: ask the owner of the policy"
}

/** Faults that do not keep a server from being used. */
export const warnings = {
  coerced: "The value of {at} is not a string: put it in quotes, or correct its type",
  "host-would-reject": "The host {host} would reject this entry: write it in the format of that host",
  "unused-field": "The field {at} has no effect here: remove it",
  deprecated: "The spelling {at} is deprecated: use its replacement",
  "timeout-suspicious": "The time in {at} is unusual for the unit that this host uses: check it",
  "invalid-timeout": "The time in {at} is not valid and is ignored: use a positive number",
  "command-line":
    "The field {at} is a whole command line, and no shell reads it: {detail}, and put each other word into args",
  whitespace: "The value of {at} begins or ends with a space or a line break: remove it if it is not intended",
  "url-userinfo": "The url contains a user or a password: put credentials into a header",
  "looks-like-variable": "The text in {at} looks like a variable, but this host does not expand it: check it",
  "command-substitution": "The value of {at} is the output of a program that runs at each connect: check it",
  "conflicting-enabled": "The entry is both enabled and disabled, and counts as disabled: keep one of the two",
  "name-not-portable": "Some clients reject such a name: prefer 1 to 64 letters, digits, _ and -",
  "duplicate-key": "The key {at} appears twice, and the last one is used: remove one",
  "duplicate-name": "Two servers are named {at}, and the last one is used: rename one",
  "env-dropped":
    "{at} makes programs load other code or trust other certificates, and is ignored: set it in a user file",
  "wrong-root-key": "The servers are under {at}, the root key of another host: rename the key",
  "empty-file": "The file is empty: add servers or remove it",
  "no-servers": "The file has no servers: put them under the root key of its host",
  "bom-stripped": "The file begins with a byte order mark, which some hosts reject: save it without one",
  "jsonc-in-strict-json": "{host} accepts neither comments nor trailing commas: remove them",
  "ignored-in-project": "A workspace file may not set {at}, so it is ignored: set it in a user file",
  "not-inherited":
    "The {at} of a lower-priority file are for another address or program and are not inherited: repeat them if you want them",
  "unpinned-package": "The package in {at} has no exact version, so what runs can change: pin it",
  "near-name": "The package in {at} has almost the name of a well-known one: check its spelling",
  "remote-code": "The program in {at} is downloaded from an address and run: check that you trust it",
  "privileged-container": "The container in {at} gets privileges on this machine: remove them",
  "visible-secret": "The value of {at} looks like a secret, which every process can see: use a variable",
  "launch-override": "Check {at} before you approve: {detail}",
  "not-honoured": "The field {at} is not supported: {detail}"
}

/** The usual `{detail}`. */
export const usualDetail: { readonly [kind: string]: string } = {
  "variable-unset": "A variable in {at} has no value: set it, or give it a default",
  "command-line": "put only the program there",
  "launch-override": "it decides which program runs, or which hosts it talks to",
  "not-honoured": "it has no effect here"
}

/** The hazards of a command line: the kind of the warning, and its detail with the names of what was found. */
export const hazards = {
  elsewhere: {
    kind: "remote-code",
    detail: "It runs code from an address or a repository instead of a package registry."
  },
  shellText: { kind: "remote-code", detail: "A shell runs the text of an argument." },
  text: {
    kind: "remote-code",
    detail: "It runs the text of an argument, so the name of the program does not tell what it does."
  },
  downloaded: { kind: "remote-code", detail: "It runs code that is downloaded from an address." },
  newest: {
    kind: "unpinned-package",
    detail: "The newest version of the package{name} is downloaded; add an exact version."
  },
  image: {
    kind: "unpinned-package",
    detail: "The image{name} can change; add its digest (@sha256:…)."
  },
  nearName: {
    kind: "near-name",
    detail: "The package{name} has almost the name of {known}; check its spelling."
  },
  allRights: { kind: "privileged-container", detail: "The container has all privileges on this machine." },
  notSeparated: { kind: "privileged-container", detail: "The container is not isolated from this machine." },
  moreRights: {
    kind: "privileged-container",
    detail: "The container gets privileges that containers do not have by default."
  },
  unprotected: {
    kind: "privileged-container",
    detail: "The container runs without the usual protection of containers."
  },
  device: { kind: "privileged-container", detail: "The container gets access to a device or to the engine's socket." },
  engine: { kind: "privileged-container", detail: "The container can start other containers with all privileges." },
  allFiles: { kind: "privileged-container", detail: "The container sees all files of this machine or of a user." },
  inAddress: { kind: "visible-secret", detail: "A secret in an address is stored in logs; put it into headers." },
  inArgument: { kind: "visible-secret", detail: "Other programs can see a secret in arguments; put it into env." },
  open: {
    kind: "launch-override",
    detail: "A variable decides which option, package or image is used, so it cannot be checked."
  },
  folder: { kind: "launch-override", detail: "The program is looked up in this folder." },
  code: { kind: "launch-override", detail: "It makes the program load or run other code." },
  trust: { kind: "launch-override", detail: "It disables checks of the program's connections." },
  program: {
    kind: "launch-override",
    detail: "It decides where programs, packages or settings are found."
  },
  peer: {
    kind: "launch-override",
    detail: "It decides which host connections go through, or which certificates they accept."
  }
} as const
