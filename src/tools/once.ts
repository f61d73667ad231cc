/** A function whose result for an object is computed once, and kept as long as the object is. */
export const once = <From extends object, To>(convert: (from: From) => To): (from: From) => To => {
  const converted = new WeakMap<From, { readonly to: To }>()
  return (from) => {
    const known = converted.get(from) ?? { to: convert(from) }
    converted.set(from, known)
    return known.to
  }
}
