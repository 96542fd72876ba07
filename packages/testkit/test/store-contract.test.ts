import { describe, expect, test } from '@jest/globals'
import { memoryStore, type Store } from '@cattlegrid/core'
import { awayBecause, type ProcessQuestions } from '@cattlegrid/core/extend'
import { type ContractRunner, createManualRuntime, describeStoreContract } from '@cattlegrid/testkit'

/** What a test replaces in a store. */
type Replaced = Partial<Store & { readonly questions: ProcessQuestions }>

interface DeclaredTest {
  readonly title: string
  play(): Promise<void>
}

/** The tests of the contract, on a store in which `spoil` has replaced some methods. */
function contractOf(spoil: (store: Store) => Replaced): readonly DeclaredTest[] {
  const tests: DeclaredTest[] = []
  const suites: string[] = []
  const runner: ContractRunner = {
    describe(title, suite) {
      suites.push(title)
      suite()
      suites.pop()
    },
    test: (title, play) => void tests.push({ title: `${suites.at(-1)} ${title}`, play }),
  }
  const factory = () => {
    const runtime = createManualRuntime()
    const store = memoryStore({ runtime })
    return Promise.resolve({
      open: () => Promise.resolve(spoiled(store, spoil(store))),
      advance: (ms: number) => runtime.advance(ms),
      now: () => runtime.now(),
      stop: () => store.close(),
    })
  }
  describeStoreContract('a store', factory, runner)
  return tests
}

function spoiled(store: Store, changed: Replaced): Store {
  return new Proxy(store, {
    get(target, name: keyof Store) {
      const own: unknown = changed[name] ?? target[name]
      return typeof own === 'function' ? (own.bind(target) as unknown) : own
    },
  })
}

async function failed(tests: readonly DeclaredTest[]): Promise<readonly string[]> {
  const titles: string[] = []
  for (const { title, play } of tests) await play().catch(() => titles.push(title))
  return titles
}

/** Each a fault that a store may have, and the title of the test that must fail. */
const FAULTS: readonly (readonly [string, (store: Store) => Replaced, string])[] = [
  [
    'grants a lease to a caller that has read an older version',
    (store) => ({
      acquire: async (key, request) => {
        const answer = await store.acquire(key, request)
        if (answer.kind !== 'changed') return answer
        const read = await store.read(key, { id: 1, encode: () => Buffer.alloc(0), decode: () => undefined })
        return await store.acquire(key, { ...request, seen: read.kind === 'found' ? read.entry.version : '' })
      },
    }),
    'a lease is refused to a caller that has not seen the entry that was committed meanwhile',
  ],
  [
    'commits without comparing the token',
    (store) => ({ commit: (lease, entry, codec) => store.put(lease.key, entry, codec) }),
    'a lease is no longer its holder’s once another holds it',
  ],
  [
    'deletes an entry that it should expire',
    (store) => ({ invalidate: (key, _, holdOff) => store.invalidate(key, 'delete', holdOff) }),
    'an expired entry is stale in every process, and no longer fresh by any clock',
  ],
  [
    'ignores the hold-off of an invalidation',
    (store) => ({ invalidate: (key, how) => store.invalidate(key, how, 0) }),
    'an invalidation (delete) with a hold-off keeps every process from storing for a while',
  ],
  [
    'answers that a lease is renewed, and does not renew it',
    () => ({ renew: () => Promise.resolve({ kind: 'renewed' }) }),
    'a lease lasts as long as it is renewed',
  ],
  [
    'leaves no cooldown after a failed load',
    (store) => ({ release: (lease) => store.release(lease, { kind: 'handover' }) }),
    'a failed load keeps every process from loading while the key cools down, and gives the reason',
  ],
  [
    'marks an unshareable result as shareable',
    (store) => ({
      release: (lease, ending) =>
        store.release(lease, ending.kind === 'uncacheable' ? { ...ending, share: true } : ending),
    }),
    'an uncacheable result lets every caller load alone for a while, and says that callers may not share it',
  ],
  [
    'commits entries without their tags',
    (store) => ({ commit: (lease, entry, codec) => store.commit(lease, { ...entry, tags: [] }, codec) }),
    'an invalidated tag makes every entry that carries it unusable, and no other',
  ],
  [
    'gives no notice of the end of a lease',
    (store) => ({
      watch: (listener) => store.watch((notice) => (notice.kind === 'released' ? undefined : listener(notice))),
    }),
    'a watcher that waits gets a notice of a hand-over',
  ],
  [
    'trims the spaces of keys',
    (store) => ({ put: (key, entry, codec) => store.put(key.trim(), entry, codec) }),
    'keys of every kind have a lease and an entry each',
  ],
  [
    'answers that it is cleared, and removes nothing',
    () => ({ clear: () => Promise.resolve({ kind: 'cleared', entries: 0 }) }),
    'clear removes every entry, and returns their number',
  ],
  [
    'hears questions, and cannot ask any',
    () => ({ questions: { answer: () => () => {}, ask: () => Promise.resolve(awayBecause(new Error('unable'))) } }),
    'questions reach every process that answers, and each answer comes back once',
  ],
]

describe('the store contract', () => {
  test('holds for the memory store', async () => {
    expect(await failed(contractOf(() => ({})))).toEqual([])
  })

  test.each(FAULTS)('fails for a store that %s', async (_, spoil, sentence) => {
    const declared = contractOf(spoil).filter(({ title }) => title === sentence)
    expect(declared).toHaveLength(1)
    expect(await failed(declared)).toEqual([sentence])
  })

  test('asks for describe and test as an argument where they are not global', () => {
    const kept: unknown = Reflect.get(globalThis, 'describe')
    Reflect.deleteProperty(globalThis, 'describe')
    try {
      expect(() => describeStoreContract('a store', () => Promise.reject(new Error('never')))).toThrow('third argument')
    } finally {
      Reflect.set(globalThis, 'describe', kept)
    }
  })
})
