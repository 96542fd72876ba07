// The first exit of the road: a fresh answer at hand, and the keys that are remembered for it.
const src = (name) => `packages/http/src/${name}.ts`
const test = (name) => [`packages/http/test/${name}.test.ts`]

/** @type {import('../table.mjs').Guard[]} */
export const guards = [
  {
    guarantee: 'HTTP',
    guard: 'an answer of the next moment is as young as can be, and no younger',
    file: src('recorded-response'),
    find: 'return Math.max(0, age) < usableFor',
    replace: 'return age < usableFor',
    tests: test('hit'),
  },
  {
    guarantee: 'HTTP',
    guard: 'a client that is heard is not given what is too old for it',
    file: src('serve'),
    find: 'if (demand.maxAge === undefined && sendsHit(',
    replace: 'if (sendsHit(',
    tests: test('hit'),
  },
  {
    guarantee: 'HTTP',
    guard: 'two answers are not mixed',
    file: src('serve'),
    find: '!exchange.res.headersSent && sends(',
    replace: 'sends(',
    tests: test('hit'),
  },
  {
    guarantee: 'HTTP',
    guard: 'a secret is not remembered',
    file: src('serve'),
    find: 'secret ? requestKey(parts) : route.keys.keyOf(parts)',
    replace: 'secret && requestKey(parts) === undefined ? undefined : route.keys.keyOf(parts)',
    tests: test('hit'),
  },
  {
    guarantee: 'HTTP',
    guard: 'a closed cache fails no request that looks what is at hand',
    file: src('hit'),
    find: 'return hitFrom(exchange, route, variant === undefined ? first : route.view.peek<Stored>(variant))\n  } catch {',
    replace:
      'return hitFrom(exchange, route, variant === undefined ? first : route.view.peek<Stored>(variant))\n  } catch (error) {\n    throw error',
    tests: test('hit'),
  },
  {
    guarantee: 'HTTP',
    guard: 'a remembered key is that of the same host',
    file: src('key-memo'),
    find: 'sized(scheme) + sized(host) + ',
    replace: 'sized(scheme) + ',
    tests: test('key-memo'),
  },
  {
    guarantee: 'HTTP',
    guard: 'a remembered key is that of the same values that the route keys on',
    file: src('key-memo'),
    find: 'for (const part of extra) text += sized(part)\n',
    replace: '',
    tests: test('key-memo'),
  },
  {
    guarantee: 'G8',
    guard: 'few keys are remembered',
    file: src('key-memo'),
    find: 'this.#recent.size >= MOST_KEYS || ',
    replace: '',
    tests: test('key-memo'),
  },
  {
    guarantee: 'G8',
    guard: 'few characters of keys are remembered',
    file: src('key-memo'),
    find: ' || this.#characters + text.length > MOST_CHARACTERS',
    replace: '',
    tests: test('key-memo'),
  },
]
