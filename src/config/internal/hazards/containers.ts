/**
 * @internal
 */
import { type Argument, argumentsOf, containerRun, type Launched } from "../../launcher.ts"
import { type Hazard, shown } from "./hazard.ts"

const switches: ReadonlySet<string> = new Set([
  "--detach",
  "--disable-content-trust",
  "--init",
  "--interactive",
  "--no-healthcheck",
  "--oom-kill-disable",
  "--privileged",
  "--publish-all",
  "--quiet",
  "--read-only",
  "--replace",
  "--rm",
  "--sig-proxy",
  "--tty",
  "--use-api-socket"
])

/** Several letters in one word are switches, up to the first that takes a value. */
const isSwitch = (option: string): boolean => switches.has(option) || /^-[ditPq]+$/.test(option)

/** Folders that are the machine, or all that a person has. */
const vital =
  /^(\/|\/(etc|root|home|Users|var|var\/run|run|proc|sys|dev|boot|usr)\/?|[A-Za-z]:[\\/]?|~\/?|\$\{?HOME\}?\/?|\$\{(env:HOME|var:userHome|env:USERPROFILE)\}[\\/]?)$/

const socket = /(docker|containerd|podman|crio)\.sock\b|docker_engine/

const source = ({ option, value = "" }: Argument): string => {
  if (option === "--mount") {
    return value.split(",").find((part) => /^(source|src)=/.test(part))?.replace(/^\w+=/, "") ?? ""
  }
  const drive = /^[A-Za-z]:[\\/]/.test(value) ? 2 : 0
  // the colon of a variable is none that ends the source
  const variable = /^\$\{[^}]*\}/.exec(value)?.[0].length ?? 0
  const colon = value.indexOf(":", Math.max(drive, variable))
  return colon === -1 ? "" : value.slice(0, colon)
}

const namespaces: ReadonlySet<string> = new Set([
  "--net",
  "--network",
  "--pid",
  "--ipc",
  "--uts",
  "--userns",
  "--cgroupns"
])

const danger = (argument: Argument): string | undefined => {
  const { option, value } = argument
  if (option === undefined) return undefined
  if (option === "--privileged" && value !== "false") return "The container has all rights on this machine."
  if (namespaces.has(option) && value === "host") return "The container is not separated from this machine."
  if (option === "--cap-add") return "The container gets rights that containers do not have."
  if (option === "--security-opt" && /unconfined|disable/.test(value ?? "")) {
    return "The container is not held by the protection of containers."
  }
  if (option === "--device" || option === "--use-api-socket") {
    return "The container gets a device or the engine's socket."
  }
  if (option === "-v" || option === "--volume" || option === "--mount") {
    if (socket.test(value ?? "")) return "The container can start other containers with all rights."
    if (vital.test(source(argument))) return "The container sees all files of this machine or of this person."
  }
  return undefined
}

/** `-itv /:/x` is `-it -v /:/x`, and `-v/:/x` is `-v /:/x`. */
const short = (argument: Argument): Argument => {
  const { option, value } = argument
  if (option === undefined || option.startsWith("--") || option.length === 2) return argument
  const letter = option.search(/[^-ditPq]/)
  if (letter === -1) return argument
  const glued = option.slice(letter + 1)
  return { ...argument, option: `-${option[letter]!}`, value: glued === "" ? value : glued }
}

/** @internal */
export const ofContainer = (line: Launched): ReadonlyArray<Hazard> => {
  const from = containerRun(line)
  if (from === undefined) return []
  const hazards: Array<Hazard> = []
  const isGlued = (option: string) => /^-[ditPq]*[^-ditPq]./.test(option) && !option.startsWith("--")
  for (const given of argumentsOf(line, from, (option) => isSwitch(option) || isGlued(option))) {
    const argument = short(given)
    if (argument.option === undefined) {
      const image = argument.value ?? ""
      if (!/@sha256:[0-9a-f]{64}$/.test(image) && !image.startsWith("${")) {
        hazards.push({
          kind: "unpinned-package",
          at: line.at(argument.word),
          detail: `The image${shown(image)} can become another one; write its digest (@sha256:…) after its name.`
        })
      }
      // what follows belongs to the container
      break
    }
    const detail = danger(argument)
    if (detail !== undefined) hazards.push({ kind: "privileged-container", at: line.at(argument.word), detail })
  }
  return hazards
}
