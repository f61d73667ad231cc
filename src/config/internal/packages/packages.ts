/**
 * How a package of the registry is started, by its kind.
 *
 * @internal
 */

/** What the document says of a package, as templates where it asks. @internal */
export interface Parts {
  readonly runtime: ReadonlyArray<string>
  readonly identifier: string
  readonly version: string | undefined
  readonly args: ReadonlyArray<string>
  readonly env: ReadonlyArray<string>
}

/** @internal */
export interface Kind {
  /** What a package of this kind may be called: anything else would be an option or a source of its own to the program. */
  readonly identifier: RegExp
  /** Whose registry the program asks. A package of the same name in another one is another package. */
  readonly domain: string
  /** By what the document hints at; the first is the default. */
  readonly runtimes: ReadonlyMap<string, (parts: Parts) => ReadonlyArray<string>>
}

const at = ({ identifier, version }: Parts, between: string): string =>
  version === undefined ? identifier : `${identifier}${between}${version}`

const image = ({ identifier, version }: Parts): string =>
  version === undefined || /[:@]/.test(identifier.slice(identifier.lastIndexOf("/") + 1))
    ? identifier
    : `${identifier}:${version}`

const container = (parts: Parts): ReadonlyArray<string> => {
  const runtime = parts.runtime[0] === "run" ? parts.runtime.slice(1) : parts.runtime
  return [
    "run",
    ...["-i", "--rm"].filter((option) => !runtime.includes(option)),
    ...runtime,
    // names only: their values stay in the environment, where `ps` does not show them
    ...parts.env.flatMap((name) => ["-e", name]),
    image(parts),
    ...parts.args
  ]
}

const name = /^[A-Za-z0-9][\w.-]*$/

/** @internal */
export const kinds: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ["npm", {
    identifier: /^(?:@[\w~][\w.~-]*\/)?[\w~][\w.~-]*$/,
    domain: "npmjs.org",
    runtimes: new Map([
      ["npx", (parts) => [...(parts.runtime.length === 0 ? ["-y"] : parts.runtime), at(parts, "@"), ...parts.args]],
      ["bunx", (parts) => [...parts.runtime, at(parts, "@"), ...parts.args]]
    ])
  }],
  ["pypi", {
    identifier: /^[A-Za-z0-9][\w.-]*(?:\[[\w.,-]*\])?$/,
    domain: "pypi.org",
    runtimes: new Map([
      ["uvx", (parts) => [...parts.runtime, at(parts, "=="), ...parts.args]],
      ["pipx", (parts) => ["run", ...parts.runtime, "--spec", at(parts, "=="), parts.identifier, ...parts.args]]
    ])
  }],
  ["oci", {
    identifier: /^[A-Za-z0-9][\w.:@/-]*$/,
    domain: "docker.io",
    runtimes: new Map([["docker", container], ["podman", container]])
  }],
  ["nuget", {
    identifier: name,
    domain: "nuget.org",
    runtimes: new Map([
      ["dnx", (parts) => [
        ...parts.runtime,
        at(parts, "@"),
        "--yes",
        ...(parts.args.length === 0 ? [] : ["--", ...parts.args])
      ]]
    ])
  }]
])
