import { cacheLife, cacheTag } from 'next/cache'

/** Asks the shop's database, which counts how often it is asked. */
async function ask(what) {
  const response = await fetch(`${process.env.SOURCE_URL ?? 'http://127.0.0.1:4400'}/${what}`, { cache: 'no-store' })
  if (!response.ok) throw new Error(`The source answered ${response.status}`)
  return await response.json()
}

export async function stockOf(id) {
  'use cache'
  cacheLife({ stale: 300, revalidate: 2, expire: 3600 })
  cacheTag('stock', `stock:${id}`)
  return await ask(`stock/${id}`)
}

export async function catalogue() {
  'use cache'
  cacheLife({ stale: 300, revalidate: 2, expire: 3600 })
  cacheTag('catalogue')
  return await ask('catalogue')
}
