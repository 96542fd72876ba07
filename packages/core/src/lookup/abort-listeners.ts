import type { CallerSignal } from '../load.ts'

/** Also one of another realm, or of a package that brings its own. */
function isAbortSignal(signal: CallerSignal): boolean {
  return (signal as { readonly [Symbol.toStringTag]?: unknown })[Symbol.toStringTag] === 'AbortSignal'
}

/** The waits that one signal ends. */
interface SignalWaits {
  readonly onAborts: Set<() => void>
  readonly listener: () => void
}

const waitsBySignal = new WeakMap<CallerSignal, SignalWaits>()

/**
 * Calls `onAbort` when the signal aborts, until the returned function is called. An `AbortSignal` has one
 * listener however many calls wait with it: a request that asks for many keys passes its signal to each, and
 * Node warns of a leak from 11 listeners on. Other signals have one for each call, which costs a stale hit
 * over HTTP less.
 */
export function listenForAbort(signal: CallerSignal, onAbort: () => void): () => void {
  if (isAbortSignal(signal)) return shareListener(signal, onAbort)
  signal.addEventListener('abort', onAbort)
  return () => signal.removeEventListener('abort', onAbort)
}

function shareListener(signal: CallerSignal, onAbort: () => void): () => void {
  const waits = waitsBySignal.get(signal) ?? listenOnce(signal)
  waits.onAborts.add(onAbort)
  return () => {
    if (!waits.onAborts.delete(onAbort)) return
    if (waits.onAborts.size > 0) return
    signal.removeEventListener('abort', waits.listener)
    if (waitsBySignal.get(signal) === waits) waitsBySignal.delete(signal)
  }
}

/** Settles as `promise` does, or rejects with the signal's reason when it aborts before. */
export function orAbort<T>(promise: Promise<T>, signal: CallerSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const ignoreAbort = listenForAbort(signal, () => {
      ignoreAbort()
      reject(signal.reason)
    })
    promise.then(
      (value) => {
        ignoreAbort()
        resolve(value)
      },
      (error: unknown) => {
        ignoreAbort()
        reject(error)
      },
    )
  })
}

function listenOnce(signal: CallerSignal): SignalWaits {
  const onAborts = new Set<() => void>()
  const listener = (): void => {
    for (const onAbort of onAborts) onAbort()
  }
  signal.addEventListener('abort', listener)
  const waits = { onAborts, listener }
  waitsBySignal.set(signal, waits)
  return waits
}
