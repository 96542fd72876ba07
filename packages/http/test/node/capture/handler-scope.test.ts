import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, jest, test } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { HandlerScope } from '../../../src/node/capture/handler-scope.ts'
import { record } from '../../support/recorded-server.ts'

const later = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

describe('whose code runs', () => {
  test('a handler and what it starts are inside, a call of an outer layer is outside, other code is unknown', async () => {
    const scope = new HandlerScope()
    expect(scope.side).toBeUndefined()
    const inside = scope.runInside(() => later().then(() => scope.side))
    const outside = scope.runInside(() => scope.runOutside(() => later().then(() => scope.side)))
    expect(await Promise.all([inside, outside])).toEqual(['inside', 'outside'])
    expect(scope.side).toBeUndefined()
    scope.close()
  })

  test('a handler inside another one is inside both', () => {
    const outer = new HandlerScope()
    outer.runInside(() => {
      const inner = new HandlerScope()
      inner.runInside(() => expect([outer.side, inner.side]).toEqual(['inside', 'inside']))
      inner.runOutside(() => expect([outer.side, inner.side]).toEqual(['inside', 'outside']))
      inner.close()
    })
    outer.close()
  })

  test('after the close it is unknown, and the other scopes stay as they are', async () => {
    const open = new HandlerScope()
    const sides = open.runInside(() => {
      const closed = new HandlerScope()
      const seen = closed.runInside(() => later().then(() => [open.side, closed.side]))
      closed.close()
      return seen
    })
    expect(await sides).toEqual(['inside', undefined])
    open.close()
  })
})

describe('the AsyncLocalStorage of handlers', () => {
  test('is disabled once no response is recorded, because it slows every promise of the process', async () => {
    const off = jest.spyOn(AsyncLocalStorage.prototype, 'disable')
    const [one, other] = [new HandlerScope(), new HandlerScope()]
    one.close()
    expect(off).not.toHaveBeenCalled()
    other.close()
    expect(off).toHaveBeenCalledTimes(1)
    await record((res) => res.end('hi'))
    expect(off).toHaveBeenCalledTimes(2)
    off.mockRestore()
  })

  test('is that of the loads, because each enabled one slows every promise of the process again', async () => {
    const run = jest.spyOn(AsyncLocalStorage.prototype, 'run')
    const cache = createCache({ ttl: '1m' })
    const scope = new HandlerScope()
    expect(await scope.runInside(() => cache.getOrSet('key', async () => scope.side))).toBe('inside')
    expect(run).toHaveBeenCalledTimes(2)
    expect(new Set(run.mock.contexts).size).toBe(1)
    scope.close()
    await cache.close()
    run.mockRestore()
  })

  test('stays disabled when the handler or an outer layer runs after the close', () => {
    const scope = new HandlerScope()
    scope.close()
    const run = jest.spyOn(AsyncLocalStorage.prototype, 'run')
    expect([scope.runInside(() => 'handler'), scope.runOutside(() => 'layer')]).toEqual(['handler', 'layer'])
    expect(run).not.toHaveBeenCalled()
    run.mockRestore()
  })
})
