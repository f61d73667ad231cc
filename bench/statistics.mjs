/**
 * Order statistics of small samples.
 */
export const quantile = (values, q) => {
  const sorted = Float64Array.from(values).toSorted()
  const at = (sorted.length - 1) * q
  const below = sorted[Math.floor(at)]
  return below + (sorted[Math.ceil(at)] - below) * (at - Math.floor(at))
}

export const median = (values) => quantile(values, 0.5)
