import type { APIRoute } from 'astro'

export const GET: APIRoute = async ({ request: { headers } }) =>
  Response.json([headers.get('x-forwarded-proto'), headers.get('x-forwarded-host')])
