import { isDeepStrictEqual } from 'node:util'
import type { Name } from './caller.ts'
import type { Happening } from './move.ts'
import type { PropertyName } from './property-name.ts'
import type { Step } from './step.ts'

/** Who or what, which command, and the reply that must come; any reply will do where none is given, because it is a time. */
export type ToldStep = readonly [who: Name | Happening, text?: string, reply?: unknown]

/** An interleaving as it is told: the lab must see the very same commands and replies, and find the same thing broken. */
export interface Told {
  readonly id: string
  readonly property: PropertyName
  readonly steps: readonly ToldStep[]
  readonly broke: string
}

/** Where a play went otherwise than it is told. */
export function otherwise(told: Told, steps: readonly Step[], broke: string): string[] {
  const length = Math.max(told.steps.length, steps.length)
  const first = Array.from({ length }, (_, place) => place).find((place) => !agrees(told.steps[place], steps[place]))
  const found: string[] = []
  if (first !== undefined) {
    const [wanted, seen] = [told.steps[first], steps[first]].map((step) => JSON.stringify(step) ?? 'nothing')
    found.push(`${told.id}: step ${first + 1} is told as ${wanted}, and was ${seen}`)
  }
  if (broke !== told.broke) found.push(`${told.id}: told as "${told.broke}", and was "${broke}"`)
  return found
}

function agrees(told: ToldStep | undefined, seen: Step | undefined): boolean {
  if (told === undefined || seen === undefined) return false
  const [who, text, ...reply] = told
  return who === seen.who && text === seen.text && (reply.length === 0 || isDeepStrictEqual(reply[0], seen.reply))
}
