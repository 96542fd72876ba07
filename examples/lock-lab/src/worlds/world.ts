import type { Fault } from '../move.ts'
import type { Connections } from './connections.ts'

/** A server, or two, on which plays take place, one after the other. */
export interface World {
  readonly connections: Connections
  /** Makes ready for the next play. */
  prepare(): Promise<void>
  /** Lets it happen for real. Throws on what cannot happen here. */
  suffer(fault: Fault): Promise<void>
  stop(): Promise<void>
}

export function impossible(fault: Fault): never {
  throw new Error(`In this world it cannot happen that ${fault}`)
}

/** Asks every millisecond until the answer is yes; gives up after a time that only a broken server takes. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 10_000
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`Waited in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}
