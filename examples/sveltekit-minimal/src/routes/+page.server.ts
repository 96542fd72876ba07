import { readProducts } from '../lib/products.ts'

export async function load() {
  return { products: await readProducts() }
}
