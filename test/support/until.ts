/** As often an `until` looks, about 10 ms apart: 30 s on a quiet machine. */
const LOOKS = 3000

/**
 * Looks until it is so. The error tells what `seen` returns. It counts its looks, not the time: a machine that stood still for seconds has not looked.
 */
export async function until(isSo: () => boolean | Promise<boolean>, seen?: () => string): Promise<void> {
  for (let looks = 0; !(await isSo()); looks += 1) {
    if (looks === LOOKS) throw new Error(`In vain: ${isSo.toString()} ${seen?.() ?? ''}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
