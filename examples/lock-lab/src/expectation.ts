import type { Counted, Counter } from './counter.ts'
import type { Lock } from './lock.ts'
import type { Property } from './properties/property.ts'
import { otherwise } from './told.ts'
import type { Trial } from './trial.ts'

/** Where a trial came out otherwise than the lock's file tells it: nothing, if all is well. */
export function surprises(lock: Lock, { name }: Property, trial: Trial): string[] {
  const expected = expectedVerdict(lock, name)
  const told = lock.told.filter(({ property }) => property === name)
  const wrong =
    trial.verdict === expected
      ? []
      : [`${lock.id}: "${name}" is told as ${expected}, and was ${trial.verdict}: ${trial.why}`]
  return [...wrong, ...told.flatMap((one) => otherwise(one, trial.steps, trial.why))]
}

function expectedVerdict({ breaks, moot }: Lock, name: Property['name']): Trial['verdict'] {
  if (breaks.includes(name)) return 'broken'
  return moot.includes(name) ? 'moot' : 'kept'
}

export function counterSurprises({ id, told }: Counter, { sum, steps }: Counted): string[] {
  const sentence = (made: number): string => `two increments made ${made}`
  const asLock = { id, property: 'two concurrent callers', steps: told.steps, broke: sentence(told.sum) } as const
  return otherwise(asLock, steps, sentence(sum))
}
