import { json } from '@sveltejs/kit'
import { readProducts } from '../../lib/products.ts'

export async function GET() {
  return json(await readProducts())
}
