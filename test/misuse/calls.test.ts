import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { cachedMethod } from '@cattlegrid/core/decorator'
import { createManualRuntime } from '@cattlegrid/testkit'
import { expect, test } from '@jest/globals'
import { describeMisuses, type Misuse, refused, warned } from './misuse.ts'

const cache = (): Cache => createCache({ ttl: '1m' })

const KEY = 'CATTLEGRID_INVALID_KEY'

/** Loads a value three times: none is refused, and its loss is told once. */
function lossy(what: string, value: unknown, says: RegExp): Misuse {
  const load = async (): Promise<void> => {
    const users = cache()
    for (const key of ['a', 'b', 'c']) expect(await users.getOrSet(key, () => value)).toBe(value)
  }
  return warned(`a loader returns ${what}, and the codec is json`, 'CATTLEGRID_LOSSY_CODEC', says, load)
}

const cycle: Record<string, unknown> = {}
cycle['self'] = cycle

class User {
  name = 'Ann'
  greet(): string {
    return this.name
  }
}

/** As a JavaScript user writes it: the types of an argument are not known. */
function keyOf(id: unknown): string {
  return `user:${String(id)}`
}

describeMisuses('arguments of a call', [
  warned(
    'a memory store is made without the runtime of its cache',
    'CATTLEGRID_TWO_RUNTIMES',
    /^The memory store and its cache have two sources of time\. .* memoryStore\(\{ runtime \}\)/,
    async () => {
      const clock = createCache({ runtime: createManualRuntime(), store: memoryStore(), ttl: '1m' })
      await clock.close({ drain: 0 })
    },
  ),
  refused(
    'the loader and the options are swapped',
    /'getOrSet' is \[Function.*\(the function comes before the options\)/,
    // @ts-expect-error the types refuse it
    () => cache().getOrSet('k', { ttl: '1m' }, () => 1),
  ),
  refused(
    'the loader is called where it should be passed',
    /'loader' is a promise; accepted: a function .*not what it returns/,
    // @ts-expect-error the types refuse it
    () => cache().getOrSet('k', Promise.resolve(1)),
  ),
  refused('the ttl of a call stands alone', /'getOrSet' is '30s' \(did you mean \{ ttl: '30s' \}\?\)/, () =>
    // @ts-expect-error the types refuse it
    cache().getOrSet('k', () => 1, '30s'),
  ),
  refused('the ttl of set stands alone, in seconds', /'set' is 30 \(did you mean \{ ttl: '30s' \}\?\)/, () =>
    // @ts-expect-error the types refuse it
    cache().set('k', 1, 30),
  ),
  refused('get is given a loader', /'get' is \[Function.*\(getOrSet\(key, loader\) loads\)/, () =>
    // @ts-expect-error the types refuse it
    cache().get('k', () => 1),
  ),
  refused('wrap is given a key', /'wrap' is 'k'; accepted: a function to wrap.*getOrSet\(key, loader\)/, () =>
    // @ts-expect-error the types refuse it
    cache().wrap('k', () => 1),
  ),
  refused('the key of wrap is an async function', /'wrap\.key' is an async function \(it must answer at once/, () =>
    // @ts-expect-error the types refuse it
    cache().wrap((id: string) => id, { key: async (id) => id }),
  ),
  refused(
    'cachedMethod is used without its call',
    /'cachedMethod' is an async function; accepted: a plain object/,
    () => {
      class Users {
        // @ts-expect-error the types refuse it
        @cachedMethod
        async find(): Promise<number> {
          return 1
        }
      }
      return new Users()
    },
  ),
  refused(
    'a key is an object',
    /The key is \{ id: 7 \}; accepted: a string.*`user:\$\{user\.id\}`/,
    // @ts-expect-error the types refuse it
    () => cache().getOrSet({ id: 7 }, () => 1),
    KEY,
  ),
  // @ts-expect-error the types refuse it
  refused('a key is a number', /The key is 7; accepted: a string.*`user:\$\{user\.id\}`/, () => cache().get(7), KEY),
  warned(
    'an object is put into the text of a key',
    'CATTLEGRID_OBJECT_IN_KEY',
    /'user:\[object Object\]' has an object in it.*share this key. Put a member that names it/,
    async () => {
      const users = cache()
      for (const user of [{ id: 1 }, { id: 2 }]) await users.getOrSet(keyOf(user), () => user)
    },
  ),
  refused(
    'delete is given a list',
    /accepted: a string.*deleteMany take a list/,
    // @ts-expect-error the types refuse it
    () => cache().delete(['a', 'b']),
    KEY,
  ),
  refused(
    'deleteMany is given a text',
    /accepted: an array of strings, such as \['user:7'\]/,
    // @ts-expect-error the types refuse it
    () => cache().deleteMany('a'),
    KEY,
  ),
  warned(
    'delete is given a pattern',
    'CATTLEGRID_PATTERN',
    /^delete takes names and no patterns: 'user:\*'.*cache\.invalidateTags/,
    async () => {
      const users = cache()
      for (const pattern of ['user:*', 'shop:*', 'user:*']) await users.delete(pattern)
    },
  ),
  warned(
    'invalidateTags is given a pattern',
    'CATTLEGRID_PATTERN',
    /^invalidateTags takes names and no patterns: '\*'/,
    () => cache().invalidateTags(['*']),
  ),
  refused(
    'invalidateTags is given a text',
    /'invalidateTags' is 'a' \(did you mean \[ 'a' \]\?\); accepted: a list/,
    // @ts-expect-error the types refuse it
    () => cache().invalidateTags('a'),
  ),
  refused('the tags of a call are a text', /'getOrSet\.tags' is 'a' \(did you mean \[ 'a' \]\?\)/, () =>
    // @ts-expect-error the types refuse it
    cache().getOrSet('k', () => 1, { tags: 'a' }),
  ),
  refused('an event is misspelt', /'on' is 'hits' \(did you mean 'hit'\?\); accepted: an event: hit, stale-hit/, () =>
    // @ts-expect-error the types refuse it
    cache().on('hits', () => undefined),
  ),
  refused('an event has the name that emitters have', /'on' is 'error' \(did you mean 'load-failed'\?\)/, () =>
    // @ts-expect-error the types refuse it
    cache().on('error', () => undefined),
  ),
  refused('an event has no listener', /'on\.hit' is undefined; accepted: a function \(event\) => void/, () =>
    // @ts-expect-error the types refuse it
    cache().on('hit'),
  ),
  refused('set is given a promise', /'set\.value' is a promise; accepted: a value; await a promise first/, () =>
    cache().set('k', Promise.resolve(1)),
  ),
  refused(
    'a closed cache is used',
    /The cache is closed; create a new one with createCache\(\)/,
    async () => {
      const closed = cache()
      await closed.close()
      await closed.get('k')
    },
    'CATTLEGRID_CLOSED',
  ),
])

describeMisuses('what a loader does', [
  refused(
    'a loader awaits its own key',
    /asks for a key that it is loading: k → k\. Give the inner call another key/,
    () => {
      const users = cache()
      return users.getOrSet('k', async () => await users.getOrSet('k', () => 1))
    },
    'CATTLEGRID_REENTRANT',
  ),
  refused(
    'the loader of getOrSetMany returns a list',
    /returned a list; it must return a Map .*new Map\(keys\.map/,
    // @ts-expect-error the types refuse it
    () => cache().getOrSetMany(['a'], async () => [1]),
    '',
  ),
  refused(
    'the loader of getOrSetMany returns an object',
    /returned no Map; it must return a Map of keys and values/,
    // @ts-expect-error the types refuse it
    () => cache().getOrSetMany(['a'], async () => ({ a: 1 })),
    '',
  ),
  warned(
    'the Map of a loader has the ids in the place of the keys',
    'CATTLEGRID_OTHER_KEYS',
    /has other keys than the loader got, so no value is stored\. Its keys must be those of the first argument/,
    async () => {
      const users = cache()
      for (const key of ['user:7', 'user:8']) await users.getOrSetMany([key], () => new Map([[key.slice(5), key]]))
    },
  ),
  lossy('a function', () => 1, /value \(function\)\. Use `codec: structured`.*or store plain data/),
  lossy('a BigInt', 1n, /value \(bigint\)\. Use `codec: structured`/),
  lossy('a cycle', cycle, /value\.self \(a cycle\)\. Use `codec: structured`/),
  lossy('an object of a class', new User(), /value \(User\)\. Use `codec: structured`/),
])

test('undefined from a loader is a value, and is stored', async () => {
  const users = cache()
  let loads = 0
  const load = (): void => void (loads += 1)
  for (let call = 0; call < 3; call += 1) expect(await users.getOrSet('k', load)).toBeUndefined()
  expect(loads).toBe(1)
})
