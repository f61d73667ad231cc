// @effect-diagnostics nodeBuiltinImport:off -- the Command of platform would end the program that it started
/** Opens a page in the default browser of the system. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ChildProcess from "node:child_process"
import * as UrlGuard from "../auth/UrlGuard.ts"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import * as Program from "../config/program.ts"

/** True in a CI job, in an SSH session, and without a display. */
export const isHeadless = ({ platform, variables }: HostEnvironment.Host): boolean => {
  const { CI = "", DISPLAY = "", SSH_CONNECTION = "", WAYLAND_DISPLAY = "" } = variables()
  if (SSH_CONNECTION !== "" || !["", "0", "false"].includes(CI)) return true
  return platform !== "win32" && platform !== "darwin" && DISPLAY === "" && WAYLAND_DISPLAY === ""
}

/** The variables that locate the display and the desktop. The opener inherits no others. */
const isOfDesktop = (name: string): boolean =>
  /^(BROWSER|DBUS_SESSION_BUS_ADDRESS|DESKTOP_SESSION|(WAYLAND_)?DISPLAY|XAUTHORITY|(GNOME|KDE|WSL|XDG)_\w+)$/.test(
    name
  )

/**
 * The command that opens a URL, which `UrlGuard.openable` has accepted. Windows does not use `cmd`, which would interpret the
 * URL. The paths are absolute, because Windows searches the current folder first.
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

/** An opener that fails exits at once. One that keeps running may be the browser itself. */
const openerLimit = Duration.seconds(3)

/** Starts a detached program without a shell. Fails with the reason if the program fails within the limit. */
const launch = (
  [program, ...args]: readonly [string, ...ReadonlyArray<string>],
  environment: ReadonlyMap<string, string>
): Effect.Effect<void, string> =>
  Effect.async<void, string>((resume) => {
    // only the code, because messages of Node contain the arguments
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

/** Opens an untrusted URL if `UrlGuard.openable` accepts it. Fails with the reason if no page was opened. */
export const open = (url: string | URL): Effect.Effect<void, string> =>
  Effect.flatMap(HostEnvironment.HostEnvironment, (host) => {
    const address = UrlGuard.openable(url)
    if (Either.isLeft(address)) return Effect.fail(`the address is refused (${address.left})`)
    if (isHeadless(host)) return Effect.fail("this machine has no display")
    const inheritEnv = Object.keys(host.variables()).filter(isOfDesktop)
    return launch(command(address.right, host), Program.environment({ inheritEnv }, host))
  })
