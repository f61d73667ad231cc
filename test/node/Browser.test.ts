import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as FileSystem from "@effect/platform/FileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Fiber, TestClock } from "effect"
import * as UrlGuard from "../../src/auth/UrlGuard.ts"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import * as Browser from "../../src/node/Browser.ts"
import { contentOf, eventually } from "../support/leaks.ts"
import { standInBrowser } from "../support/standInBrowser.ts"

const hostOf = (variables: Readonly<Record<string, string>>, platform = "linux"): HostEnvironment.Host => ({
  platform,
  variables: () => variables
})

const open = (url: string, variables: Readonly<Record<string, string>>) =>
  Effect.provideService(Browser.open(url), HostEnvironment.HostEnvironment, hostOf(variables))

/** By the ids of the corpus: what the opener of the system gets. */
const opened: ReadonlyArray<readonly [id: string, url: string, argument: string]> = [
  ["url-088", "https://as.example/authorize?a=$(calc.exe)", "https://as.example/authorize?a=%24%28calc.exe%29"],
  ["url-089", "https://as.example/authorize?a=%22;calc;%22", "https://as.example/authorize?a=%22;calc;%22"],
  ["url-090", "https://as.example/authorize?a=`id`", "https://as.example/authorize?a=%60id%60"],
  ["url-091", "https://as.example/authorize?a=%PATH%", "https://as.example/authorize?a=%25PATH%25"],
  ["url-092", "https://as.example/authorize?a='%2bcalc", "https://as.example/authorize?a=%27%2bcalc"],
  ["url-093", "https://as.example/authorize?a=^%26calc", "https://as.example/authorize?a=%5E%26calc"],
  ["url-099", "http://localhost:9000/authorize", "http://localhost:9000/authorize"]
]

const refused: ReadonlyArray<readonly [id: string, url: string]> = [
  ["url-080", "a:$(cmd.exe /c calc.exe)?response_type=code"],
  ["url-081", "-oProxyCommand=x"],
  ["url-082", "--new-window https://a.example"],
  ["url-084", "//attacker.example/x"],
  ["url-086", "http://remote.example/authorize"],
  ["url-095", "https://as.example/\u202egpj"],
  ["url-096", "https://user:pass@as.example/authorize"],
  ["url-097", "https://github.com@attacker.example/authorize"]
]

