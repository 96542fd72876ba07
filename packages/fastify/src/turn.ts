/** How Fastify learns what a handler returned that runs later. */
export interface Turn {
  readonly returned: Promise<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Made where it is needed: a hit needs none. */
export function newTurn(): Turn {
  let turn: Omit<Turn, 'returned'> | undefined
  const returned = new Promise((resolve, reject) => {
    turn = { resolve, reject }
  })
  return { resolve: () => undefined, reject: () => undefined, ...turn, returned }
}
