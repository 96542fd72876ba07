/** For each option of the package: what it refuses, and what it takes. Every value is driven through every call that has the option. */
interface Row {
  readonly refuses: readonly unknown[]
  readonly takes: readonly unknown[]
  /** A word of what the error says is accepted. */
  readonly accepted: string
}

const nothingOfUse: readonly unknown[] = [null, Number.NaN, '', {}, [], 7n, Symbol('seven')]
const notANumber: readonly unknown[] = [...nothingOfUse, true, () => 7, '7', new Date(7000), -1, Infinity, -Infinity]
const badDurations: readonly unknown[] = [
  ...notANumber,
  -0.001,
  2 ** 53,
  '7 s',
  ' 7s',
  '7s\n',
  '-7s',
  '+7s',
  '7S',
  '.7s',
  '7e3s',
  'Infinitys',
  '7sec',
  '7 parsecs',
  '7w',
  '7kb',
  ['7s'],
]
const notAFunction: readonly unknown[] = [...nothingOfUse, 7, 'error', true, /error/]
const notABoolean: readonly unknown[] = [...nothingOfUse, 0, 1, 'true', () => true]

function duration(alsoRefuses: readonly unknown[], ...alsoTakes: readonly unknown[]): Row {
  return {
    refuses: [...badDurations, ...alsoRefuses],
    takes: [7000, '7s', '7000ms', '1.5m', '2h', '1d', ...alsoTakes],
    accepted: "'30s'",
  }
}

const timely = duration([false, 0, '0s', 0.5], 1, Infinity)
const ttl: Row = { ...timely, refuses: timely.refuses.filter((value) => value !== Infinity) }
const window = duration([false, '50d'], 0, '0s', 0.5)
const windowOrFalse = duration(['50d'], 0, '0s', false)
const jitter: Row = { refuses: [...notANumber, 1, 1.5, '10%'], takes: [0, 0.1, 0.999], accepted: 'fraction' }

const encode = (): Uint8Array => new Uint8Array()
const decode = (): unknown => undefined
const codec: Row = {
  refuses: [
    ...nothingOfUse,
    'json',
    7,
    JSON,
    { encode, decode },
    { id: 16, encode },
    { id: 16, decode },
    { id: 16, encode, decode: 'utf8' },
    { id: '16', encode, decode },
    { id: 0, encode, decode },
    // Reserved for codecs that the library has not got yet.
    { id: 5, encode, decode },
    { id: 15, encode, decode },
    { id: 16.5, encode, decode },
    { id: 256, encode, decode },
  ],
  takes: [
    { id: 16, encode, decode },
    { id: 255, encode, decode },
  ],
  accepted: '16–255',
}

const method = (): unknown => undefined
const readingStore = { peek: method, read: method, acquire: method, commit: method, watch: method }
const store: Row = {
  refuses: [...nothingOfUse, 'memory', 7, new Map(), () => ({}), readingStore],
  takes: [],
  accepted: 'memoryStore()',
}
const runtime: Row = {
  refuses: [...nothingOfUse, Date, performance, 7, { now: () => 7 }],
  takes: [],
  accepted: 'Runtime',
}

const count: Row = {
  refuses: [...notANumber, 0, 0.5, '7', '7mb', 2 ** 53],
  takes: [1, 10_000],
  accepted: 'whole number',
}

const maxLoads: Row = { ...count, takes: [...count.takes, 'auto'], accepted: "'auto'" }
const cacheMaxLoads: Row = {
  ...maxLoads,
  refuses: maxLoads.refuses.filter((value) => value !== false),
  takes: [...maxLoads.takes, false],
}

const load = {
  ttl,
  softTimeout: duration([true], 0, '0s', false),
  jitter,
  loadTimeout: duration([false, 0], 1),
  waitTimeout: duration([false], 0),
  lease: { refuses: [null, 7, '7s', true, [], () => ({})], takes: [{}, { duration: '7s' }], accepted: 'object' },
  failureCooldown: { refuses: [null, 7, '7s', false, [], () => ({})], takes: [{}, { max: '7s' }], accepted: 'object' },
  isFailure: { refuses: notAFunction, takes: [() => true], accepted: 'error' },
  // 'load' needs a cache with maxLoads, and stands among the options that do not fit together.
  onWaitTimeout: { refuses: [...nothingOfUse, true, 'Error', 'stale', 7], takes: ['error'], accepted: "'load'" },
  earlyRefresh: {
    refuses: [null, 7, '7s', true, [], () => ({})],
    takes: [false, {}, { beta: 1 }, { before: '7s' }],
    accepted: 'object',
  },
} satisfies Record<string, Row>

const tags: Row = {
  refuses: [
    null,
    7,
    true,
    '',
    'user:7',
    {},
    new Set(['user:7']),
    [7],
    [null],
    [undefined],
    ['user:7', ''],
    [['user:7']],
    ['t'.repeat(257)],
    Array.from({ length: 101 }, (_, index) => `user:${index}`),
  ],
  takes: [
    [],
    ['user:7'],
    ['user:7', 'user:7'],
    ['t'.repeat(256)],
    Array.from({ length: 100 }, (_, index) => `t${index}`),
  ],
  accepted: 'at most 100',
}

