import { strict as assert } from 'node:assert'
import type { Store } from '@cattlegrid/core'
import type { RefreshRequest } from '@cattlegrid/core/extend'
import { LONG, onStage, SHORT, type Stage, type StoreContract } from './stage.ts'

let requests = 0

function request(limits: Partial<RefreshRequest>): RefreshRequest {
  requests += 1
  const token = `refresh-${requests}`.padEnd(22, '.')
  return { token, perSecond: undefined, atOnce: undefined, holdFor: LONG, ...limits }
}

/**
 * Asks for this number of permits at once, in turn from each process; returns how many were granted, and the
 * time after which to ask again.
 */
async function ask(
  [first, second = first]: readonly [Store, Store?],
  count: number,
  limits: Partial<RefreshRequest>,
): Promise<{ readonly granted: readonly RefreshRequest[]; readonly retryAfter: number }> {
  const all = Array.from({ length: count }, () => request(limits))
  const answers = await Promise.all(all.map((one, index) => (index % 2 === 0 ? first : second).permitRefresh(one)))
  const granted = all.filter((_, index) => answers[index]?.kind === 'granted')
  const waits = answers.map((answer) => (answer.kind === 'exhausted' ? answer.retryAfter : 0))
  for (const answer of answers)
    assert.ok(answer.kind === 'granted' || (answer.kind === 'exhausted' && answer.retryAfter > 0))
  return { granted, retryAfter: Math.max(...waits) }
}

/**
 * Asks for many at once: `burst` are granted, and on a slow machine those of the time that it took. Returns
 * the time after which to ask again.
 */
async function askAtRate(
  { here, there, now }: Stage,
  count: number,
  perSecond: number,
  burst: number,
): Promise<number> {
  const before = now()
  const { granted, retryAfter } = await ask([here, there], count, { perSecond })
  const most = burst + ((now() - before) * perSecond) / 1000
  assert.ok(granted.length >= burst && granted.length <= most, `${granted.length} of at most ${most}`)
  return retryAfter
}

/** The permits of background refreshes. */
export function describeRefreshPermits({ factory, describe, test }: StoreContract): void {
  describe('a permit for a refresh', () => {
    test('is granted at most `perSecond` times in a second, whatever process asks, and again after `retryAfter`', () =>
      onStage(factory, async (stage) => {
        const retryAfter = await askAtRate(stage, 6, 1, 1)
        assert.ok(retryAfter > 0 && retryAfter <= 1200, `${retryAfter}`)
        await stage.advance(retryAfter)
        await askAtRate(stage, 6, 1, 1)
      }))

    test('may come a little early', () =>
      onStage(factory, async (stage) => {
        await askAtRate(stage, 80, 40, 3)
        await stage.advance(1000)
        await askAtRate(stage, 80, 40, 3)
      }))

    test('that was not used gives its share back', () =>
      onStage(factory, async ({ here, there }) => {
        const { granted } = await ask([here], 1, { perSecond: 1 })
        for (const one of granted) await there.endRefresh(one, true)
        assert.equal((await ask([there], 1, { perSecond: 1 })).granted.length, 1)
      }))

    test('that was used keeps its share', () =>
      onStage(factory, async ({ here, there, now }) => {
        const before = now()
        const { granted } = await ask([here], 1, { perSecond: 1 })
        for (const one of granted) await here.endRefresh(one, false)
        const again = await ask([there], 1, { perSecond: 1 })
        assert.ok(again.granted.length === 0 || now() - before > 1000)
      }))

    test('is granted `atOnce` times, until one ends in any process', () =>
      onStage(factory, async ({ here, there }) => {
        const { granted } = await ask([here, there], 5, { atOnce: 2 })
        assert.equal(granted.length, 2)
        for (const one of granted.slice(1)) await there.endRefresh(one, false)
        assert.equal((await ask([here, there], 5, { atOnce: 2 })).granted.length, 1)
      }))

    test('whose process has died ends after `holdFor`, and no other with it', () =>
      onStage(factory, async ({ here, there, advance }) => {
        assert.equal((await ask([here], 1, { atOnce: 2, holdFor: SHORT })).granted.length, 1)
        assert.equal((await ask([here], 2, { atOnce: 2 })).granted.length, 1)
        await advance(SHORT)
        assert.equal((await ask([there], 3, { atOnce: 2 })).granted.length, 1)
      }))

    test('that is refused by one limit counts towards none', () =>
      onStage(factory, async ({ here, there }) => {
        const { granted } = await ask([here], 1, { perSecond: 1, atOnce: 1 })
        assert.equal((await ask([there], 2, { perSecond: 1, atOnce: 1 })).granted.length, 0)
        for (const one of granted) await here.endRefresh(one, true)
        assert.equal((await ask([there], 2, { perSecond: 1, atOnce: 1 })).granted.length, 1)
      }))

    test('may be ended again, or without having been granted', () =>
      onStage(factory, async ({ here, there }) => {
        const unknown = request({ perSecond: 1, atOnce: 1 })
        for (const store of [here, there]) assert.deepEqual(await store.endRefresh(unknown, true), { kind: 'done' })
        assert.equal((await ask([here, there], 2, { perSecond: 1, atOnce: 1 })).granted.length, 1)
      }))
  })
}
