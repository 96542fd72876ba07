import { setTimeout as sleep } from 'node:timers/promises'

// Stands for a slow database.
const products = [{ name: 'gate', price: 1999 }]

export async function readProducts() {
  console.log('reading the products')
  await sleep(200)
  return structuredClone(products)
}

export function raisePrices() {
  for (const product of products) product.price += 100
}
