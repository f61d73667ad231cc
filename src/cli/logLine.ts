/** Log lines on the standard error. */
import * as Cause from "effect/Cause"
import * as HashMap from "effect/HashMap"
import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as UntrustedText from "../text/UntrustedText.ts"

/** @param write - takes one line, escaped */
export const layer = (write: (line: string) => void): Layer.Layer<never> =>
  Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ annotations, cause, logLevel, message }) => {
      const words = (Array.isArray(message) ? message : [message]).map((one) =>
        typeof one === "string" ? one : JSON.stringify(one)
      )
      const about = Array.from(HashMap.entries(annotations), ([name, value]) => `${name}=${String(value)}`)
      const why = Cause.isEmpty(cause) ? [] : [Cause.pretty(cause).split("\n")[0]!]
      write(UntrustedText.excerpt([logLevel.label.toLowerCase(), ...words, ...about, ...why].join(" "), 2_048))
    })
  )
