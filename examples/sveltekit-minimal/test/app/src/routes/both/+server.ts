import { json } from '@sveltejs/kit'

export function GET() {
  return json('an endpoint', { headers: { 'x-kind': 'endpoint' } })
}
