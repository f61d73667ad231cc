/**
 * Shows a page in the browser of the person at this machine, by the program that the system has for it.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as UrlGuard from "../auth/UrlGuard.ts"
import * as Environment from "../config/childEnvironment.ts"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import * as Opener from "./internal/opener.ts"

/**
 * No page was shown. `refused`: its address is none that is opened; `headless`: nobody sits at this machine; `failed`: the
 * program of the system could not do it.
 *
 * @since 0.1.0
 * @category errors
 */
export class BrowserError extends Data.TaggedError("BrowserError")<{
  readonly reason: "refused" | "headless" | "failed"
  readonly detail: string
}> {
  override get message(): string {
    return `no page was opened: ${this.detail}`
  }
}

/**
 * Whether a page that is opened here is seen by nobody: in a CI job, in a session over SSH, and without a display.
 *
 * @since 0.1.0
 * @category combinators
 */
export const isHeadless = ({ platform, variables }: HostEnvironment.Host): boolean => {
  const { CI, DISPLAY, SSH_CONNECTION, WAYLAND_DISPLAY } = variables()
  const has = (value: string | undefined): boolean => value !== undefined && value !== ""
  if (has(SSH_CONNECTION) || (has(CI) && CI !== "false" && CI !== "0")) return true
  return platform !== "win32" && platform !== "darwin" && !has(DISPLAY) && !has(WAYLAND_DISPLAY)
}

/** What openers and browsers need to find the display and the desktop; the rest of the environment is not theirs. */
const desktop = [
  "BROWSER",
  "DBUS_SESSION_BUS_ADDRESS",
  "DESKTOP_SESSION",
  "DISPLAY",
  "GNOME_DESKTOP_SESSION_ID",
  "KDE_FULL_SESSION",
  "KDE_SESSION_VERSION",
  "WAYLAND_DISPLAY",
  "WSL_DISTRO_NAME",
  "WSL_INTEROP",
  "XAUTHORITY",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_DIRS",
  "XDG_CONFIG_HOME",
  "XDG_CURRENT_DESKTOP",
  "XDG_DATA_DIRS",
  "XDG_DATA_HOME",
  "XDG_RUNTIME_DIR",
  "XDG_SESSION_DESKTOP",
  "XDG_SESSION_TYPE"
]

/**
 * The program of the system that opens a page, with its arguments; the URL is one that `UrlGuard.openable` gave back. On
 * Windows it is no command of `cmd`, which would read the address; there and on macOS its path is fixed, since Windows
 * looks for programs in the current folder first.
 *
 * @since 0.1.0
 * @category combinators
 */
export const command = (
  url: URL,
  { platform, variables }: HostEnvironment.Host
): readonly [string, ...Array<string>] => {
  switch (platform) {
    case "win32": {
      const root = Object.entries(variables()).find(([name]) => name.toUpperCase() === "SYSTEMROOT")?.[1] ?? ""
      const folder = /^[A-Za-z]:\\/.test(root) ? root : "C:\\Windows"
      return [`${folder}\\System32\\rundll32.exe`, "url.dll,FileProtocolHandler", url.href]
    }
    case "darwin":
      return ["/usr/bin/open", url.href]
    default:
      return ["xdg-open", url.href]
  }
}

/**
 * Opens an address that somebody else may have chosen, if `UrlGuard.openable` lets it. It has ended once the system's
 * program has, or after a moment; what it started stays.
 *
 * @since 0.1.0
 * @category combinators
 */
export const open = (url: string | URL): Effect.Effect<void, BrowserError> =>
  Effect.gen(function*() {
    const host = yield* HostEnvironment.HostEnvironment
    const address = UrlGuard.openable(url)
    if (Either.isLeft(address)) {
      return yield* new BrowserError({ reason: "refused", detail: `its address is refused (${address.left})` })
    }
    if (isHeadless(host)) {
      return yield* new BrowserError({ reason: "headless", detail: "nobody sits at this machine" })
    }
    yield* Opener.launch({
      argv: command(address.right, host),
      environment: Environment.make({ inheritEnv: desktop }, host)
    }).pipe(Effect.mapError((detail) => new BrowserError({ reason: "failed", detail })))
  })
