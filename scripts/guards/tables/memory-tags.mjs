// How a memory store judges the tags of its entries.
const store = 'packages/core/src/store/memory/memory-store.ts'
const numbers = 'packages/core/src/store/tag-numbers.ts'
const contract = ['packages/core/test/store-contract.test.ts']
const forgetting = ['packages/core/test/memory-tags.test.ts']

/** @type {import('../table.mjs').Guard[]} */
export const guards = [
  {
    guarantee: 'G3',
    guard: 'a tag that fell voids a load that began before, whenever the load names it',
    file: store,
    find: 'if (this.#tags.fellSince(fresh.tags, held.tagSeq)) {',
    replace: 'if (this.#tags.fellSince(fresh.tags, this.#tags.sequence)) {',
    tests: contract,
    titles: 'turns away a load that began before',
  },
  {
    guarantee: 'G3',
    guard: 'a tag that fell takes the entries that a read would find',
    file: store,
    find: 'const entry = slot === undefined ? undefined : this.#untouched(slot)',
    replace: 'const entry = slot?.entry',
    tests: forgetting,
    titles: 'a forgotten one brings nothing back',
  },
  {
    guarantee: 'G3',
    guard: 'a tag that fell takes the entries that are at hand',
    file: store,
    find: 'if (this.#tags.fellSince(entry.tags, entry.tagSeq)) return undefined',
    replace: '',
    tests: contract,
    titles: 'takes every entry that carries it',
  },
  {
    guarantee: 'G3',
    guard: 'an entry whose tags stood once is judged again when one has fallen since',
    file: store,
    find: 'entry.tagSeq === this.#tags.sequence',
    replace: 'entry.tagSeq > 0',
    tests: forgetting,
    titles: 'a tag that falls after an entry was found to stand',
  },
  {
    guarantee: 'G3',
    guard: 'a tag that was forgotten counts as fallen',
    file: numbers,
    find: "if (reason === 'evict') this.#floor = Math.max(this.#floor, fell)",
    replace: 'void [fell, reason]',
    tests: forgetting,
    titles: 'the numbers of tags in a memory store',
  },
  {
    guarantee: 'API',
    guard: 'a tag that is used again is not one that was forgotten',
    file: numbers,
    find: "if (reason === 'evict') ",
    replace: '',
    tests: ['packages/core/test/freshness.test.ts'],
  },
]
