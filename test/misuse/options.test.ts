import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { createClient, createClientPool } from 'redis'
import { describeMisuses, refused, warned } from './misuse.ts'

const cache = (): Cache => createCache({ ttl: '1m' })
const url = 'redis://127.0.0.1:6379'

describeMisuses('options of a cache', [
  warned(
    'a ttl is a number of seconds',
    'CATTLEGRID_SHORT_TTL',
    /^createCache\.ttl: 30 means 30 ms; did you mean '30s'\? If not, write '30ms'/,
    () => [1, 2, 3].map(() => createCache({ ttl: 30 })),
  ),
  ...[300, 3600].map((staleIfError) =>
    warned(
      `a stale window of ${staleIfError} is a number of seconds`,
      'CATTLEGRID_SHORT_TTL',
      /^createCache\.stale\w+: (300|3600) means \1 ms; did you mean '\1s'\?/,
      () => [1, 2].map(() => createCache(staleIfError === 300 ? { staleWhileRevalidate: 300 } : { staleIfError })),
    ),
  ),
  ...(['key', 'cacheStatus', 'invalidateOnUnsafe'] as const).map((name) =>
    refused(`createCache gets ${name} of a route`, /is unknown \(it belongs to a cached route: \{ \w+ \}\)/, () =>
      createCache({ [name]: true }),
    ),
  ),
  refused('a ttl is negative', /'createCache\.ttl' is -1; accepted: milliseconds.*'30s'.*from 1/, () =>
    createCache({ ttl: -1 }),
  ),
  refused('a ttl is NaN', /'createCache\.ttl' is NaN; accepted: milliseconds/, () =>
    createCache({ ttl: Number('none') }),
  ),
  refused('a ttl has its unit in words', /is '30 seconds' \(did you mean '30s'\?\)/, () =>
    // @ts-expect-error the types refuse it
    createCache({ ttl: '30 seconds' }),
  ),
  refused('a ttl is a text without a unit, as an environment variable has it', /is '30' \(did you mean '30s'\?\)/, () =>
    // @ts-expect-error the types refuse it
    createCache({ ttl: '30' }),
  ),
  refused(
    'staleWhileRevalidate is given, and no ttl',
    /'ttl' is undefined; accepted: a duration such as '30s', given to createCache or to the call/,
    () => createCache({ staleWhileRevalidate: '5m' }).getOrSet('k', () => 1),
  ),
  refused('enabled is the text of an environment variable', /is 'false' \(did you mean false\?\)/, () =>
    // @ts-expect-error the types refuse it
    createCache({ enabled: 'false' }),
  ),
  refused(
    'maxEntries is given to createCache',
    /maxEntries' is unknown \(it belongs to memoryStore\(\{ maxEntries \}\)\)/,
    // @ts-expect-error the types refuse it
    () => createCache({ maxEntries: 100 }),
  ),
  refused(
    'an option has the name that its header field has',
    /swr' is unknown \(did you mean 'staleWhileRevalidate'\?/,
    // @ts-expect-error the types refuse it
    () => createCache({ swr: '5m' }),
  ),
  refused('an option has the name that it has in another library', /maxAge' is unknown \(did you mean 'ttl'\?/, () =>
    // @ts-expect-error the types refuse it
    createCache({ maxAge: 30_000 }),
  ),
  refused('an option is written with dashes', /is unknown \(did you mean 'staleWhileRevalidate'\?/, () =>
    // @ts-expect-error the types refuse it
    createCache({ 'stale-while-revalidate': '5m' }),
  ),
  refused('an option is misspelt', /'createCache\.staleIfEror' is unknown \(did you mean 'staleIfError'\?/, () =>
    // @ts-expect-error the types refuse it
    createCache({ staleIfEror: '5m' }),
  ),
  refused('the url of the server is given to createCache', /is unknown \(it belongs to redisStore\(\{ url \}\)\)/, () =>
    // @ts-expect-error the types refuse it
    createCache({ url }),
  ),
  refused('createCache gets the store alone', /is a store, .*\(did you mean \{ store \}\?\)/, () =>
    // @ts-expect-error the types refuse it
    createCache(memoryStore()),
  ),
  // @ts-expect-error the types refuse it
  refused('createCache gets the ttl alone', /is 60 \(did you mean \{ ttl: '60s' \}\?\)/, () => createCache(60)),
  refused('a cache is given as the store', /store' is a cache, .*accepted: a store, such as memoryStore\(\)/, () =>
    // @ts-expect-error the types refuse it
    createCache({ store: cache() }),
  ),
  refused('a client is given as the store', /is a client of Redis; accepted: .*redisStore\(\{ client \}\)/, () =>
    // @ts-expect-error the types refuse it
    createCache({ store: createClient() }),
  ),
  refused('the store is given without its call', /\(did you mean memoryStore\(\)\?\)/, () =>
    // @ts-expect-error the types refuse it
    createCache({ store: memoryStore }),
  ),
  refused('isFailure is an async function', /isFailure' is an async function \(it must answer at once/, () =>
    // @ts-expect-error the types refuse it
    createCache({ isFailure: async () => false }),
  ),
  refused('memoryStore gets a number alone', /is 1000 \(did you mean \{ maxEntries: 1000 \}\?\)/, () =>
    // @ts-expect-error the types refuse it
    memoryStore(1000),
  ),
  refused('a ttl is given to a store', /ttl' is unknown \(it belongs to createCache\(\{ ttl \}\)\)/, () =>
    // @ts-expect-error the types refuse it
    memoryStore({ ttl: '1m' }),
  ),
])

describeMisuses('options of a store on Redis', [
  refused(
    'the variable with the url is missing',
    /url' is undefined; accepted: .*is the variable of the environment set/,
    () => redisStore({ url: process.env['NO_SUCH_URL'] }),
  ),
  refused('redisStore gets the url alone', /\(did you mean \{ url: 'redis:\/\/127\.0\.0\.1:6379' \}\?\)/, () =>
    // @ts-expect-error the types refuse it
    redisStore(url),
  ),
  refused('the url has no scheme', /is 'localhost:6379' \(did you mean 'redis:\/\/localhost:6379'\?\)/, () =>
    redisStore({ url: 'localhost:6379' }),
  ),
  refused('the server is given as host and port', /host' is unknown \(did you mean 'url'\?\)/, () =>
    // @ts-expect-error the types refuse it
    redisStore({ host: 'localhost', port: 6379 }),
  ),
  refused('redisStore gets the client alone', /is a client of Redis \(did you mean \{ client \}\?\)/, () =>
    // @ts-expect-error the types refuse it
    redisStore(createClient()),
  ),
  refused('a cache is given as the client', /client' is a cache, .*accepted: a client of the package redis/, () =>
    // @ts-expect-error the types refuse it
    redisStore({ client: cache() }),
  ),
  refused('a pool is given as the client', /accepted: a client, not a pool/, () =>
    // @ts-expect-error the types refuse it
    redisStore({ client: createClientPool() }),
  ),
  refused('the promise of connect() is given as the client', /client' is a promise; accepted: a client/, () =>
    // @ts-expect-error the types refuse it
    redisStore({ client: Promise.resolve(createClient()) }),
  ),
  refused('a namespace has a blank', /is 'my shop' .*accepted: 1 to 128 characters without spaces and braces/, () =>
    redisStore({ url, namespace: 'my shop' }),
  ),
  refused('a namespace has braces', /is '\{shop\}'; accepted: .*braces would change the hash tag/, () =>
    redisStore({ url, namespace: '{shop}' }),
  ),
])
