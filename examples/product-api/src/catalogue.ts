import type { Cache } from '@cattlegrid/core'
import type { Pool } from 'pg'
import { notFound, type ProductChange } from './requests.ts'
import { rankProducts, type RankedProduct, type RankingRoute } from './ranking.ts'

export interface Product {
  readonly id: number
  readonly name: string
  readonly category: string
  readonly priceCents: number
}

/** The operations of the API, independent of the web framework. */
export interface Catalogue {
  list(page: number): Promise<{ page: number; products: Product[] }>
  product(id: number): Promise<Product>
  ranking(route: RankingRoute): Promise<{ ranking: RankedProduct[] }>
  update(id: number, change: ProductChange): Promise<Product>
}

const COLUMNS = 'id, name, category, price_cents as "priceCents"'
const PAGE_SIZE = 20

const productKey = (id: number): string => `product:${id}`

/** @param app names the caller in the database's record of loads. */
export function createCatalogue(pool: Pool, cache: Cache, app: string): Catalogue {
  const find = async (id: number): Promise<Product | null> => {
    const found = await pool.query<Product>(`select ${COLUMNS} from cattlegrid_demo.products where id = $1`, [id])
    return found.rows[0] ?? null
  }

  return {
    async list(page) {
      const found = await pool.query<Product>(
        `select ${COLUMNS} from cattlegrid_demo.products order by id limit $1 offset $2`,
        [PAGE_SIZE, (page - 1) * PAGE_SIZE],
      )
      return { page, products: found.rows }
    },

    // A product that does not exist is a result like any other: `null` is cached too. An error would count as a failed
    // load and make the key cool down.
    async product(id) {
      const product = await cache.getOrSet(productKey(id), () => find(id), { ttl: '30s', staleIfError: '5m' })
      return product ?? notFound(`there is no product ${id}`)
    },

    async ranking(route) {
      return { ranking: await rankProducts(pool, { app, route }) }
    },

    // The database first, then the cache: `delete` also voids a load under way, which may have read the old price.
    async update(id, change) {
      const updated = await pool.query<Product>(
        `update cattlegrid_demo.products set price_cents = $2 where id = $1 returning ${COLUMNS}`,
        [id, change.priceCents],
      )
      await cache.delete(productKey(id))
      return updated.rows[0] ?? notFound(`there is no product ${id}`)
    },
  }
}
