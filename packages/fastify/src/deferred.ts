/** The promise that Fastify gets for a handler that runs later. */
export interface Deferred {
  readonly returned: Promise<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

export function newDeferred(): Deferred {
  let resolve!: Deferred['resolve']
  let reject!: Deferred['reject']
  const returned = new Promise((settle, fail) => {
    resolve = settle
    reject = fail
  })
  return { returned, resolve, reject }
}
