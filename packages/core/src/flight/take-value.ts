import { deepFreeze, type Entry } from '../entry.ts'
import type { Settings } from '../options/settings.ts'

/**
 * Returns an entry's value for one more caller. An entry of a shared store has the bytes of its value: the
 * first caller gets the value that the store decoded, every further one a value of its own, or all get one
 * that nobody can change. A value that this process keeps has no bytes: all hits share it.
 */
export function takeValue(entry: Entry, { codec, freeze }: Pick<Settings, 'codec' | 'freeze'>): unknown {
  const { encoded, value } = entry
  if (encoded === undefined || codec.immutable === true) return value
  if (entry.taken === true) return freeze ? value : codec.decode(encoded)
  if (freeze) deepFreeze(value)
  entry.taken = true
  return value
}
