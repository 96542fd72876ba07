import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { Cache } from '@cattlegrid/core'
import type { Explanation, WeighedKey } from '@cattlegrid/explain'
import { urlTagsOf } from '@cattlegrid/http'
import { cattlegrid, type Ran } from './support/cli.ts'
import { ExplainStage, namespace } from '../../../test/support/explain-stage.ts'
import { until } from '../../../test/support/until.ts'

let stage: ExplainStage
beforeEach(async () => {
  stage = await ExplainStage.open()
})
afterEach(() => stage.close())

const run = (command: string, ...args: readonly string[]): Promise<Ran> =>
  cattlegrid([command, '--namespace', namespace, '--timeout', '20s', ...args], stage.server.url)

async function told(command: string, ...args: readonly string[]): Promise<string> {
  const { code, out, err } = await run(command, ...args)
  expect([code, err]).toEqual([0, ''])
  return out
}

interface ExplainDocument extends Omit<Explanation, 'problem'> {
  readonly notes: readonly string[]
}

const documentOf = async (key: string): Promise<ExplainDocument> =>
  JSON.parse(await told('explain', '--json', '--', key)) as ExplainDocument

describe('explain', () => {
  test('names the leader in another process, what happened there, and not its own process', async () => {
    const { pid } = await stage.startLeader()
    const out = await told('explain', 'k')
    expect(out).toMatch(new RegExp(`^[\\d:.]{12} pid ${pid}: miss: no earlier value is remembered`))
    expect(out).toContain('leads, attempt 1')
    expect(out).toMatch(new RegExp(`^The lease is held by pid ${pid} on \\S+, for .* it ends in`, 'm'))
    expect(out).not.toMatch(/keeps no history|did not answer/)
    const { processes, unanswered, events } = await documentOf('k')
    expect(processes).toMatchObject([{ name: 'leader', pid }])
    expect([unanswered, events.map(({ type }) => type)]).toEqual([0, ['miss', 'lead', 'load']])
  })

  test('says that the process that holds the lease is frozen or dead', async () => {
    const leader = await stage.startLeader()
    leader.kill('SIGSTOP')
    const { code, out } = await cattlegrid(
      ['explain', 'k', '--namespace', namespace, '--timeout', '4s'],
      stage.server.url,
    )
    expect(code).toBe(0)
    expect(out).toMatch(
      new RegExp(`The lease is held by pid ${leader.pid} on \\S+, which did not answer: it may be frozen or dead, for`),
    )
    expect(out).toMatch(/^1 process did not answer in time/m)
  })

  test('names the tag that was invalidated', async () => {
    const { cache } = await stage.join('shop')
    await cache.set('k', 1, { tags: ['product:7'] })
    await cache.invalidateTags(['product:7'])
    const out = await told('explain', 'k')
    expect(out).toContain('tag product:7 invalidated')
    expect(out).toContain('Now: gone, because the tag product:7 was invalidated after its load began.')
    expect(await documentOf('k')).toMatchObject({ state: { invalidatedTags: ['product:7'] }, notes: [] })
  })

  test('tells a key that cools down', async () => {
    const { cache } = await stage.join('shop', { failureCooldown: { min: '1m', max: '1m' } })
    const failing = cache.getOrSet('k', () => Promise.reject(new TypeError('secret')))
    await expect(failing).rejects.toThrow('secret')
    // The lease ends behind the answer.
    await until(async () => (await cache.inspect('k'))?.cooldown?.attempts === 1)
    const out = await told('explain', 'k')
    expect(out).toMatch(
      /^The key cools down: nobody loads it for another .*, because the last load failed \(TypeError\)/m,
    )
    expect(out).not.toContain('secret')
  })

  test('says which other namespaces have entries where nothing stands under the one that was given', async () => {
    const { cache } = await stage.join('shop')
    await cache.set('k', 1)
    const { code, out } = await cattlegrid(
      ['explain', 'k', '--namespace', 'shpo', '--timeout', '20s'],
      stage.server.url,
    )
    expect([code, out.trimEnd().split('\n')]).toEqual([
      0,
      [
        'No process that answered remembers an event of the key.',
        'Now: the store has no entry of the key.',
        `Nothing stands under the namespace 'shpo'; namespaces found: ${namespace}`,
      ],
    ])
  })

  test('finds a long key by itself and by the digest that events show', async () => {
    const { cache } = await stage.join('shop')
    const key = 'x'.repeat(2000)
    await cache.set(key, 1)
    const byKey = await documentOf(key)
    expect(byKey.sentences[0]).toBe(`The key is long: it is stored as ${byKey.key}.`)
    const byDigest = await documentOf(byKey.key)
    expect([byDigest.key, byDigest.state?.state]).toEqual([byKey.key, 'fresh'])
    expect(byDigest.events).toMatchObject([{ type: 'invalidate', fields: { how: 'set' } }])
  })

  test('explains the responses of a page', async () => {
    const { cache } = await stage.join('shop')
    const url = 'https://shop.example/products/7'
    await cache.set('http:a', 1, { tags: [...urlTagsOf(url)] })
    await cache.set('http:b', 1)
    const out = await told('explain', '--page', url)
    expect(out).toMatch(/^1 of 2 entries carry the tag of this URL\.\n\nhttp:a\n[\d:.]{12} pid \d+: a value was set\n/)
  })

  test('writes a trace of the events', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'cattlegrid-trace-'))
    stage.atEnd(() => rm(folder, { recursive: true }))
    const { pid } = await stage.startLeader()
    const file = join(folder, 'k.json')
    await told('explain', 'k', '--trace', file)
    const { traceEvents } = JSON.parse(await readFile(file, 'utf8')) as { traceEvents: { ph: string; name: string }[] }
    expect(traceEvents).toContainEqual(expect.objectContaining({ ph: 'X', name: 'load' }))
    expect(JSON.stringify(traceEvents)).toContain(`pid ${pid} on`)
    const { code, err } = await run('explain', 'k', '--trace', join(folder, 'none', 'k.json'))
    expect([code, err]).toEqual([1, expect.stringContaining('The trace cannot be written: ENOENT')])
  })

  test('ends with 1 and a sentence when the Redis user may not ask', async () => {
    await stage.admin.sendCommand(['ACL', 'SETUSER', 'narrow', 'on', '>pw', '~*', '&*', '+@all', '-publish'])
    const url = stage.server.url.replace('//', '//narrow:pw@')
    const { code, out, err } = await cattlegrid(['explain', 'k', '--timeout', '20s'], url)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^cattlegrid: The other processes could not be asked \(.*NOPERM.*\)\.\n/)
  })
})

