// Where the protocol of docs/protocol.md stands between the parts: in which order they ask, and when they let go.
const engine = 'packages/core/src/cache/default-cache.ts'
const core = (name) => [`packages/core/test/${name}.test.ts`]
const redis = (name) => [`packages/redis/test/${name}.int.test.ts`]

/** Letting go when the invalidation is called instead of when it is answered. */
const tooEarly = (verb, call, letGo) => ({
  guarantee: 'G3',
  rule: 'at-the-answer',
  guard: `${verb} lets go of what began between its call and its answer`,
  file: engine,
  find: `const answer = await ${call}\n    ${letGo}`,
  replace: `${letGo}\n    const answer = await ${call}`,
  tests: core('protocol-rules'),
  titles: 'that began between its call and its answer',
})

/** @type {import('../table.mjs').Guard[]} */
export const guards = [
  {
    guarantee: 'G3',
    rule: 'two-flights',
    guard: 'a read that has its answer is joined by nobody',
    file: 'packages/core/src/flight/flight-registry.ts',
    find: '      (answer) => {\n        this.#reads.end(slot)\n',
    replace: '      (answer) => {\n',
    tests: core('protocol-rules'),
    titles: 'is joined until its answer, and by nobody who comes after it',
  },
  tooEarly(
    'delete or expire',
    'this.#engine.store.invalidate(stored, how, holdOffTime(how, options))',
    'this.#deck.invalidated(stored)',
  ),
  tooEarly(
    'set',
    'store.put(stored, newEntry(value, 0, settings, runtime.random()), settings.codec)',
    'this.#deck.invalidated(stored)',
  ),
  tooEarly('invalidateTags', 'this.#engine.store.invalidateTags(parsed)', 'this.#deck.invalidatedAll()'),
  tooEarly('clear', 'this.#engine.store.clear()', 'this.#deck.invalidatedAll()'),
  {
    guarantee: 'G3',
    rule: 'same-epoch',
    guard: 'a read that an invalidation of its key has overtaken leaves no copy',
    file: 'packages/core/src/store/remote/local-copies.ts',
    find: ' || (dropSeq !== this.#dropped.sequence && this.#dropped.of(key) > dropSeq)',
    replace: '',
    tests: core('near-store'),
    titles: 'a read that an invalidation overtakes',
  },
  {
    guarantee: 'G3',
    rule: 'same-epoch',
    guard: 'a read that a clear has overtaken leaves no copy',
    file: 'packages/core/src/store/remote/local-copies.ts',
    find: 'epoch !== this.#epoch || ',
    replace: '',
    tests: core('near-store'),
    titles: 'a read that an invalidation overtakes',
  },
  {
    guarantee: 'G3',
    rule: 'two-passes',
    guard: 'a clear removes no entry before the last lease is gone',
    file: 'packages/redis/src/clear.ts',
    find: 'await removeAll(link, master, leases)\n      return await removeAll(link, master, entries, names.tagSequence)\n',
    replace:
      'const count = await removeAll(link, master, entries, names.tagSequence)\n      await removeAll(link, master, leases)\n      return count\n',
    tests: redis('interleavings'),
    titles: 'keeps that value out: its load began before',
  },
  {
    guarantee: 'G3',
    rule: 'sequence-first',
    guard: 'the tag sequence of a load is that from before it began',
    file: 'packages/redis/src/redis-store.ts',
    find: 'const { key, token, version, tagSeq } = lease\n',
    replace:
      'const { key, token, version } = lease\n    const tagSeq = (await this.#scripts.noteTags(entry.tags, 1)).sequence\n',
    tests: redis('contract'),
    titles: 'turns away a load that began before, however late it names the tag',
  },
  {
    guarantee: 'G3',
    rule: 'missing-tag',
    guard: 'an entry whose tag has no number any more is a miss',
    file: 'packages/core/src/store/remote/tag-store.ts',
    find: 'number !== undefined && number <= tagSeq',
    replace: '(number ?? 0) <= tagSeq',
    tests: core('tag-store'),
    titles: 'that the store has no more makes the entry unusable',
  },
  {
    guarantee: 'G3',
    guard: 'an entry whose tag fell after its load began is a miss',
    file: 'packages/core/src/store/remote/tag-store.ts',
    find: 'number !== undefined && number <= tagSeq',
    replace: 'number !== undefined',
    tests: core('tag-store'),
    titles: 'is learned after tags.maxAge at most when the push is lost',
  },
  {
    guarantee: 'G3',
    rule: 'tags-again',
    guard: 'a commit is turned away when one of its tags fell after the lease was granted',
    file: 'packages/redis/src/redis-store.ts',
    find: '(await this.#noteTags(entry)).greatest > tagSeq',
    replace: '(await this.#noteTags(entry)).greatest < 0',
    tests: redis('contract'),
    titles: 'turns away a load that began before, however late it names the tag',
  },
  {
    guarantee: 'G1',
    rule: 'ask-again',
    guard: 'nobody loads for a tag’s number that may be out of date',
    file: 'packages/core/src/store/remote/tag-store.ts',
    find: 'const stands = await this.#stands(read.entry)',
    replace:
      "const known = read.entry.tags.map((tag) => this.#known.get(tag))\n    if (known.some((one) => one !== undefined && one.number > read.entry.tagSeq)) return { kind: 'missing', version: read.entry.version }\n    const stands = await this.#stands(read.entry)",
    tests: core('tag-store'),
    titles: 'that seems too great is asked for once more before anybody loads',
  },
]
