/** Home folders and workspaces that mean no good, laid out on the disk, with a program that tells if it is ever run. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { Effect, Layer, type Scope } from "effect"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import * as path from "node:path"
import * as ConfigDiscovery from "../../src/config/ConfigDiscovery.ts"
import * as ConfigFiles from "../../src/config/ConfigFiles.ts"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import * as Trust from "../../src/config/Trust.ts"

/** A text, bytes, or a link to `home/…`, `root/…`, `away/…` or an absolute path. */
export type Planted = string | Uint8Array | { readonly link: string }

export interface Tree {
  /** By paths that begin with `home/` or `root/`, or with `away/` for what is outside of both. */
  readonly files: Readonly<Record<string, Planted>>
  /** Of folders and files, after they were made. */
  readonly modes?: Readonly<Record<string, number>> | undefined
}

export interface Laid {
  readonly home: string
  readonly root: string
  readonly path: (name: string) => string
  /** Where the program `canary` is, that makes the file `mark`. */
  readonly bin: string
  readonly mark: string
  readonly wasRun: () => boolean
}

export const secret = "canary-of-the-environment"

/** What the process has that nobody is to read who was not allowed to. */
export const secrets = ["B", "GITHUB_TOKEN", "SECRET", "NODE_OPTIONS", "HTTPS_PROXY"]

export const variables = ({ bin, home }: Laid): Readonly<Record<string, string>> => ({
  HOME: home,
  PATH: `${bin}:/usr/bin:/bin`,
  SHELL: "/bin/sh",
  ...Object.fromEntries(secrets.map((name) => [name, secret]))
})

const plant = (at: string, what: Planted, target: (name: string) => string): void => {
  fs.mkdirSync(path.dirname(at), { recursive: true, mode: 0o755 })
  if (typeof what === "string" || what instanceof Uint8Array) fs.writeFileSync(at, what, { mode: 0o644 })
  else fs.symlinkSync(target(what.link), at)
}

/** In a folder of its own, which is gone afterwards. `$CANARY` in a text is the mark. */
export const lay = ({ files, modes }: Tree): Effect.Effect<Laid, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => fs.realpathSync(fs.mkdtempSync(path.join(tmpdir(), "mcp-hostile-")))),
      (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
    ),
    (folder) => {
      const below = (name: string): string => path.isAbsolute(name) ? name : path.join(folder, name)
      const mark = below("mark")
      for (const name of ["home", "root", "away", "bin"]) fs.mkdirSync(below(name), { mode: 0o755 })
      fs.writeFileSync(below("bin/canary"), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 })
      for (const [name, what] of Object.entries(files)) {
        plant(below(name), typeof what === "string" ? what.replaceAll("$CANARY", mark) : what, below)
      }
      for (const [name, mode] of Object.entries(modes ?? {})) fs.chmodSync(below(name), mode)
      return {
        home: below("home"),
        root: below("root"),
        path: below,
        bin: below("bin"),
        mark,
        wasRun: () => fs.existsSync(mark)
      }
    }
  )

/** What is found in a tree by an application called `ours`. */
export const discovered = <A, E>(
  laid: Laid,
  use: (discovery: ConfigDiscovery.ConfigDiscovery["Type"], trust: Trust.Trust["Type"]) => Effect.Effect<A, E>,
  options: Partial<ConfigDiscovery.Options> = {},
  host: Partial<HostEnvironment.Host> = {},
  trust: Layer.Layer<Trust.Trust> = Trust.layerMemory()
): Effect.Effect<A, E> =>
  Effect.flatMap(
    Effect.zip(ConfigDiscovery.ConfigDiscovery, Trust.Trust),
    ([discovery, trust]) => use(discovery, trust)
  ).pipe(
    Effect.provide(
      ConfigDiscovery.layerFiles({
        app: "ours",
        directory: laid.root,
        root: laid.root,
        home: laid.home,
        imports: ["all"],
        ...options
      }).pipe(
        Layer.provide(ConfigFiles.layer),
        Layer.provideMerge(trust),
        Layer.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer)),
        Layer.provide(
          Layer.succeed(HostEnvironment.HostEnvironment, {
            platform: process.platform,
            variables: () => variables(laid),
            uid: process.getuid?.(),
            ...host
          })
        )
      )
    )
  )

/** States by names: `Ready`, `Untrusted`, …, and what is wrong with those that are invalid. */
export const states = ({ servers }: ConfigDiscovery.Discovery): ReadonlyMap<string, string> =>
  new Map(servers.map(({ name, state }) => [name, state._tag === "Invalid" ? state.kind : state._tag]))

/** `kind` of files, `server: kind` of entries. */
export const kinds = ({ issues }: ConfigDiscovery.Discovery): ReadonlyArray<string> =>
  issues.map(({ kind, server }) => server === undefined ? kind : `${server}: ${kind}`)
