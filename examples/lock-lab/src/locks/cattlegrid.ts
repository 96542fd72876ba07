import { type Acquire, json, type NewEntry, type Read, type Store } from '@cattlegrid/core'
import type { Caller } from '../caller.ts'
import { call, type Command } from '../command.ts'
import { type Lock, TTL } from '../lock.ts'

const KEY = 'entry'

/** A call of the public store. It never rejects: that the server did not answer is a value, and in the lab an accident. */
function ask(text: string, send: (store: Store, caller: Caller) => Promise<object>): Command {
  return call(text, async (caller) => {
    const answer = await send(caller.store, caller)
    if ('cause' in answer && answer.cause !== undefined) throw answer.cause
    return answer
  })
}

/** When the lease ends, ms from now; as PTTL, -2 where there is none. */
async function remaining(store: Store): Promise<number> {
  const answer = await store.inspect(KEY)
  if (answer.kind === 'away') throw answer.cause
  return answer.lease?.remaining ?? -2
}

function entryOf(value: string): NewEntry {
  return { value, ttl: TTL, staleWhileRevalidate: 0, staleIfError: 0, loadTime: 1, tags: [] }
}

/**
 * The lease of cattlegrid. The write is part of it: `commit` writes the entry and gives the lease back in one step, which only the token
 * that still holds the lease can take. An invalidation takes the lease away, and who has not seen the present entry is granted none.
 */
export const cattlegrid: Lock = {
  id: 'i',
  name: 'cattlegrid',
  key: { key: '{entry}:l' },

  *acquire(caller) {
    const request = { duration: TTL, seen: caller.seen, wake: false, tags: false }
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
  *end() {
    return Number(yield call('inspect: lease.remaining', ({ store }) => remaining(store)))
  },
  *read(caller) {
    const answer = (yield ask('read', (store) => store.read(KEY, json))) as Exclude<Read, { kind: 'away' }>
    caller.seen = answer.kind === 'found' ? answer.entry.version : answer.version
    return answer.kind === 'found' ? answer.entry.value : null
  },
  *write(caller, value) {
    const { lease } = caller
    // Whatever comes of it, the lease is gone after that.
    caller.lease = undefined
    if (lease !== undefined) yield ask(`commit ${value}`, (store) => store.commit(lease, entryOf(value), json))
  },
  *invalidate() {
    yield ask('invalidate', (store) => store.invalidate(KEY, 'delete', 0))
  },

  breaks: [],
  moot: [],
  told: [],
}
