import type { APIRoute } from 'astro'

export const POST: APIRoute = async ({ cache, request }) => {
  await cache.invalidate((await request.json()) as { path?: string; tags?: string[] })
  return new Response(null, { status: 204 })
}
