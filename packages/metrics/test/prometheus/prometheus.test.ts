import { describe, expect, it } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { prometheusMetrics } from '@cattlegrid/metrics/prometheus'
import { Registry } from 'prom-client'
import { pairOfCaches, playEveryOutcome } from '../support/every-outcome.ts'

/** The lines of a registry without comments and buckets, by their name and labels. */
async function linesOf(register: Registry): Promise<ReadonlyMap<string, number>> {
  const lines = (await register.metrics())
    .split('\n')
    .filter((line) => line.startsWith('cattlegrid') && !line.includes('_bucket'))
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ')
      return [line.slice(0, at), Number(line.slice(at + 1))]
    }),
  )
}

describe('the metrics of a cache', () => {
  it('tell every outcome', async () => {
    const pair = pairOfCaches()
    const register = new Registry()
    prometheusMetrics(pair.cache, { register })
    await playEveryOutcome(pair)
    const lines = await linesOf(register)
    const found = Object.fromEntries([...lines].filter(([, value]) => value !== 0))
    expect(found).toEqual({
      'cattlegrid_breaker_open{cache="one"}': 1,
      'cattlegrid_commits_refused_total{cache="one",reason="voided"}': 1,
      'cattlegrid_cooldowns_total{cache="one"}': 2,
      'cattlegrid_disconnected_seconds_total{cache="one"}': 3,
      'cattlegrid_invalidations_total{cache="one",how="delete"}': 1,
      'cattlegrid_invalidations_total{cache="one",how="set"}': 1,
      'cattlegrid_invalidations_total{cache="one",how="tags"}': 1,
      'cattlegrid_leases_lost_total{cache="one",reason="voided"}': 1,
      'cattlegrid_load_seconds_count{cache="one",outcome="abandoned"}': 1,
      'cattlegrid_load_seconds_count{cache="one",outcome="committed"}': 4,
      'cattlegrid_load_seconds_count{cache="one",outcome="failed"}': 2,
      'cattlegrid_load_seconds_count{cache="one",outcome="refused"}': 1,
      'cattlegrid_load_seconds_count{cache="one",outcome="uncacheable"}': 2,
      'cattlegrid_load_seconds_sum{cache="one",outcome="committed"}': 2.4,
      'cattlegrid_avoided_load_seconds_total{cache="one",by="entry"}': 0.2,
      'cattlegrid_avoided_load_seconds_total{cache="one",by="follower"}': 0.2,
      'cattlegrid_avoided_loads_total{cache="one",by="entry"}': 1,
      'cattlegrid_avoided_loads_total{cache="one",by="follower"}': 1,
      'cattlegrid_loads_total{cache="one",background="false",leased="false"}': 1,
      'cattlegrid_loads_total{cache="one",background="false",leased="true"}': 8,
      'cattlegrid_loads_total{cache="one",background="true",leased="true"}': 1,
      'cattlegrid_lookups_total{cache="one",status="failed",from="",role=""}': 3,
      'cattlegrid_lookups_total{cache="one",status="fresh",from="store",role="none"}': 1,
      'cattlegrid_lookups_total{cache="one",status="loaded",from="load",role="follower"}': 1,
      'cattlegrid_lookups_total{cache="one",status="loaded",from="load",role="leader"}': 7,
      'cattlegrid_lookups_total{cache="one",status="stale",from="store",role="none"}': 3,
      'cattlegrid_not_stored_total{cache="one",outcome="abandoned",reason="away"}': 1,
      'cattlegrid_not_stored_total{cache="one",outcome="failed",reason=""}': 2,
      'cattlegrid_not_stored_total{cache="one",outcome="refused",reason="voided"}': 1,
      'cattlegrid_not_stored_total{cache="one",outcome="uncacheable",reason="personal"}': 1,
      'cattlegrid_not_stored_total{cache="one",outcome="uncacheable",reason="set-cookie"}': 1,
      'cattlegrid_notices_connected{cache="one"}': 1,
      'cattlegrid_personal_reads_total{cache="one"}': 1,
      'cattlegrid_stale_age_seconds_count{cache="one"}': 3,
      'cattlegrid_stale_age_seconds_sum{cache="one"}': 62,
      'cattlegrid_store_errors_total{cache="one",step="read"}': 1,
      'cattlegrid_takeovers_total{cache="one"}': 1,
      'cattlegrid_violations_total{cache="one",what="commit-after-loss"}': 1,
      'cattlegrid_wait_seconds_count{cache="one",status="failed",role=""}': 3,
      'cattlegrid_wait_seconds_count{cache="one",status="loaded",role="follower"}': 1,
      'cattlegrid_wait_seconds_count{cache="one",status="loaded",role="leader"}': 7,
      'cattlegrid_wait_seconds_count{cache="one",status="stale",role="none"}': 2,
      'cattlegrid_wait_seconds_sum{cache="one",status="failed",role=""}': 1,
      'cattlegrid_wait_seconds_sum{cache="one",status="loaded",role="follower"}': 0.2,
      'cattlegrid_wait_seconds_sum{cache="one",status="loaded",role="leader"}': 3.2,
      'cattlegrid_wait_timeouts_total{cache="one"}': 1,
    })
  })

  it('have a line for violations before there is one', async () => {
    const register = new Registry()
    prometheusMetrics(createCache({ name: 'quiet' }), { register })
    expect((await linesOf(register)).get('cattlegrid_violations_total{cache="quiet",what="commit-after-loss"}')).toBe(0)
  })

  it('say what runs and waits now', async () => {
    const { cache, runtime } = pairOfCaches()
    const register = new Registry()
    prometheusMetrics(cache, { register })
    const calls = ['a', 'a', 'b'].map((key) =>
      cache.getOrSet(key, () => new Promise((resolve) => runtime.schedule(() => resolve(1), 100))),
    )
    await runtime.advance(50)
    const running = await linesOf(register)
    const now = ['waiters', 'loads_running', 'leases_held'].map((name) =>
      running.get(`cattlegrid_${name}{cache="one"}`),
    )
    expect(now).toEqual([3, 2, 2])
    await runtime.advance(50)
    await Promise.all(calls)
  })

  it('count each node of a store that has several', async () => {
    const { cache, notify, runtime } = pairOfCaches()
    const register = new Registry()
    prometheusMetrics(cache, { register })
    const [first, second] = ['10.0.0.1:6379', '10.0.0.2:6379']
    const seen = async (): Promise<unknown[]> => {
      const lines = await linesOf(register)
      const names = ['breaker_open', 'notices_connected', 'disconnected_seconds_total']
      return names.map((name) => lines.get(`cattlegrid_${name}{cache="one"}`))
    }
    for (const part of [first, second]) notify({ kind: 'away', part })
    for (const part of [first, second]) notify({ kind: 'disconnected', part })
    await runtime.advance(1000)
    expect(await seen()).toEqual([2, 0, 1])
    notify({ kind: 'back', part: first })
    notify({ kind: 'connected', part: first })
    await runtime.advance(1000)
    expect(await seen()).toEqual([1, 0, 2])
    notify({ kind: 'back', part: second })
    notify({ kind: 'connected' })
    await runtime.advance(1000)
    expect(await seen()).toEqual([0, 1, 2])
  })

  it('share a registry with those of other caches, which have other names', async () => {
    const { cache, other } = pairOfCaches()
    const register = new Registry()
    const stop = prometheusMetrics(cache, { register })
    prometheusMetrics(other, { register })
    await cache.getOrSet('k', () => 1)
    await other.getOrSet('k', () => 2)
    const lines = await linesOf(register)
    expect(lines.get('cattlegrid_loads_total{cache="one",background="false",leased="true"}')).toBe(1)
    expect(lines.get('cattlegrid_lookups_total{cache="two",status="fresh",from="store",role="none"}')).toBe(1)
    expect(() => prometheusMetrics(cache.with({ ttl: '1s' }), { register })).toThrow(/createCache\(\{ name \}\)/)
    stop()
    expect([...(await linesOf(register)).keys()].filter((line) => /total.*"one"/.test(line))).toEqual([])
    prometheusMetrics(cache, { register })
  })

  it('come back after the registry was cleared', async () => {
    const { cache } = pairOfCaches()
    const register = new Registry()
    prometheusMetrics(cache, { register })()
    register.clear()
    prometheusMetrics(cache, { register })
    expect((await linesOf(register)).size).toBeGreaterThan(10)
  })

  it('have no more than 50 reasons that loaders invent, and then one more', async () => {
    const { cache } = pairOfCaches()
    const register = new Registry()
    prometheusMetrics(cache, { register })
    for (let index = 0; index < 60; index += 1)
      await cache.lookup(`k${index}`, (load) => load.uncacheable({ why: `reason ${index}` }))
    const lines = [...(await linesOf(register))].filter(([line]) => line.startsWith('cattlegrid_not_stored_total'))
    expect(lines.length).toBe(51)
    expect(lines.at(-1)).toEqual([expect.stringContaining('reason="other"'), 10])
  })

  it('count the time of avoided loads only once a load has shown how long one takes', async () => {
    const { cache, runtime } = pairOfCaches()
    const register = new Registry()
    prometheusMetrics(cache, { register })
    const seconds = async (): Promise<number | undefined> =>
      (await linesOf(register)).get('cattlegrid_avoided_load_seconds_total{cache="one",by="entry"}')
    await cache.set('k', 1)
    for (let call = 0; call < 10; call += 1) await cache.getOrSet('k', () => 2)
    expect(await seconds()).toBe(0)
    const loading = cache.getOrSet('other', () => new Promise((resolve) => runtime.schedule(() => resolve(1), 500)))
    await runtime.advance(500)
    await loading
    expect(await seconds()).toBe(5)
  })

  it('fail no call when the registry throws', async () => {
    const { cache } = pairOfCaches()
    const register = new Registry()
    prometheusMetrics(cache, { register })
    const failed: string[] = []
    cache.on('observer-failed', ({ event }) => failed.push(event))
    const histogram = register.getSingleMetric('cattlegrid_wait_seconds') as unknown as { observe: () => void }
    histogram.observe = () => {
      throw new Error('broken')
    }
    expect(await cache.getOrSet('k', () => 'value')).toBe('value')
    expect(failed).toEqual(['answer'])
  })
})
