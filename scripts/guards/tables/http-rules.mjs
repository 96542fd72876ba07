// The rules of HTTP that decide who uses the cache and what is kept: each a function, each with its table of tests.
const src = (name) => `packages/http/src/${name}.ts`
const test = (name) => [`packages/http/test/${name}.test.ts`]

/** The guards of one file: sentence, code, code without it, and the tests where they are not the file's own. */
const rows = (name, list) =>
  list.map(([guard, find, replace, tests = name]) => ({ guard, file: src(name), find, replace, tests: test(tests) }))

const eligible = rows('eligible', [
  ['only GET and HEAD use the cache', "if (wire !== 'GET' && wire !== 'HEAD') return 'method'\n", ''],
  ['a method that was replaced counts as the one on the wire', 'originalMethod ?? method', 'method'],
  [
    'a request with credentials goes past the cache',
    "if (headers.authorization !== undefined && authorization === 'bypass') return 'authorization'\n",
    '',
  ],
  ['a request to change the protocol goes past the cache', "if (headers.upgrade !== undefined) return 'upgrade'\n", ''],
  [
    'a request for an endless answer goes past the cache',
    "if (headers.accept?.toLowerCase().includes('text/event-stream') === true) return 'event-stream'\n",
    '',
  ],
  [
    'a target that handler and key would read differently goes past the cache',
    "return target.startsWith('/') ? undefined : 'absolute-form'",
    'return undefined',
  ],
  [
    'a request whose method is overridden leads nobody',
    'if (METHOD_OVERRIDES.some((name) => headers[name] !== undefined)) return true\n',
    '',
  ],
  [
    'a request with a body leads nobody',
    "headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'",
    'false',
  ],
])

const storable = rows('storable', [
  [
    'an answer that sets a cookie is its own client’s',
    "if (!policy.stripSetCookie && ('set-cookie' in fields || 'set-cookie' in outer)) return 'set-cookie'\n",
    '',
  ],
  [
    'a cookie set outside the cache counts too',
    "('set-cookie' in fields || 'set-cookie' in outer)",
    "'set-cookie' in fields",
  ],
  [
    'an answer that forbids it is not stored',
    '[...forbidden(said.directives), ...forbidden(outside)]',
    '[...forbidden(outside)]',
  ],
  [
    'a prohibition from outside the cache counts too',
    '[...forbidden(said.directives), ...forbidden(outside)]',
    '[...forbidden(said.directives)]',
  ],
  ['private is not stored', "['no-store', 'private', 'no-cache']", "['no-store', 'no-cache']"],
  ['no-store is not stored', "['no-store', 'private', 'no-cache']", "['private', 'no-cache']"],
  ['no-cache is not stored', "['no-store', 'private', 'no-cache']", "['no-store', 'private']"],
  ['an answer that varies is not stored', 'if (varies !== undefined) return varies\n', ''],
  ['a part of an answer is not stored', "if (status === 206 || 'content-range' in fields) return 'partial'\n", ''],
  ['an answer about the client is its own', ' || PERSONAL.has(status)', ''],
  ['an answer that asks for credentials is its own client’s', " || 'www-authenticate' in fields", ''],
  ['a 304 of a handler is not stored', 'status < 200 || status === 304 ||', 'status < 200 ||', 'guards-rules'],
  [
    'a status that must be understood, and is not, is not stored',
    "if (said.directives.has('must-understand') && !UNDERSTOOD.has(status)) return 'status'\n",
    '',
  ],
  [
    'an endless answer is not stored',
    "if (ENDLESS.test(linesOf(fields, 'content-type')[0] ?? '')) return 'endless'\n",
    '',
  ],
  ['an answer that is known to be too large is not stored', '> policy.maxBodyBytes', '> Infinity'],
  [
    'a failure that nobody else may see is not shared',
    "return { kind: 'fail', share: prohibition === undefined }",
    "return { kind: 'fail', share: true }",
  ],
  [
    'an answer that is stale when it is made is not stored',
    'lifetime !== undefined && lifetime.ttl >= 1',
    'lifetime !== undefined',
  ],
  ['what is not there is kept no longer than negativeTtl', 'Math.min(ttl, policy.negativeTtl)', 'ttl'],
  [
    'a redirect for now is kept only as long as it says',
    '[302, 303, 307].includes(head.status) ?',
    'head.status < 200 ?',
  ],
  ['an age is taken off the lifetime that an answer declares', ' - initialAge(head.fields, now, began) * 1000', ''],
  ['a window that the answer closes is closed', 'said === 0 ? 0 : policy.ttl', 'policy.ttl'],
])

