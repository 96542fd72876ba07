const counts = new Map<string, number>()

/** The number of the run, which the page of each path shows. */
export function runOf(path: string): number {
  const run = (counts.get(path) ?? 0) + 1
  counts.set(path, run)
  console.log(`run ${path}`)
  return run
}
