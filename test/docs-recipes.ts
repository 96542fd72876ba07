/** Plays the recipes of docs/choosing-options.md beside them: what they promise is what it prints. */
export const recipesPlayed = `
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { loads } from './catalogue.ts'
import { readFeed } from './recipe-feed.ts'
import { add, products } from './recipe-many.ts'
import { forget, recommendations } from './recipe-personal.ts'
import { app } from './recipe-product.ts'
import { rate, rateToPayWith } from './recipe-rates.ts'

const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const url = \`http://127.0.0.1:\${(server.address() as AddressInfo).port}/products/7\`
const nameAt = async (address: string): Promise<string> =>
  ((await (await fetch(address)).json()) as { name: string }).name

const before = [await nameAt(url), await nameAt(\`\${url}?utm_source=mail\`)]
const body = JSON.stringify({ name: 'fence' })
await fetch(url, { method: 'PUT', headers: { 'content-type': 'application/json' }, body })
console.log(...before, await nameAt(url))

await Promise.all([readFeed(1), readFeed(1)])
console.log(\`feed: \${loads.feed} load\`)

const listed = [...(await products(['7', '404'])).values(), ...(await products(['404', '7'])).values()]
console.log(\`many: \${loads.many} load, \${listed.map((product) => product?.name ?? 'none').join(', ')}\`)
await add({ id: '404', name: 'fence' })
await products(['404', '7'])
console.log(\`after the write: \${loads.many} loads\`)

await Promise.all([rate('CHF'), rate('CHF'), rateToPayWith('CHF')])
await rate('EUR')
console.log(\`rates: \${loads.rates} loads\`)

await recommendations('ada')
await recommendations('ada')
await forget('ada')
await recommendations('ada')
console.log(\`personal: \${loads.personal} loads\`)
server.close()
server.closeAllConnections()
`

/** Plays the codec of docs/values-and-codecs.md that encrypts: on Redis, with keys that change, and with bytes that somebody has changed. */
export const encryptionPlayed = `
import { createHash } from 'node:crypto'
import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { createClient } from 'redis'
import { encrypted } from './encrypted-codec.ts'

const url = process.env['REDIS_URL'] ?? ''
const namespace = \`encrypted-\${process.pid}-\${Date.now()}\`
const keyOf = (number: number): [number, Buffer] => [number, createHash('sha256').update(String(number)).digest()]
let loads = 0
const open = async (...numbers: number[]) => {
  const store = redisStore({ url, namespace })
  const cache = createCache({ name: numbers.join(), store, ttl: '1h', storeTimeout: '5s', codec: encrypted(new Map(numbers.map(keyOf))) })
  await cache.ready()
  const read = async () => {
    const before = loads
    const { name } = await cache.getOrSet('user', async () => {
      loads += 1
      return { name: 'Ada' }
    })
    return \`\${name} \${loads - before}\`
  }
  return { read, close: () => cache.close() }
}

const client = createClient({ url })
client.on('error', () => undefined)
await client.connect()
const bytes = () => client.sendCommand(['GET', \`\${namespace}:{user}\`]).then(String)

const first = await open(1)
console.log('loaded, then read:', await first.read(), await first.read())
console.log('readable in Redis:', (await bytes()).includes('Ada'))
const prepared = await open(1, 2)
const rotated = await open(2, 1)
console.log('read by both keys:', await prepared.read(), await rotated.read())
const late = await open(2)
console.log('without the old key:', await late.read(), await late.read())
console.log('read by the new key:', await prepared.read(), await rotated.read())
const length = await client.strLen(\`\${namespace}:{user}\`)
const last = await client.getRange(\`\${namespace}:{user}\`, length - 1, length - 1)
await client.setRange(\`\${namespace}:{user}\`, length - 1, last === 'x' ? 'y' : 'x')
console.log('after a change of its bytes:', await late.read(), await late.read())
for (const cache of [first, prepared, rotated, late]) await cache.close()
client.destroy()
`

/** Plays the app of docs/graphql.md: what is stored, and what is not. */
export const graphqlPlayed = `
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { app } from './graphql-app.ts'

const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const url = \`http://127.0.0.1:\${(server.address() as AddressInfo).port}/graphql\`
const headers = { 'apollo-require-preflight': 'yes', 'content-type': 'application/json' }
const product = 'query($id: ID!) { product(id: $id) { name } }'
const extensionsOf = (query: string) => ({
  persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') },
})
const tell = async (what: string, response: Response) =>
  console.log(what, (await response.json() as { data?: object }).data ?? 'an error', response.headers.get('cache-status'))
const get = async (what: string, query: string, variables: object, more: Record<string, string> = {}) => {
  const parameters = { variables: JSON.stringify(variables), extensions: JSON.stringify(extensionsOf(query)), ...more }
  await tell(what, await fetch(\`\${url}?\${new URLSearchParams(parameters)}\`, { headers }))
}
const post = async (what: string, query: string, variables: object) => {
  const body = JSON.stringify({ query, variables, extensions: extensionsOf(query) })
  await tell(what, await fetch(url, { method: 'POST', headers, body }))
}

await get('unknown:', product, { id: '7' })
await get('whole:', product, { id: '7' }, { query: product })
await post('registered:', product, { id: '7' })
// Of a URL that could not be stored nothing is for some seconds, so another product is asked for.
await get('first:', product, { id: '8' })
await get('second:', product, { id: '8' })
await post('posted:', product, { id: '8' })
await post('me:', '{ me }', {})
await get('me:', '{ me }', {})
await get('me:', '{ me }', {})
server.close()
server.closeAllConnections()
`

