// What two processes of an application see, one with a client of its own, the other with `redisStore({ url })`: each row is a behaviour, the same on every client.
import { setTimeout as sleep } from 'node:timers/promises'

const fresh = (value) => ({ value, status: 'fresh', from: 'store' })
const LED = { role: 'leader', outcome: 'committed' }

/** A row: what happens, what each step returns, and what it must be. */
export const rows = [
  {
    title: 'cold load',
    run: async ({ one }) => [await one.lookup('cold', 'made')],
    wanted: [{ value: 'made', ...LED }],
  },
  {
    title: 'hits',
    async run({ one, other }) {
      await one.lookup('hit', { name: 'Zoë', sizes: [1, 2] })
      return [await one.lookup('hit', 'anew'), await other.lookup('hit', 'anew')]
    },
    wanted: [fresh({ name: 'Zoë', sizes: [1, 2] }), fresh({ name: 'Zoë', sizes: [1, 2] })],
  },
  {
    title: 'stale',
    async run({ one, other }) {
      await one.lookup('stale', 'old')
      await one.expire('stale')
      return [await other.lookup('stale', 'new'), await one.lookup('stale', 'anew')]
    },
    wanted: [{ value: 'old', status: 'stale', refresh: 'committed' }, fresh('new')],
  },
  {
    title: 'wake-up across two processes',
    run: async ({ one, other }) => [await woken(one, other, 'wake there'), await woken(other, one, 'wake here')],
    wanted: [
      { value: 'made once', role: 'follower', by: ['notice'] },
      { value: 'made once', role: 'follower', by: ['notice'] },
    ],
  },
  {
    title: 'invalidation',
    async run({ one, other }) {
      await one.lookup('deleted', 'old')
      return [await other.delete('deleted'), await one.lookup('deleted', 'new')]
    },
    wanted: ['done', { value: 'new', ...LED }],
  },
  {
    title: 'tags',
    async run({ one, other }) {
      await one.lookup('tagged', 'old', { tags: ['t'] })
      const before = await other.lookup('tagged', 'anew', { tags: ['t'] })
      await other.invalidateTags(['t'])
      return [before, await one.lookup('tagged', 'new', { tags: ['t'] })]
    },
    wanted: [fresh('old'), { value: 'new', ...LED }],
  },
  {
    title: 'batch',
    async run({ one, other }) {
      const keys = Array.from({ length: 500 }, (_, index) => `many:${index}`)
      return [await one.many(keys), await other.many(keys)]
    },
    wanted: [
      { asked: [500], right: true },
      { asked: [], right: true },
    ],
  },
  {
    title: 'frozen server',
    async run({ one, other, server }) {
      // A hit leaves the copy that is served while Redis is away.
      for (const each of [one, other, one]) await each.lookup('hot', 'kept')
      server.pause()
      const meanwhile = await Promise.all([one, other].flatMap(frozen))
      server.resume()
      for (const each of [one, other]) await until(async () => (await each.lookup('hot', 'anew')).from === 'store')
      return [...meanwhile, await one.lookup('back', 'made'), await other.lookup('back', 'anew')]
    },
    wanted: [
      { value: 'kept', from: 'outage' },
      { value: 'made', role: 'leader' },
      'CATTLEGRID_STORE_AWAY',
      { value: 'kept', from: 'outage' },
      { value: 'made', role: 'leader' },
      'CATTLEGRID_STORE_AWAY',
      { value: 'made', ...LED },
      fresh('made'),
    ],
  },
]

const frozen = (member) => [member.lookup('hot', 'anew'), member.lookup('cold now', 'made'), member.delete('x')]

async function woken(leader, follower, key) {
  await leader.lead(key)
  await follower.follow(key)
  await leader.finish(key, 'made once')
  return await follower.followed(key)
}

async function until(isSo) {
  const deadline = performance.now() + 20_000
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`Not within 20 s: ${isSo}`)
    await sleep(50)
  }
}
