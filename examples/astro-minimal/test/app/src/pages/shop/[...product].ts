import { setTimeout as sleep } from 'node:timers/promises'
import type { APIRoute } from 'astro'
import { runOf } from '../../lib/count.ts'
import { atGate } from '../../lib/gate.ts'

/** A slow source. */
export const GET: APIRoute = async ({ request, url, params: { product = '' }, preferredLocale }) => {
  const run = runOf(url.pathname)
  if (product === 'brief') await atGate()
  if (product.startsWith('slow')) await sleep(product === 'slow-left' ? 2000 : 300)
  if (request.signal.aborted) console.log('aborted while others wait')
  if (product === 'broken' || (product === 'failing' && run > 1)) throw new Error('the source is down')
  if (product.startsWith('missing')) return new Response(product === 'missing' ? null : 'none', { status: 404 })
  if (product === 'moved') return new Response(null, { status: 308, headers: { location: '/shop' } })
  if (product === 'fields') return Response.json(Object.fromEntries(request.headers))
  return new Response(`${url.search} run ${run} ${preferredLocale ?? ''}`, { headers: { 'x-run': 'own' } })
}

export const POST: APIRoute = async () => new Response('posted')
