import type { APIRoute } from 'astro'
import { closeGate, openGate } from '../lib/gate.ts'

export const POST: APIRoute = async ({ request }) => {
  const { closed } = (await request.json()) as { closed: boolean }
  if (closed) closeGate()
  else openGate()
  return new Response(null, { status: 204 })
}
