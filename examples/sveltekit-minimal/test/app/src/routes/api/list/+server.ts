import { json } from '@sveltejs/kit'

export function GET() {
  console.log('reading the list')
  return json(['gate'])
}
