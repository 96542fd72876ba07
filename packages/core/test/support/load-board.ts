import type { Store } from '@cattlegrid/core'
import type { ManualRuntime } from '@cattlegrid/testkit'
import { limitThatFollows } from '../../src/policy/load-limit.ts'

/** The limit of a source of which nothing is known. */
export const FIRST: number = limitThatFollows.first.limit

/** Writes a limit on the board of a source, as a process does that has computed it. */
export async function setLimit(
  { store, runtime }: { readonly store: Store; readonly runtime: ManualRuntime },
  limit: number,
  source: string,
): Promise<void> {
  const post = { board: `loads:${source}`, process: 'test', text: '', keepFor: 1 }
  const board = await store.post(post)
  if (board.kind !== 'board') throw new Error('away')
  const text = JSON.stringify({ ...limitThatFollows.first, growth: 1.05, limit, base: 10 })
  await store.post({ ...post, heading: { round: board.round, text } })
  await runtime.advance(1)
}
