import { strict as assert } from 'node:assert'
import type { Store } from '@cattlegrid/core'
import type { Board, Post } from '@cattlegrid/core/extend'
import { LONG, onStage, SHORT, type StoreContract } from './stage.ts'

const BOARD = 'loads:default'

async function post(store: Store, note: Partial<Post>): Promise<Board> {
  const answer = await store.post({ board: BOARD, process: 'a', text: 'text', keepFor: LONG, ...note })
  assert.equal(answer.kind, 'board')
  return answer
}

/** The boards on which processes tell each other of their loads. */
export function describeBoards({ factory, describe, test }: StoreContract): void {
  describe('a board', () => {
    test('has the last text of each process, whichever reads it', () =>
      onStage(factory, async ({ here, there }) => {
        await post(here, { process: 'a', text: 'old' })
        await post(here, { process: 'a', text: 'new 1,2 #' })
        const { posts } = await post(there, { process: 'b', text: '' })
        assert.deepEqual(Object.fromEntries(posts), { a: 'new 1,2 #', b: '' })
      }))

    test('has nothing of another board', () =>
      onStage(factory, async ({ here, there }) => {
        await post(here, { board: 'loads:other', process: 'a', heading: { round: 0, text: 'other' } })
        const { posts, round, heading } = await post(there, { process: 'b' })
        assert.deepEqual([[...posts.keys()], round, heading], [['b'], 0, ''])
      }))

    test('takes a text down when its time is over', () =>
      onStage(factory, async ({ here, there, advance }) => {
        await post(here, { process: 'a', keepFor: SHORT })
        await advance(SHORT)
        const { posts } = await post(there, { process: 'b' })
        assert.deepEqual([...posts.keys()], ['b'])
      }))

    test('gets one heading a round, whichever process is first', () =>
      onStage(factory, async ({ here, there }) => {
        const headings = ['one', 'two'].map((text) => ({ round: 0, text }))
        await Promise.all([post(here, { heading: headings[0] }), post(there, { process: 'b', heading: headings[1] })])
        const first = await post(there, { process: 'b' })
        assert.equal(first.round, 1)
        assert.ok(['one', 'two'].includes(first.heading), first.heading)
        const second = await post(here, { heading: { round: 1, text: 'three' } })
        assert.deepEqual([second.round, second.heading], [2, 'three'])
        const late = await post(there, { process: 'b', heading: { round: 1, text: 'late' } })
        assert.deepEqual([late.round, late.heading], [2, 'three'])
      }))

    test('tells the time by one clock', () =>
      onStage(factory, async ({ here, there, advance }) => {
        const before = await post(here, {})
        await advance(SHORT)
        const after = await post(there, { process: 'b' })
        assert.ok(after.now - before.now >= SHORT - 1, `${after.now - before.now}`)
      }))

    test('stays when the entries are cleared', () =>
      onStage(factory, async ({ here, there }) => {
        await post(here, { heading: { round: 0, text: 'kept' } })
        await here.clear()
        const { heading } = await post(there, { process: 'b' })
        assert.equal(heading, 'kept')
      }))
  })
}
