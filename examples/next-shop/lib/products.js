import { cacheLife, cacheTag } from 'next/cache'

/** In seconds: fresh for so long, and then served while it is rendered anew. */
const LIFE = { stale: 300, revalidate: Number(process.env.FRESH_FOR ?? 60), expire: 3600 }

/** Asks the shop's database, which counts how often it is asked. */
async function ask(what) {
  const response = await fetch(`${process.env.SOURCE_URL ?? 'http://127.0.0.1:4400'}/${what}`, { cache: 'no-store' })
  if (!response.ok) throw new Error(`The source answered ${response.status}`)
  return await response.json()
}

export async function stockOf(id) {
  'use cache'
  cacheLife(LIFE)
  cacheTag('stock', `stock:${id}`)
  return await ask(`stock/${id}`)
}

export async function catalogue() {
  'use cache'
  cacheLife(LIFE)
  cacheTag('catalogue')
  return await ask('catalogue')
}