describe('top', () => {
  test('adds up the load time and the followers of all processes', async () => {
    const open = async (): Promise<Cache> => (await stage.join('shop', {}, { plainKeys: true })).cache
    const [one, other] = [await open(), await open()]
    await Promise.all(Array.from({ length: 5 }, () => one.getOrSet('a', () => sleep(2))))
    await Promise.all(Array.from({ length: 3 }, () => other.getOrSet('b', () => sleep(40))))
    const keysBy = async (by: string): Promise<readonly WeighedKey[]> =>
      (JSON.parse(await told('top', '--by', by, '--json')) as { keys: WeighedKey[] }).keys
    // A load ends behind its callers, with its commit.
    await until(async () => (await keysBy('load-time')).length === 2)
    expect(await keysBy('followers')).toEqual([
      { key: 'a', weight: 4, error: 0 },
      { key: 'b', weight: 2, error: 0 },
    ])
    expect(await told('top', '--by', 'followers')).toBe(
      'key  followers  error\na    4 calls    0 calls\nb    2 calls    0 calls\n\n2 caches of 1 process answered.\n',
    )
    expect(await told('top')).toMatch(/^key {2}load-time {2}error\n[ab] +\d+ ms +0 ms\n[ab] +\d+ ms +0 ms\n/)
  })

  test('shows digests of keys by default, and says when no process answers', async () => {
    expect(await told('top')).toMatch(/^No key has any weight\.\n\n0 caches of 0 processes answered\.\nNothing stands/)
    const { cache } = await stage.join('shop')
    await cache.getOrSet('secret', () => 1)
    await until(async () => (await told('top')).includes('#'))
    expect(await told('top')).not.toContain('secret')
  })
})
