// Callers and flights that wait, and what ends it.
const follow = 'packages/core/src/follow.ts'
const wait = 'packages/core/src/wait.ts'
const refresh = 'packages/core/src/refresh.ts'
const deck = 'packages/core/src/deck.ts'
const test = (name) => [`packages/core/test/${name}.test.ts`]

/** @type {import('../table.mjs').Guard[]} */
export const guards = [
  {
    guarantee: 'G4',
    guard: 'a notice that came before the wait counts',
    file: follow,
    find: "if (this.#noticed) waiting.resolve('notice')\n    else cancel =",
    replace: 'cancel =',
    tests: test('guards-follow'),
  },
  {
    guarantee: 'G8',
    guard: 'a notice counts once',
    file: follow,
    find: 'this.#noticed = false\n    return by',
    replace: 'return by',
    tests: test('guards-follow'),
  },
  {
    guarantee: 'G4',
    guard: 'a follower whose notice was lost looks again by itself',
    file: follow,
    find: 'this.#runtime.random() * (DEADLINE_JITTER - 1), POLL_CAP)',
    replace: 'this.#runtime.random() * (DEADLINE_JITTER - 1), 60_000)',
    tests: test('follow'),
  },
  {
    guarantee: 'G4',
    guard: 'a follower looks again as soon as the lease is over',
    file: follow,
    find: 'Math.min(remaining + 1 + this.#runtime.random() * (DEADLINE_JITTER - 1), POLL_CAP)',
    replace: 'POLL_CAP',
    tests: test('guards-follow'),
  },
  {
    guarantee: 'G1',
    guard: 'the followers of a dead leader do not all ask in the same moment',
    file: follow,
    find: 'this.#runtime.random() * (DEADLINE_JITTER - 1)',
    replace: '0',
    tests: test('guards-follow'),
  },
  {
    guarantee: 'G4',
    guard: 'followers look again when the ear of their process goes deaf or hears again',
    file: deck,
    find: "this.engine.events.emit('notices', { state: notice.kind })\n        return this.#wakeAll()",
    replace: "return this.engine.events.emit('notices', { state: notice.kind })",
    tests: test('guards-follow'),
  },
  {
    guarantee: 'G6',
    guard: 'a follower gives up when its budget is spent',
    file: wait,
    find: "if (left <= 0 && flight.following) end({ kind: 'gave-up', why: 'wait-timeout' })",
    replace: "if (left <= -patience.budget) end({ kind: 'gave-up', why: 'wait-timeout' })",
    tests: test('follow'),
  },
  {
    guarantee: 'API',
    guard: 'the time of a load of its own does not count as waiting',
    file: wait,
    find: 'const left = patience.budget - (flight.followed(runtime.now()) - followedBefore)\n          if (left <= 0 && flight.following)',
    replace: 'const left = patience.budget - wait\n          if (left <= 0)',
    tests: test('follow'),
  },
  {
    guarantee: 'API',
    guard: 'a caller with a stale value in hand waits no longer than softTimeout',
    file: refresh,
    find: 'fallback === undefined ? Infinity : call.settings.softTimeout',
    replace: 'Infinity',
    tests: test('stale'),
  },
  {
    guarantee: 'G1',
    guard: 'no load runs for nobody: a flight knows when its last caller has left',
    file: wait,
    find: 'flight.leave()\n',
    replace: '',
    tests: test('follow'),
  },
  {
    guarantee: 'API',
    guard: 'close cuts off what has not ended in time',
    file: deck,
    find: 'for (const flight of late) flight.cut?.(reason)',
    replace: '',
    tests: test('close'),
  },
  {
    guarantee: 'API',
    guard: 'a closed cache refuses every call',
    file: 'packages/core/src/engine-cache.ts',
    find: 'if (this.#closing !== undefined) throw new ClosedError()',
    replace: '',
    tests: test('guards-notice'),
  },
  {
    guarantee: 'G8',
    guard: 'a closed cache listens to its store no more',
    file: 'packages/core/src/engine-cache.ts',
    find: 'this.#unwatch()\n',
    replace: '',
    tests: test('guards-notice'),
  },
]
