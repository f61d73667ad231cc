const bars = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

/** Numbers as bars beside each other, the highest of them the largest; what failed is a cross. */
export const sparkline = (samples: ReadonlyArray<number | undefined>): string => {
  const highest = Math.max(0, ...samples.map((sample) => sample ?? 0))
  return samples.map((sample) => {
    if (sample === undefined) return "×"
    const share = highest === 0 ? 0 : Math.max(0, sample) / highest
    return bars[Math.round(share * (bars.length - 1))]
  }).join("")
}
