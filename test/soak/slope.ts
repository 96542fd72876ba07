/** By what share of their mean the values rise from one to the next, by least squares. */
export function slopeOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const middle = (values.length - 1) / 2
  const rise = values.reduce((sum, value, index) => sum + (index - middle) * (value - mean), 0)
  const run = values.reduce((sum, _, index) => sum + (index - middle) ** 2, 0)
  return rise / run / mean
}
