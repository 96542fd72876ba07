import { json, type Store } from '@cattlegrid/core'
import type { Acquire, NewEntry, Read } from '@cattlegrid/core/extend'
import { call, type Command } from '../caller.ts'
import { type Lock, TTL } from '../lock.ts'

const KEY = 'entry'

/** A call of the public store. The store returns an unreachable server as a value; here that is an error of the lab. */
function ask(text: string, send: (store: Store) => Promise<object>): Command {
  return call(text, async ({ store }) => {
    const answer = await send(store)
    if ('cause' in answer && answer.cause !== undefined) throw answer.cause
    return answer
  })
}

/** When the lease ends, ms from now; -2 without a lease, as PTTL. */
async function remaining(store: Store): Promise<number> {
  const answer = await store.inspect(KEY)
  if (answer.kind === 'away') throw answer.cause
  return answer.lease?.remaining ?? -2
}

function entryOf(value: string): NewEntry {
  return { value, ttl: TTL, staleWhileRevalidate: 0, staleIfError: 0, loadTime: 1, tags: [] }
}

/**
 * The lease of cattlegrid. The write is part of it: `commit` writes the entry and gives the lease back in one step, and only the token that
 * still holds the lease can take that step. An invalidation voids the lease. A caller that has not seen the present entry is granted none.
 */
export const cattlegrid: Lock = {
  id: 'i',
  name: 'cattlegrid',
  key: { key: '{entry}:l' },

  *acquire(caller) {
    const request = { duration: TTL, seen: caller.seen, wake: false }
    const answer = (yield ask('acquire', (store) => store.acquire(KEY, request))) as Acquire
    caller.lease = answer.kind === 'lead' ? answer.lease : undefined
    return answer.kind === 'lead'
  },
  *release(caller) {
    const { lease } = caller
    if (lease !== undefined) yield ask('release', (store) => store.release(lease, { kind: 'handover' }))
  },
  *renew({ lease }) {
    if (lease !== undefined) yield ask('renew', (store) => store.renew(lease, TTL))
  },
  *endsAt() {
    return Number(yield call('inspect: lease.remaining', ({ store }) => remaining(store)))
  },
  *read(caller) {
    const answer = (yield ask('read', (store) => store.read(KEY, json))) as Exclude<Read, { kind: 'away' }>
    caller.seen = answer.kind === 'found' ? answer.entry.version : answer.version
    return answer.kind === 'found' ? answer.entry.value : null
  },
  *write(caller, value) {
    const { lease } = caller
    // With either outcome the lease is gone.
    caller.lease = undefined
    if (lease !== undefined) yield ask(`commit ${value}`, (store) => store.commit(lease, entryOf(value), json))
  },
  *invalidate() {
    yield ask('invalidate', (store) => store.invalidate(KEY, 'delete', 0))
  },

  breaks: [],
  moot: [],
  failures: [],
}
