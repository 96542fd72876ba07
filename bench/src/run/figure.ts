/** What was measured in several rounds: the middle one, and the quartiles around it. */
export interface Figure {
  readonly median: number
  readonly low: number
  readonly high: number
  readonly rounds: number
}

export function figure(values: readonly number[]): Figure {
  const sorted = values.toSorted((a, b) => a - b)
  return { median: at(sorted, 0.5), low: at(sorted, 0.25), high: at(sorted, 0.75), rounds: sorted.length }
}

/** The value below which `share` of the sorted values lie, interpolated between its neighbours. */
export function at(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1)
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}
