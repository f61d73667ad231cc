// @effect-diagnostics nodeBuiltinImport:off -- platform's Command would end the program that it has started
/**
 * Shows a page in the browser of this machine, by the program that the system has for it.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ChildProcess from "node:child_process"
import * as UrlGuard from "../auth/UrlGuard.ts"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import * as Program from "../config/program.ts"

/** True where no person would see a page: in a CI job, in a session over SSH, and without a display. */
export const isHeadless = ({ platform, variables }: HostEnvironment.Host): boolean => {
  const { CI = "", DISPLAY = "", SSH_CONNECTION = "", WAYLAND_DISPLAY = "" } = variables()
  if (SSH_CONNECTION !== "" || !["", "0", "false"].includes(CI)) return true
  return platform !== "win32" && platform !== "darwin" && DISPLAY === "" && WAYLAND_DISPLAY === ""
}

/** The variables by which openers and browsers find the display and the desktop. They get no others. */
const isOfDesktop = (name: string): boolean =>
  /^(BROWSER|DBUS_SESSION_BUS_ADDRESS|DESKTOP_SESSION|(WAYLAND_)?DISPLAY|XAUTHORITY|(GNOME|KDE|WSL|XDG)_\w+)$/.test(
    name
  )

/**
 * The program that opens a page, with its arguments; the URL has passed `UrlGuard.openable`. On Windows it is no command of
 * `cmd`, which would interpret the address. There and on macOS its path is fixed, because Windows looks for programs in the
 * current folder first.
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

/** An opener that cannot open anything says so at once; one that does not end may have become the browser. */
const openerLimit = Duration.seconds(3)

/** Starts a program (argv, no shell) that outlives this one. Fails with a sentence if it fails within the limit. */
const launch = (
  [program, ...args]: readonly [string, ...ReadonlyArray<string>],
  environment: ReadonlyMap<string, string>
): Effect.Effect<void, string> =>
  Effect.async<void, string>((resume) => {
    // the code alone, because the text of Node quotes arguments
    const failed = (error: unknown) => resume(Effect.fail(`${program} could not be started (${Program.codeOf(error)})`))
    try {
      const env = Object.fromEntries(environment)
      const child = ChildProcess.spawn(program, args, { stdio: "ignore", detached: true, windowsHide: true, env })
      child.unref()
      child.on("error", failed)
      child.on("exit", (code, signal) => {
        const end = signal ?? `exit code ${code}`
        resume(code === 0 ? Effect.void : Effect.fail(`${program} ended with ${end}`))
      })
    } catch (error) {
      failed(error)
    }
  }).pipe(Effect.timeoutOption(openerLimit), Effect.asVoid)

/**
 * Opens an address that a server may have chosen, if `UrlGuard.openable` allows it. The program that is started stays. Fails
 * with the reason if no page was opened.
 */
export const open = (url: string | URL): Effect.Effect<void, string> =>
  Effect.flatMap(HostEnvironment.HostEnvironment, (host) => {
    const address = UrlGuard.openable(url)
    if (Either.isLeft(address)) return Effect.fail(`its address is refused (${address.left})`)
    if (isHeadless(host)) return Effect.fail("this machine has no screen")
    const inheritEnv = Object.keys(host.variables()).filter(isOfDesktop)
    return launch(command(address.right, host), Program.environment({ inheritEnv }, host))
  })
