/**
 * Texts within data, wherever they are: the shape stays, and so does every part in which nothing was hidden.
 *
 * @internal
 */
import * as CredentialName from "./credentialName.ts"
import * as SecretValue from "./secretValue.ts"

const deepest = 64

/** An error has its texts where no enumeration finds them. */
const namesOf = (error: Error): ReadonlyArray<string> =>
  Array.from(new Set([...Object.getOwnPropertyNames(error), ...("stack" in error ? ["stack"] : [])]))

/** @internal */
export interface Options {
  readonly text: (text: string) => string
  readonly isSensitive: (name: string) => boolean
}

const defined = (target: object, key: string, value: unknown, enumerable: boolean): void => {
  // the name may be `__proto__`, which is not to be set but held
  Object.defineProperty(target, key, { value, enumerable, configurable: true, writable: true })
}

/** @internal */
export const json = ({ isSensitive, text }: Options, value: unknown): unknown => {
  const seen = new Map<object, unknown>()

  const secret = (value: unknown, depth: number): unknown =>
    typeof value === "string"
      ? value === "" ? value : SecretValue.mark
      : typeof value === "object" && value !== null
      ? within(value, depth, true)
      : value

  const one = (value: unknown, depth: number): unknown =>
    typeof value === "string"
      ? text(value)
      : typeof value === "object" && value !== null
      ? within(value, depth, false)
      : value

  const within = (object: object, depth: number, isSecret: boolean): unknown => {
    if (seen.has(object)) return seen.get(object)
    if (depth > deepest) return SecretValue.mark
    const next = isSecret ? secret : one
    if (Array.isArray(object)) {
      seen.set(object, object)
      const items = object.map((item) => next(item, depth + 1))
      const same = items.every((item, index) => item === object[index])
      if (!same) seen.set(object, items)
      return same ? object : items
    }
    if (object instanceof Map) {
      seen.set(object, object)
      const entries = Array.from(object, ([key, value]) => {
        const isHidden = isSecret || (typeof key === "string" && isSensitive(key))
        return [one(key, depth + 1), (isHidden ? secret : one)(value, depth + 1)] as const
      })
      const same = entries.every(([key, value]) => object.has(key) && object.get(key) === value)
      return same ? object : new Map(entries)
    }
    if (object instanceof Set) {
      seen.set(object, object)
      const items = Array.from(object, (item) => next(item, depth + 1))
      return items.every((item) => object.has(item)) ? object : new Set(items)
    }
    const copy: object = Object.create(Object.getPrototypeOf(object))
    if (object instanceof Error) return fields(object, copy, namesOf(object), depth, one)
    return fields(object, copy, Object.keys(object), depth, next)
  }

  const fields = (
    object: object,
    copy: object,
    keys: ReadonlyArray<string>,
    depth: number,
    next: (value: unknown, depth: number) => unknown
  ): unknown => {
    // what leads back to itself finds what it was until then
    seen.set(object, object)
    let same = true
    for (const key of keys) {
      const value: unknown = Reflect.get(object, key)
      const name = text(key)
      const hidden = isSensitive(key) ? secret(value, depth + 1) : next(value, depth + 1)
      if (hidden !== value || name !== key) same = false
      defined(copy, name, hidden, Object.prototype.propertyIsEnumerable.call(object, key))
    }
    if (!same) seen.set(object, copy)
    return same ? object : copy
  }

  return one(value, 0)
}

/**
 * Whether the value under this key is a secret, whatever it looks like.
 *
 * @internal
 */
export const isSensitive = (extra: ReadonlySet<string>) => (key: string): boolean =>
  extra.has(key.toLowerCase()) || (CredentialName.isCredential(key) && key.toLowerCase() !== "code")
