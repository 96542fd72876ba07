import type { Lock } from './lock.ts'
import { type Interleaving, moot, type Property, type Verdict } from './properties/property.ts'
import { Scene } from './scene.ts'
import type { Step } from './step.ts'
import type { World } from './worlds/world.ts'

/** What came of putting a property to a lock: the play that broke it, or else the first one. */
export interface Trial extends Verdict {
  readonly steps: readonly Step[]
  /** In how many plays: with nobody pausing, and with the pause in each place. */
  readonly plays: number
}

/** Plays every interleaving of the property, with the pause in every place, until one breaks it. `freshName` gives each play its own keys. */
export async function tryLock(lock: Lock, property: Property, world: World, freshName: () => string): Promise<Trial> {
  if (lock.renew === undefined && property.interleavings.some(asksForRenewal))
    return { ...moot('it cannot be renewed'), steps: [], plays: 0 }
  let shown: Omit<Trial, 'plays'> | undefined
  let plays = 0
  for (const { moves, judge } of property.interleavings) {
    for (let pauseAfter = 0, paused = true; paused; pauseAfter += 1) {
      const scene = new Scene(lock, world, freshName(), pauseAfter)
      await scene.play(moves)
      plays += 1
      const verdict = judge(scene)
      if (verdict.verdict === 'broken') return { ...verdict, steps: scene.steps, plays }
      shown ??= { ...verdict, steps: scene.steps }
      paused = scene.paused
    }
  }
  if (shown === undefined) throw new Error(`${property.name} has no interleaving`)
  return { ...shown, plays }
}

function asksForRenewal({ moves }: Interleaving): boolean {
  return moves.some((move) => move.at(-1) === 'renew')
}
