/** Looks until it is so, for at most 15 s: what another process does takes its time. The error tells what `seen` returns. */
export async function until(isSo: () => boolean | Promise<boolean>, seen?: () => string): Promise<void> {
  const deadline = performance.now() + 15_000
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`Not within 15 s: ${isSo.toString()} ${seen?.() ?? ''}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