/** Plays the app of docs/behind-a-cdn.md: the second response to each request, which is a hit. */
export const cdnPlayed = `
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { app } from './cdn-app.ts'

const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const url = \`http://127.0.0.1:\${(server.address() as AddressInfo).port}\`
for (const [path, headers] of [['/products/7', {}], ['/prices', { 'x-tenant': 'a' }], ['/prices', { 'x-tenant': 'b' }], ['/news', {}]] as const) {
  await fetch(url + path, { headers })
  const response = await fetch(url + path, { headers })
  const fields = ['cache-status', 'cache-control', 'vary', 'age'].map((name) => response.headers.get(name))
  console.log(path, await response.text(), ...fields)
}
const { headers } = await fetch(url + '/products/7')
const condition = { 'if-none-match': headers.get('etag') ?? '' }
console.log((await fetch(url + '/products/7', { headers: condition })).status)
server.close()
server.closeAllConnections()
`

/** What the examples of docs/claims.md work with, by the file that they import: each tells what it was asked for. */
export const claimsGiven: Readonly<Record<string, string>> = {
  'pages.ts': `export const rendered: string[] = []
export const render = async (id: string): Promise<string> => {
  rendered.push(id)
  await new Promise((resolve) => setTimeout(resolve, 20))
  if (id === 'broken') throw new Error('no such page')
  return \`page \${id}\`
}
`,
  'reports.ts': `export const built: string[] = []
export const buildReport = async (day: string, signal: AbortSignal): Promise<string> => {
  built.push(day)
  await new Promise((resolve) => setTimeout(resolve, 20))
  signal.throwIfAborted()
  return \`report of \${day}\`
}
`,
  'jobs.ts': `export let runs = 0
export const cleanUp = async (signal: AbortSignal): Promise<void> => {
  signal.throwIfAborted()
  runs += 1
}
`,
}

/** Plays the examples of docs/claims.md: many callers, one that works. */
export const claimsPlayed = `
import { page } from './claims.ts'
import { handler } from './claims-host.ts'
import { hourly } from './claims-job.ts'
import { onMessage } from './claims-worker.ts'
import { runs } from './jobs.ts'
import { rendered } from './pages.ts'
import { built } from './reports.ts'

const hundred = <T>(work: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 100 }, work))

const pages = new Set(await hundred(() => page('7')))
console.log(\`\${[...pages].join()}: rendered \${rendered.length} time\`)
const errors = await hundred(() => page('broken').catch((error: Error) => error.message))
console.log(\`\${[...new Set(errors)].join()}: rendered \${rendered.length - 1} time\`)

const workers = await hundred(() => onMessage('monday'))
const skipped = workers.filter((said) => said === 'was there').length
console.log(\`\${workers.length - skipped} built, \${skipped} skipped: \${built.join()}\`)

const first = await handler.get('k')
const others = hundred(() => handler.get('k'))
await handler.set('k', 'made by the host')
console.log(\`\${first}, then \${[...new Set(await others)].join()}\`)

const ran = [await hourly(), await hourly(), await hourly()]
console.log(\`\${ran.join()}: \${runs} run\`)
`

/** Plays the examples of docs/web.md, as their hosts call them. */
export const webPlayed = `
import { loads } from './catalogue.ts'
import { feed } from './web-handler.ts'
import { app } from './web-hono.ts'
import { h3 } from './web-h3.ts'

const fifty = async (ask: () => Response | Promise<Response>): Promise<string> => {
  const responses = await Promise.all(Array.from({ length: 50 }, ask))
  return [...new Set(await Promise.all(responses.map((response) => response.text())))].join()
}

const posts = await fifty(() => feed(new Request('http://shop.example/feed?page=2&utm_source=mail')))
console.log(\`fifty of the handler: \${loads.feed} run, \${posts}\`)
console.log(\`fifty of Hono: \${await fifty(() => app.request('http://shop.example/products/7'))}\`)
const { headers } = await app.request('http://shop.example/products/7')
console.log(\`then: \${headers.get('cache-status')}\`)
const ofH3 = await fifty(() => h3.fetch(new Request('http://shop.example/products/7')))
console.log(\`fifty of h3: \${ofH3}\`)
`
