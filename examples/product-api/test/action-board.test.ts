import { once, EventEmitter } from 'node:events'
import { describe, expect, test } from '@jest/globals'
import { ActionBoard } from '../src/demo/live/action-board.ts'
import type { Effect, Told } from '../src/demo/live/action.ts'

function boardOf(run: () => Promise<Effect>, unavailable?: string): ActionBoard {
  return new ActionBoard([{ id: 'harm', label: 'Harm', explanation: 'harms', unavailable, run }], () => 7)
}

function stateOf(board: ActionBoard): string | undefined {
  return board.list()[0]?.state
}

describe('a button', () => {
  test('that lasts is undone by the second press, once', async () => {
    let restored = 0
    const restore = async (): Promise<Told> => ({ message: `restored ${(restored += 1)}` })
    const board = boardOf(async () => ({ message: 'harmed', restore, restoreAfterMs: 60_000 }))
    await board.press('harm')
    expect({ state: stateOf(board), in: board.list()[0]?.restoresIn }).toEqual({ state: 'active', in: 60 })
    await board.press('harm')
    expect({ state: stateOf(board), log: board.log }).toEqual({
      state: 'ready',
      log: [
        { number: 1, at: 7, text: 'harmed' },
        { number: 2, at: 7, text: 'restored 1' },
      ],
    })
  })

  test('that lasts is undone by itself', async () => {
    const undone = new EventEmitter()
    const ended = once(undone, 'restored')
    const restore = async (): Promise<Told> => ({ message: String(undone.emit('restored')) })
    const board = boardOf(async () => ({ message: 'harmed', restore, restoreAfterMs: 1 }))
    await board.press('harm')
    await ended
    expect(board.log[0]?.text).toBe('harmed')
  })

  test('that lasts is undone by a press only, if the demo holds', async () => {
    const restore = async (): Promise<Told> => ({ message: 'restored' })
    const action = { id: 'harm', label: 'Harm', explanation: '' }
    const run = async (): Promise<Effect> => ({ message: 'harmed', restore, restoreAfterMs: 1 })
    const board = new ActionBoard([{ ...action, run }], () => 7, true)
    await board.press('harm')
    expect(board.list()).toEqual([{ ...action, state: 'active', restoresIn: undefined }])
    await board.press('harm')
    expect(board.log.map(({ text }) => text)).toEqual(['harmed', 'restored'])
  })

  test('tells what each side counts, and then the sentence with the figures', async () => {
    let loads = 0
    let count = (_text: string): void => undefined
    const outcome = new Promise<string>((resolve) => (count = resolve))
    const figures = () => [{ strategy: 'cattlegrid', loads, longestWait: 0, errors: 0, outdated: 0 } as const]
    const board = boardOf(async () => ({ message: 'harmed', figures, outcome }))
    await board.press('harm')
    loads = 1
    expect(board.log).toMatchObject([{ text: 'harmed', figures: [{ strategy: 'cattlegrid', loads: 1 }] }])
    const changed = new Promise<void>((resolve) => board.onChange(resolve))
    count('harmed: 1 load')
    await changed
    expect(board.log).toMatchObject([{ text: 'harmed: 1 load' }])
  })

  test('that fails says why, and can be pressed again', async () => {
    const board = boardOf(() => Promise.reject(new Error('no process loads')))
    await board.press('harm')
    expect({ state: stateOf(board), log: board.log }).toEqual({
      state: 'ready',
      log: [{ number: 1, at: 7, text: '“Harm” failed: no process loads', failed: true }],
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