describe("Browser.open", () => {
  it.scopedLive("passes the URL as one argument, without shell characters", () =>
    Effect.gen(function*() {
      const browser = yield* standInBrowser("exit 0")
      for (const [id, url, argument] of opened) {
        yield* open(url, { PATH: browser.folder, DISPLAY: ":0" })
        assert.deepStrictEqual(browser.opened().at(-1), [argument], id)
      }
      assert.lengthOf(browser.opened(), opened.length)
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scopedLive("starts nothing for a refused URL", () =>
    Effect.gen(function*() {
      const browser = yield* standInBrowser("exit 0")
      for (const [id, url] of refused) {
        const error = yield* Effect.flip(open(url, { PATH: browser.folder, DISPLAY: ":0" }))
        assert.match(error, /^the address is refused \([\w-]+\)$/, id)
      }
      assert.deepStrictEqual(browser.opened(), [])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scopedLive("passes only the variables of the desktop", () =>
    Effect.gen(function*() {
      const browser = yield* standInBrowser("/usr/bin/env > \"$home/environment\"")
      yield* open("https://as.example/", {
        PATH: `.:relative:${browser.folder}`,
        WAYLAND_DISPLAY: "wayland-0",
        XDG_RUNTIME_DIR: "/run/user/1000",
        GITHUB_TOKEN: "ghp_canary",
        NODE_OPTIONS: "--require=/canary.js"
      })
      const names = contentOf(`${browser.folder}/environment`).split("\n").map((line) => line.split("=")[0])
      assert.includeMembers(names, ["PATH", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"])
      assert.notIncludeMembers(names, ["GITHUB_TOKEN", "NODE_OPTIONS"])
      assert.include(contentOf(`${browser.folder}/environment`), `PATH=${browser.folder}\n`)
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scopedLive("fails if the opener fails", () =>
    Effect.gen(function*() {
      const browser = yield* standInBrowser("exit 3")
      const error = yield* Effect.flip(open("https://as.example/", { PATH: browser.folder, DISPLAY: ":0" }))
      assert.strictEqual(error, "xdg-open ended with exit code 3")
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scopedLive("fails if the opener is missing", () =>
    Effect.gen(function*() {
      const folder = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
      const error = yield* Effect.flip(open("https://as.example/", { PATH: folder, DISPLAY: ":0" }))
      assert.strictEqual(error, "xdg-open could not be started (ENOENT)")
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scoped("leaves an opener running, because it may be the browser", () =>
    Effect.gen(function*() {
      const browser = yield* standInBrowser(
        "echo $$ > \"$home/pid.new\"; mv \"$home/pid.new\" \"$home/pid\"; exec sleep 60"
      )
      const pid = () => Number(contentOf(`${browser.folder}/pid`))
      const path = `${browser.folder}:/usr/bin:/bin`
      const fiber = yield* Effect.fork(open("https://as.example/", { PATH: path, DISPLAY: ":0" }))
      yield* eventually(() => pid() > 0)
      yield* Effect.addFinalizer(() => Effect.sync(() => process.kill(pid(), "SIGKILL")))
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(fiber)
      assert.isTrue(process.kill(pid(), 0))
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scopedLive("starts nothing on a headless machine", () =>
    Effect.gen(function*() {
      const browser = yield* standInBrowser("exit 0")
      const error = yield* Effect.flip(open("https://as.example/", { PATH: browser.folder }))
      assert.strictEqual(error, "this machine has no display")
      assert.deepStrictEqual(browser.opened(), [])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it("uses absolute paths and no shell on Windows and macOS", () => {
    const url = Either.getOrThrow(UrlGuard.openable("https://as.example/authorize?a=%PATH%&b=^&c=\"d\""))
    const argument = "https://as.example/authorize?a=%25PATH%25&b=%5E&c=%22d%22"
    const windows = (variables: Readonly<Record<string, string>>) => Browser.command(url, hostOf(variables, "win32"))
    const dll = "url.dll,FileProtocolHandler"
    assert.deepStrictEqual(windows({ SystemRoot: "D:\\Windows" }), [
      "D:\\Windows\\System32\\rundll32.exe",
      dll,
      argument
    ])
    assert.deepStrictEqual(windows({ systemroot: "relative" })[0], "C:\\Windows\\System32\\rundll32.exe")
    assert.deepStrictEqual(Browser.command(url, hostOf({}, "darwin")), ["/usr/bin/open", argument])
  })
})

describe("Browser.isHeadless", () => {
  it("is true without a display, over SSH, and in a CI job", () => {
    const display = { DISPLAY: ":0" }
    const cases: ReadonlyArray<readonly [variables: Readonly<Record<string, string>>, on: string, headless: boolean]> =
      [
        [display, "linux", false],
        [{ WAYLAND_DISPLAY: "wayland-0" }, "linux", false],
        [{}, "linux", true],
        [{ DISPLAY: "" }, "freebsd", true],
        [{ ...display, SSH_CONNECTION: "192.0.2.7 50000 192.0.2.2 22" }, "linux", true],
        [{ ...display, CI: "true" }, "linux", true],
        [{ ...display, CI: "false" }, "linux", false],
        [{}, "darwin", false],
        [{}, "win32", false],
        [{ SSH_CONNECTION: "192.0.2.7 50000 192.0.2.2 22" }, "darwin", true],
        [{ CI: "1" }, "win32", true]
      ]
    for (const [variables, platform, headless] of cases) {
      const about = `${platform} ${JSON.stringify(variables)}`
      assert.strictEqual(Browser.isHeadless(hostOf(variables, platform)), headless, about)
    }
  })
})
