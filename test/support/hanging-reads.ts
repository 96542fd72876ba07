import { memoryStore, type Store } from '@cattlegrid/core'
import type { Read, Runtime } from '@cattlegrid/core/extend'

/** A shared store that never answers a read, as a server that was stopped, and counts the reads. */
export function hangingReads(runtime: Runtime): { readonly store: Store; readonly count: () => number } {
  let reads = 0
  const read = (): Promise<Read> => {
    reads += 1
    return new Promise(() => undefined)
  }
  const store = Object.assign(memoryStore({ runtime }), { shared: true, peek: () => undefined, read })
  return { store, count: () => reads }
}