const key = rows('request-key', [
  ['the scheme is part of the key', 'const url = [scheme, normalHost(', 'const url = [normalHost('],
  ['the host is part of the key', 'const url = [scheme, normalHost(scheme, parts.host), ', 'const url = [scheme, '],
  ['the layer is part of the key', "'GET', layer, ...url", "'GET', ...url"],
  [
    'no delimiter of the key can be forged',
    "part === undefined ? '-;' : `${part.length}:${part}`",
    "part === undefined ? '-;' : `:${part}`",
    'guards-rules',
  ],
  ['a key has a longest length', 'if (Buffer.byteLength(text) > LONGEST) return undefined\n', ''],
  [
    'a path that a framework does not decode is kept as it came',
    'decodesPath ? normalEncoding(path) : path',
    'normalEncoding(path)',
  ],
])

const others = [
  {
    guard: 'a host is the same in any case and with its default port',
    file: src('normalise'),
    find: "host.toLowerCase().replace(DEFAULT_PORTS[scheme] ?? /$^/, '')",
    replace: 'host',
    tests: test('request-key'),
  },
  {
    guard: 'a leader’s handler does not see what only its client asked',
    file: src('normalise'),
    find: "'if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since', 'if-range', 'range'",
    replace: "'if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since', 'if-range'",
    tests: test('normalise'),
  },
  {
    guard: 'a leader’s handler does not see a forwarded host that the key was not made of',
    file: src('normalise'),
    find: "name === 'x-forwarded-host'",
    replace: 'false',
    tests: test('normalise'),
  },
  {
    guard: 'a dropped field is dropped from the raw fields too',
    file: src('normalise'),
    find: 'const value = rawWith(req.rawHeaders, replaced)',
    replace: 'const value = req.rawHeaders',
    tests: test('normalise'),
  },
  {
    guard: 'a dropped field that a layer outside took from the fields alone is dropped from the raw ones too',
    file: src('normalise'),
    find: "names.add(req.rawHeaders[index]?.toLowerCase() ?? '')",
    replace: 'void index',
    tests: test('normalise'),
  },
  {
    guard: 'a dropped field that a layer outside added to the fields alone is dropped, too',
    file: src('normalise'),
    find: '...Object.keys(req.headers), ',
    replace: '',
    tests: test('normalise'),
  },
  {
    guard: 'a dropped field that a layer outside left in the distinct fields alone is dropped, too',
    file: src('normalise'),
    find: ', ...Object.keys(distinctOf(req))',
    replace: '',
    tests: test('normalise'),
  },
  {
    guard: 'a directive is read in any case',
    file: src('cache-control'),
    find: '.trim().toLowerCase()\n',
    replace: '.trim()\n',
    tests: test('cache-control'),
  },
  {
    guard: 'a lifetime that is no number is none',
    file: src('cache-control'),
    find: String.raw`/^\d+$/.test(text)`,
    replace: String.raw`/^\d/.test(text)`,
    tests: test('cache-control'),
  },
  {
    guard: 's-maxage comes before max-age',
    file: src('freshness'),
    find: "secondsOf(directives, 's-maxage') ?? secondsOf(directives, 'max-age')",
    replace: "secondsOf(directives, 'max-age') ?? secondsOf(directives, 's-maxage')",
    tests: test('freshness'),
  },
  {
    guard: 'an answer that must be revalidated is never served stale',
    file: src('freshness'),
    find: "if (directives.has('must-revalidate') || directives.has('proxy-revalidate')) return 0\n",
    replace: '',
    tests: test('freshness'),
  },
  {
    guard: 'Expires counts from Date, not from the clock here',
    file: src('freshness'),
    find: "parseHttpDate(linesOf(fields, 'date')[0] ?? '', now) ?? now\n",
    replace: 'now\n',
    tests: test('freshness'),
  },
  {
    guard: 'an answer’s age grows in the store',
    file: src('age'),
    find: 'Math.floor(initial + Math.max(0, resident) / 1000)',
    replace: 'Math.floor(initial)',
    tests: test('freshness'),
  },
  {
    guard: 'only a stored 200 is answered with 304',
    file: src('conditional'),
    find: 'if (status !== 200) return false\n',
    replace: '',
    tests: test('conditional'),
  },
  {
    guard: 'a client cannot turn a 304 into a whole answer',
    file: src('conditional'),
    find: "fresh({ 'if-modified-since'",
    replace: "fresh({ 'cache-control': 'no-cache', 'if-modified-since'",
    tests: test('conditional'),
  },
  {
    guard: 'HEAD gets no body',
    file: src('answer'),
    find: "body: method === 'HEAD' || status === 204 ? undefined : body",
    replace: 'body: status === 204 ? undefined : body',
    tests: test('answer'),
  },
  {
    guard: 'what is made of an entry leaves the entry as it is',
    file: src('answer'),
    find: 'head.lists.length === 0 ? head.fields : copyOf(head.fields)',
    replace: 'head.fields',
    tests: test('answer'),
  },
  {
    guard: 'what stands in a store is checked before it is served',
    file: src('recorded-response'),
    find: '!isAge(initialAge) || !isNames(removed) || !isFields(fields) || !usable)',
    replace: '!usable)',
    tests: test('recorded-response'),
  },
  {
    guard: 'a ttl that throws stores nothing',
    file: src('route'),
    find: '} catch {\n      return Number.NaN\n    }',
    replace: '} catch {\n      return 1000\n    }',
    tests: test('options'),
  },
  {
    guard: 'a skip that throws skips',
    file: src('route'),
    find: 'Boolean(ask<unknown>(skip, true, request))',
    replace: 'Boolean(ask<unknown>(skip, false, request))',
    tests: test('options'),
  },
  {
    guard: 'an error of the cache tells nobody the key or the cause',
    file: src('outcome'),
    find: 'new ServeError(error.code, 504, MESSAGE, {})',
    replace: 'new ServeError(error.code, 504, String(error), {})',
    tests: test('guards-rules'),
  },
  {
    guard: 'a client is told to come back no sooner than in a second',
    file: src('outcome'),
    find: 'Math.max(1, Math.ceil(delay / 1000))',
    replace: 'Math.ceil(delay / 1000)',
    tests: test('guards-rules'),
  },
]

const query = rows('query', [
  ['a slash that is encoded is no slash', '/[\\w.~-]/.test(character)', '/[\\w.~/-]/.test(character)', 'request-key'],
  [
    'parameters of one name keep their order',
    'one.name < other.name ? -1 : Number(one.name > other.name)',
    'one.text < other.text ? -1 : Number(one.text > other.text)',
    'request-key',
  ],
  [
    'so many parameters that a parser would drop some keep their order',
    'if (parameters.length > MOST_SORTED) return query\n',
    '',
    'request-key',
  ],
])

/** @type {import('../table.mjs').Guard[]} */
export const guards = [...eligible, ...storable, ...key, ...others, ...query].map((guard) => ({
  guarantee: 'HTTP',
  ...guard,
}))