const bytes: Row = {
  refuses: [...notANumber, 0, '0b', '7', '7s', '7 mb', '7MB', '7mib', '-7mb', '7tb', 2 ** 53],
  takes: [1, 7.5, '1b', '1.5kb', '7mb', '1gb'],
  accepted: "'64kb'",
}
// What stands behind a count of copies is allocated at once, and a Map holds no more than 2 ** 24 keys.
const entries: Row = { ...count, refuses: [...count.refuses, 2 ** 24 + 1, 2 ** 32] }

const call = {
  ...load,
  codec,
  staleWhileRevalidate: windowOrFalse,
  staleIfError: windowOrFalse,
  tags,
  maxAge: duration([false], 0),
  near: { refuses: [...notABoolean], takes: [true, false], accepted: 'true or false' },
  signal: {
    refuses: [...nothingOfUse, 7, true, { aborted: false }, new AbortController(), new EventTarget()],
    takes: [new AbortController().signal],
    accepted: 'AbortSignal',
  },
} satisfies Record<string, Row>

const { onWaitTimeout: _onWaitTimeout, earlyRefresh: _earlyRefresh, ...claim } = call

export const optionsTable: Record<string, Record<string, Row>> = {
  // What is taken fits to the default of the other of the pair.
  LeaseOptions: { duration: duration([0, 9.9], 10), maxHold: duration([0, 9.9], 5000) },
  FailureCooldownOptions: {
    min: { ...duration([0, 0.5]), takes: [1, 5000, '100ms', '5s'] },
    max: duration([0, 0.5], 100),
  },
  EarlyRefreshOptions: {
    beta: { refuses: [...notANumber, 0, '1'], takes: [0.001, 1, 7], accepted: 'number above 0' },
    // Less than the ttl of the caches that take it.
    before: { ...duration([0, 0.5, false]), takes: [1, 7000, '7s', '0.5m'] },
  },
  NearOptions: { maxEntries: entries, maxBytes: bytes, maxAge: duration([false, 0], 1) },
  OutageOptions: { maxEntries: entries, maxAge: duration([false, 0], 1) },
  RefreshBudgetOptions: { perSecond: count, atOnce: count },
  TagOptions: { maxAge: duration([false], 0) },
  LoadOptions: load,
  CacheOptions: {
    ...load,
    name: { refuses: [...nothingOfUse, 7, true, 'n'.repeat(101)], takes: ['products', 'n'], accepted: 'string' },
    store,
    codec,
    staleWhileRevalidate: window,
    staleIfError: window,
    storeTimeout: duration([false, 0, 9], 10),
    near: { refuses: [null, 7, true, []], takes: [false, {}, { maxEntries: 7 }], accepted: 'object' },
    outage: { refuses: [null, 7, true, []], takes: [false, {}, { maxAge: '7s' }], accepted: 'object' },
    strictCodec: { refuses: notABoolean, takes: [true, false], accepted: 'true or false' },
    freeze: { refuses: notABoolean, takes: [true, false], accepted: 'true or false' },
    shareErrorMessages: { refuses: notABoolean, takes: [true, false], accepted: 'true or false' },
    tags: { refuses: [null, 7, true, false, ['t']], takes: [{}, { maxAge: 0 }], accepted: 'object' },
    maxEntryBytes: { ...bytes, refuses: [...bytes.refuses, '1gb'], takes: [1, '1b', '7mb', '512mb'] },
    maxLoads: cacheMaxLoads,
    refreshBudget: {
      refuses: [null, 7, true, false, []],
      takes: [{ perSecond: 7 }, { atOnce: 7 }],
      accepted: 'object',
    },
    maxWaiters: count,
    maxWaitersPerKey: count,
    enabled: { refuses: notABoolean, takes: [true, false], accepted: 'true or false' },
    runtime,
  },
  CallOptions: call,
  ClaimOptions: { ...claim, hold: duration([false, 0, 9.9], 10) },
  SetOptions: { ttl, staleWhileRevalidate: window, staleIfError: window, jitter, tags, codec },
  InvalidateOptions: { holdOff: duration([false], 0) },
  ExpireTagsOptions: { deleteAfter: duration([false, 0], 1) },
  InspectOptions: { digest: { refuses: notABoolean, takes: [true, false], accepted: 'true or false' } },
  GetOptions: { stale: { refuses: notABoolean, takes: [true, false], accepted: 'true or false' }, codec },
  ReadOptions: { codec },
  ViewOptions: {
    ...call,
    maxLoads,
    source: { refuses: [...nothingOfUse, 7, ''], takes: ['reviews-db'], accepted: '1 to 100' },
  },
  WrapOptions: { ...call, key: { refuses: notAFunction, takes: [() => 'k'], accepted: 'function (...args)' } },
  CloseOptions: { drain: duration([false], 0) },
  ReadyOptions: { timeout: duration([false], 0) },
  MemoryStoreOptions: {
    maxEntries: entries,
    maxBytes: bytes,
    sizeOf: { refuses: notAFunction, takes: [() => 7], accepted: 'bytes' },
    runtime,
  },
}
