/** The quantile, with linear interpolation. */
export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const below = sorted[Math.floor(at)]
  return below + (sorted[Math.ceil(at)] - below) * (at % 1)
}

export const median = (values) => quantile(values, 0.5)

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length

export const summaryOf = (values) => ({
  median: median(values),
  low: quantile(values, 0.25),
  high: quantile(values, 0.75),
  rounds: values,
})
