import { expect, test } from '@jest/globals'
import { HandlerLimit } from '../src/route/handler-limit.ts'

const signal = new AbortController().signal

test('as many as may run do, the others follow in the order in which they came', async () => {
  const turns = new HandlerLimit(2)
  const ran: string[] = []
  const run = async (name: string): Promise<() => void> => {
    const end = await turns.acquire(signal)
    ran.push(name)
    return end
  }
  const [endA] = await Promise.all([run('a'), run('b')])
  const waiting = [run('c'), run('d')]
  await new Promise(setImmediate)
  expect(ran).toEqual(['a', 'b'])
  expect(turns.full).toBe(true)
  endA?.()
  // A second word about the same turn gives no turn away.
  endA?.()
  await waiting[0]
  await new Promise(setImmediate)
  expect(ran).toEqual(['a', 'b', 'c'])
})

test('who gave up waiting takes no turn', async () => {
  const turns = new HandlerLimit(1)
  const end = await turns.acquire(signal)
  const leaver = new AbortController()
  const left = turns.acquire(leaver.signal)
  const follower = turns.acquire(signal)
  leaver.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  end()
  ;(await follower)()
  expect(turns.full).toBe(false)
})
