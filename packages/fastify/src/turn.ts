/** How Fastify learns what a handler returned that runs later. */
export interface Turn {
  readonly returned: Promise<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Made where it is needed: a hit needs none. */
export function newTurn(): Turn {
  let resolve!: Turn['resolve']
  let reject!: Turn['reject']
  const returned = new Promise((settle, fail) => {
    resolve = settle
    reject = fail
  })
  return { returned, resolve, reject }
}
