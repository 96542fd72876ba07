import type { APIRoute } from 'astro'
import { learnBy } from '../../lib/ways.ts'

export const GET: APIRoute = async (context) => {
  const headers = context.params['way'] === 'private' ? { 'cache-control': 'private, max-age=5' } : {}
  return new Response(await learnBy(context), { headers })
}
