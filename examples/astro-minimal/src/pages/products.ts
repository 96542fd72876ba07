import type { APIRoute } from 'astro'
import { readProducts } from '../lib/products.ts'

export const GET: APIRoute = async ({ cache }) => {
  const products = await readProducts()
  cache.set({ maxAge: 30, swr: 300, tags: ['products'] })
  return Response.json(products)
}
