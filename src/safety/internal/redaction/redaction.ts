/**
 * The parts of redaction together.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Scoped from "../../../scoped.ts"
import type * as Redaction from "../../Redaction.ts"
import * as Address from "./address.ts"
import * as Deep from "./deep.ts"
import * as Formats from "./formats.ts"
import * as KnownValues from "./knownValues.ts"
import * as SecretValue from "./secretValue.ts"
import * as Spans from "./spans.ts"

/** The table is the same for all, and built when a text is first looked at. */
let formats: Formats.Formats | undefined

const scanFormats = (text: string): ReadonlyArray<Spans.Span> => (formats ??= Formats.make()).scan(text)

const nothing = (): ReadonlyArray<Spans.Span> => []

/** @internal */
export const make = (options: Redaction.Options): Redaction.Redactor => {
  const known = KnownValues.make()
  const scan = options.formats ? scanFormats : nothing
  const isSensitive = Deep.isSensitive(new Set(options.sensitive.map((name) => name.toLowerCase())))

  const unsafeKnow = (secret: Redacted.Redacted): () => void => known.add(Redacted.value(secret))

  const withoutKnown = (text: string): string => Spans.replaced(text, known.scan(text), SecretValue.mark)

  const text = (text: string): string => {
    const plain = withoutKnown(text)
    return Spans.replaced(plain, scan(plain), SecretValue.mark)
  }

  return {
    text,
    known: withoutKnown,
    json: (value) => Deep.json({ text, isSensitive }, value),
    headers: (headers) =>
      Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          value !== "" && isSensitive(name) ? SecretValue.mark : text(value)
        ])
      ),
    url: (url) => Address.hidden(url, isSensitive, text),
    know: (secret) => Scoped.listen(() => unsafeKnow(secret)),
    unsafeKnow,
    found: (text) =>
      Spans.merged([...known.scan(text), ...scan(text)]).map(({ at, end, id }) => ({ id, at, length: end - at }))
  }
}

/** @internal */
export const none: Redaction.Redactor = {
  text: (text) => text,
  known: (text) => text,
  json: (value) => value,
  headers: (headers) => headers,
  url: (url) => url,
  know: () => Effect.void,
  unsafeKnow: () => () => undefined,
  found: () => []
}
