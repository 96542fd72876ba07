import { once, EventEmitter } from 'node:events'
import { describe, expect, test } from '@jest/globals'
import { ActionBoard } from '../src/demo/live/action-board.ts'
import type { Effect } from '../src/demo/live/action.ts'

function boardOf(run: () => Promise<Effect>, unavailable?: string): ActionBoard {
  return new ActionBoard([{ id: 'harm', label: 'Harm', explanation: 'harms', unavailable, run }], () => 7)
}

function stateOf(board: ActionBoard): string | undefined {
  return board.list()[0]?.state
}

describe('a button', () => {
  test('that lasts is undone by the second press, once', async () => {
    let restored = 0
    const restore = async (): Promise<string> => `restored ${(restored += 1)}`
    const board = boardOf(async () => ({ message: 'harmed', restore, restoreAfterMs: 60_000 }))
    await board.press('harm')
    expect({ state: stateOf(board), in: board.list()[0]?.restoresIn }).toEqual({ state: 'active', in: 60 })
    await board.press('harm')
    expect({ state: stateOf(board), log: board.log }).toEqual({
      state: 'ready',
      log: [
        { at: 7, text: 'harmed' },
        { at: 7, text: 'restored 1' },
      ],
    })
  })

  test('that lasts is undone by itself', async () => {
    const undone = new EventEmitter()
    const ended = once(undone, 'restored')
    const restore = async (): Promise<string> => String(undone.emit('restored'))
    const board = boardOf(async () => ({ message: 'harmed', restore, restoreAfterMs: 1 }))
    await board.press('harm')
    await ended
    expect(board.log[0]?.text).toBe('harmed')
  })

  test('that fails says why, and can be pressed again', async () => {
    const board = boardOf(() => Promise.reject(new Error('no process loads')))
    await board.press('harm')
    expect({ state: stateOf(board), log: board.log }).toEqual({
      state: 'ready',
      log: [{ at: 7, text: 'failed: no process loads' }],
    })
  })

  test('is not pressed a second time while it runs', async () => {
    let end = (): void => undefined
    const held = new Promise<Effect>((resolve) => (end = () => resolve({ message: 'harmed' })))
    const board = boardOf(() => held)
    const first = board.press('harm')
    expect([stateOf(board), await board.press('harm')]).toEqual(['running', false])
    end()
    expect([await first, stateOf(board)]).toEqual([true, 'ready'])
  })

  test('that is not available does nothing', async () => {
    const board = boardOf(() => Promise.reject(new Error('pressed')), 'your own Redis')
    expect([await board.press('harm'), await board.press('unknown'), stateOf(board)]).toEqual([
      false,
      false,
      'unavailable',
    ])
  })
})
