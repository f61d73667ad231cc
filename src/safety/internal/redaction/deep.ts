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
  /** What has become of each object, which is another thing where all of it is a secret. */
  const seen = { plain: new Map<object, unknown>(), secret: new Map<object, unknown>() }

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
    const known = isSecret ? seen.secret : seen.plain
    if (known.has(object)) return known.get(object)
    if (depth > deepest) return SecretValue.mark
    // bytes, of which each would be a field
    if (ArrayBuffer.isView(object)) return object
    const next = isSecret ? secret : one
    if (object instanceof URL) {
      const shown = next(object.href, depth)
      return shown === object.href ? object : shown
    }
    /** What leads back to itself finds the copy, so that nobody comes to the original from there. */
    const copied = <C extends object>(copy: C, fill: (copy: C) => boolean): unknown => {
      known.set(object, copy)
      if (!fill(copy)) return copy
      known.set(object, object)
      return object
    }
    if (Array.isArray(object)) {
      return copied<Array<unknown>>([], (items) => {
        for (const item of object) items.push(next(item, depth + 1))
        return items.every((item, index) => item === object[index])
      })
    }
    if (object instanceof Map) {
      return copied(new Map<unknown, unknown>(), (entries) => {
        let same = true
        for (const [key, value] of object) {
          const isHidden = isSecret || (typeof key === "string" && isSensitive(key))
          const [name, shown] = [one(key, depth + 1), (isHidden ? secret : one)(value, depth + 1)]
          if (name !== key || shown !== value) same = false
          entries.set(name, shown)
        }
        return same
      })
    }
    if (object instanceof Set) {
      return copied(new Set<unknown>(), (items) => {
        for (const item of object) items.add(next(item, depth + 1))
        return items.size === object.size && Array.from(items).every((item) => object.has(item))
      })
    }
    const isError = object instanceof Error
    const copy: object = Object.create(Object.getPrototypeOf(object))
    return copied(
      copy,
      () => fields(object, copy, isError ? namesOf(object) : Object.keys(object), depth, isError ? one : next)
    )
  }

  /** Whether none of them had to change. */
  const fields = (
    object: object,
    copy: object,
    keys: ReadonlyArray<string>,
    depth: number,
    next: (value: unknown, depth: number) => unknown
  ): boolean => {
    let same = true
    for (const key of keys) {
      const value: unknown = Reflect.get(object, key)
      const name = text(key)
      const hidden = isSensitive(key) ? secret(value, depth + 1) : next(value, depth + 1)
      if (hidden !== value || name !== key) same = false
      defined(copy, name, hidden, Object.prototype.propertyIsEnumerable.call(object, key))
    }
    return same
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
