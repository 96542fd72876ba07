// What makes a hit cheap: an LRU that is rarely told of hits, and one promise for all of them.
const hitLru = 'packages/core/src/store/hit-lru.ts'
const entry = 'packages/core/src/entry.ts'
const order = ['packages/core/test/hit-lru.test.ts']
const promise = ['packages/core/test/one-promise.test.ts']
const memory = ['packages/core/test/memory-store.test.ts']

/** @type {import('../table.mjs').Guard[]} */
export const guards = [
  {
    guarantee: 'G8',
    guard: 'a hit moves its key to the front before it is far behind',
    file: hitLru,
    find: 'kept.movedIn >= this.#lately',
    replace: 'kept.movedIn >= 0',
    tests: order,
    titles: 'keeps what was asked for later',
  },
  {
    guarantee: 'G8',
    guard: 'a hit that moves its key counts as a move for all the others',
    file: hitLru,
    find: '    this.#order.get(key)\n    this.#note(key, kept)\n',
    replace: '    this.#order.get(key)\n    kept.movedIn = this.#turn\n',
    tests: order,
    titles: 'keeps what was asked for later',
  },
  {
    guarantee: 'G8',
    guard: 'an eighth of what there is room for in bytes is what a key may stay behind',
    file: hitLru,
    find: 'Math.max(oneOf, sizeOf(kept, key) / maxBytes)',
    replace: 'oneOf',
    tests: order,
    titles: 'keeps what was asked for later',
  },
  {
    guarantee: 'G8',
    guard: 'what is evicted is no hit any more',
    file: hitLru,
    find: "if (reason !== 'set') this.#kept.delete(key)",
    replace: 'void reason',
    tests: order,
    titles: 'evicts what nobody asks for',
  },
  {
    guarantee: 'G8',
    guard: 'what is too large to keep takes the place of nothing',
    file: hitLru,
    find: '    if (!this.#order.has(key)) return void this.#kept.delete(key)\n',
    replace: '',
    tests: order,
    titles: 'keeps nothing that weighs more',
  },
  {
    guarantee: 'G8',
    guard: 'the entries are bounded in number',
    file: hitLru,
    find: '      max: maxEntries,\n',
    replace: '      max: 1_000_000,\n',
    tests: memory,
    titles: 'is how many keys there are',
  },
  {
    guarantee: 'G5',
    guard: 'the promise of a hit keeps nothing of the request that it was made in',
    file: entry,
    find: 'asNobody(() => Promise.resolve(entry.value))',
    replace: 'asNobody && Promise.resolve(entry.value)',
    tests: promise,
    titles: 'keeps nothing of the request',
  },
  {
    guarantee: 'API',
    guard: 'an entry that its store has frozen is a hit like any other',
    file: entry,
    find: 'if (Object.isExtensible(entry)) ',
    replace: '',
    tests: promise,
    titles: 'that its store has frozen',
  },
]
