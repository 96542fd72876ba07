// What callers get of loads that others began.
const lead = 'packages/core/src/refresh/lead.ts'
const batch = 'packages/core/src/batch/batch.ts'
const test = (name) => [`packages/core/test/${name}.test.ts`]

/** @type {import('../table.mjs').Guard[]} */
export const guards = [
  {
    guarantee: 'G3',
    guard: 'a late caller has a result that is not kept only where its lease stood to the end',
    file: lead,
    find: 'provenBy(await releasing, landing)',
    replace: '(await releasing, landing)',
    tests: test('invalidation'),
  },
  {
    guarantee: 'G3',
    guard: 'a late caller has a result that cannot be kept only where its lease stood to the end',
    file: lead,
    find: 'provenBy(released, landing)',
    replace: 'landing',
    tests: test('invalidation'),
  },
  {
    guarantee: 'G3',
    guard: 'a late caller has nothing of a load without a lease: nothing proves it younger than an invalidation',
    file: lead,
    find: "landing.kind === 'loaded' && why === 'unleased' ? { kind: 'again' } : landing",
    replace: 'landing',
    tests: test('invalidation'),
  },
  {
    guarantee: 'G8',
    guard: 'each loader call of a batch gives back the turn that is its own',
    file: batch,
    find: 'const turn = atOnce ?? (await nextTurn(this.#admission))',
    replace: 'this.#turn = atOnce ?? (await nextTurn(this.#admission))\n    const turn = () => this.#takeTurn()?.()',
    tests: test('batch-permits'),
  },
  {
    guarantee: 'G8',
    guard: 'a batch whose loads ended while it waited for a turn calls no loader',
    file: batch,
    find: 'if (atOnce === undefined && group.isOver) return turn()',
    replace: '',
    tests: test('batch-permits'),
  },
  {
    guarantee: 'G4',
    guard: 'a batch does not wait for the turn that its key was given',
    file: 'packages/core/src/refresh/refresh-run.ts',
    find: 'if (this.#call.party === undefined) this.#endTurn = turn\n    else turn?.()',
    replace: 'this.#endTurn = turn',
    tests: test('batch-permits'),
  },
  {
    guarantee: 'API',
    guard: 'a refresh is not content with the entry that it found, whoever brings it',
    file: 'packages/core/src/lookup/lookup-result.ts',
    find: 'former?.is(entry) === true ? ',
    replace: 'former !== former ? ',
    tests: test('refresh'),
  },
  {
    guarantee: 'API',
    guard: 'a refresh takes no entry for new while the store has not said which one is old',
    file: 'packages/core/src/flight/previous-version.ts',
    find: "this.#known || read.kind === 'away' || read.away !== undefined",
    replace: 'this.#known',
    tests: test('refresh'),
  },
  {
    guarantee: 'API',
    guard: 'a refresh does not take an entry for new because it was expired by hand',
    file: 'packages/core/src/flight/previous-version.ts',
    find: ' || expired',
    replace: '',
    tests: test('refresh'),
  },
  {
    guarantee: 'API',
    guard: 'a call has from a flight only what it would take from the store',
    file: 'packages/core/src/lookup/lookup-result.ts',
    find: "if (verdict !== 'fresh' && verdict !== 'stale') return undefined",
    replace: "if (verdict === 'gone') return undefined",
    tests: test('stale'),
  },
]
