/** Plays the recipes of docs/choosing-options.md beside them: what they promise is what it prints. */
export const recipesPlayed = `
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { loads } from './catalogue.ts'
import { readFeed } from './recipe-feed.ts'
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
