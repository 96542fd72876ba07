import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { Diagnosis, Explanation } from '@cattlegrid/explain'
import { ExplainStage, namespace } from '../../../test/support/explain-stage.ts'
import { until } from '../../../test/support/until.ts'

let stage: ExplainStage
beforeEach(async () => {
  stage = await ExplainStage.open()
})
afterEach(() => stage.close())

const explain = (diagnosis: Diagnosis): Promise<Explanation> => diagnosis.explain('k', { timeout: '2s' })

describe('an explanation over Redis', () => {
  test('names the leader in another process, and tells what happened there', async () => {
    const { diagnosis } = await stage.join('web')
    const { pid } = await stage.startLeader()
    const { events, sentences, processes, unanswered } = await explain(diagnosis)
    expect(unanswered).toBe(0)
    expect(processes).toMatchObject([{ name: 'web' }, { name: 'leader', pid }])
    expect(events.filter(({ type }) => type === 'lead')).toMatchObject([{ process: { pid } }])
    expect(sentences.join('\n')).toMatch(new RegExp(`The lease is held by pid ${pid} on \\S+, for .* it ends in`))
  })

  test('names a leader that is frozen, and says that it did not answer', async () => {
    const { diagnosis } = await stage.join('web')
    const leader = await stage.startLeader()
    leader.kill('SIGSTOP')
    const { sentences, unanswered } = await diagnosis.explain('k', { timeout: '300ms' })
    expect(unanswered).toBe(1)
    expect(sentences.join('\n')).toMatch(
      new RegExp(`The lease is held by pid ${leader.pid} on \\S+, which did not answer: it may be frozen or dead, for`),
    )
    expect(sentences.at(-1)).toBe('1 process did not answer in time: frozen, busy, or of an older version.')
  })

  test('names the leader to a process that waits for it', async () => {
    const { cache, diagnosis } = await stage.join('web')
    const { pid } = await stage.startLeader()
    const leaving = new AbortController()
    const call = cache.getOrSet('k', () => 1, { signal: leaving.signal })
    await until(async () => (await explain(diagnosis)).events.some(({ type }) => type === 'follow'))
    const { events } = await explain(diagnosis)
    const lease = events.find(({ type }) => type === 'lead')?.fields['lease']
    expect(events.find(({ type }) => type === 'follow')?.fields).toMatchObject({ pid, lease })
    leaving.abort(new Error('left'))
    await expect(call).rejects.toThrow('left')
  })

  test('holds what this process remembers when Redis is gone, and says so', async () => {
    const { cache, diagnosis } = await stage.join('web')
    await cache.set('k', 1)
    await stage.server.stop()
    await until(async () => (await explain(diagnosis)).problem !== undefined)
    const { sentences, state, events } = await explain(diagnosis)
    expect(state).toBeUndefined()
    expect(events.some(({ type }) => type === 'invalidate')).toBe(true)
    expect(sentences.at(-1)).toMatch(/^The other processes could not be asked \(.+\): only what this process remembers/)
  })

  test('leaves no key behind, and is not harmed by what others publish and append', async () => {
    const [asking, other] = [await stage.join('asking'), await stage.join('other')]
    await other.cache.set('k', 1)
    const channel = `${namespace}:wake`
    for (const message of ['ask', 'ask x {}', `ask ${'i'.repeat(22)} garbage`, `ask ${'j'.repeat(22)} {"kind":"x"}`])
      await stage.admin.publish(channel, message)
    await until(async () => (await stage.admin.keys(`${namespace}:*answers*`)).length === 2)
    for (const name of await stage.admin.keys(`${namespace}:*answers*`)) {
      expect(await stage.admin.pTTL(name)).toBeGreaterThan(0)
      await stage.admin.rPush(name, ['garbage', '{"a":1}', '[7,"x"]'])
      await stage.admin.unlink(name)
    }
    const { events, processes } = await explain(asking.diagnosis)
    expect(processes.map(({ name }) => name)).toEqual(['asking', 'other'])
    expect(events).toMatchObject([{ type: 'invalidate', process: { name: 'other' } }])
    expect(await stage.admin.keys(`${namespace}:*answers*`)).toEqual([])
  })

  test('is answered by the other processes also where its entry has the most and the longest tags', async () => {
    const [asking] = [await stage.join('asking'), await stage.join('other')]
    const tags = Array.from({ length: 100 }, (_, at) => `${at} `.padEnd(256, '\u0001'))
    await asking.cache.set('k', 1, { tags })
    const { unanswered, processes } = await explain(asking.diagnosis)
    expect([unanswered, processes.map(({ name }) => name)]).toEqual([0, ['asking', 'other']])
  })

  test('is not waited for by a cache that keeps nothing', async () => {
    const asking = await stage.join('asking')
    await stage.join('silent', {}, { history: 0, hotKeys: 0 })
    expect(await explain(asking.diagnosis)).toMatchObject({ unanswered: 0, processes: [{ name: 'asking' }] })
  })

  test('is asked by a bounded number of answers: a flood of questions is not answered', async () => {
    await stage.join('answering')
    for (let index = 0; index < 100; index += 1)
      await stage.admin.publish(`${namespace}:wake`, `ask ${String(index).padStart(22, 'q')} {"kind":"hot-keys"}`)
    await until(async () => (await stage.admin.keys(`${namespace}:*answers*`)).length >= 20)
    expect((await stage.admin.keys(`${namespace}:*answers*`)).length).toBeLessThan(100)
  })

  test('adds up the hot keys of all processes', async () => {
    const plain = { plainKeys: true }
    const [one, other] = [await stage.join('one', {}, plain), await stage.join('other', {}, plain)]
    await Promise.all(Array.from({ length: 5 }, () => one.cache.getOrSet('a', () => sleep(2))))
    await Promise.all(Array.from({ length: 3 }, () => other.cache.getOrSet('b', () => sleep(2))))
    // A load ends behind its callers, with its commit.
    const loaded = async () =>
      (await one.diagnosis.hotKeys({ timeout: '2s' })).loadTime.map(({ key }) => key).toSorted()
    await until(async () => (await loaded()).length === 2)
    expect(await loaded()).toEqual(['a', 'b'])
    const { followers } = await one.diagnosis.hotKeys({ timeout: '2s' })
    expect(followers).toEqual([
      { key: 'a', weight: 4, error: 0 },
      { key: 'b', weight: 2, error: 0 },
    ])
  })
})
