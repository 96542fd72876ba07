import { expect, test } from '@jest/globals'
import { HandlerLimit } from '../src/route/handler-limit.ts'

const signal = new AbortController().signal

test('as many handlers run as may, and the others follow in order', async () => {
  const limit = new HandlerLimit(2)
  const ran: string[] = []
  const run = async (name: string): Promise<() => void> => {
    const end = await limit.acquire(signal)
    ran.push(name)
    return end
  }
  const [endA] = await Promise.all([run('a'), run('b')])
  const waiting = [run('c'), run('d')]
  await new Promise(setImmediate)
  expect(ran).toEqual(['a', 'b'])
  expect(limit.full).toBe(true)
  endA?.()
  // A second release of the same place frees no other.
  endA?.()
  await waiting[0]
  await new Promise(setImmediate)
  expect(ran).toEqual(['a', 'b', 'c'])
})

test('an aborted waiter takes no place', async () => {
  const limit = new HandlerLimit(1)
  const end = await limit.acquire(signal)
  const aborter = new AbortController()
  const left = limit.acquire(aborter.signal)
  const follower = limit.acquire(signal)
  aborter.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  end()
  ;(await follower)()
  expect(limit.full).toBe(false)
})
