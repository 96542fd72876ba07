import { connect, type Socket } from 'node:net'
import { on } from 'node:events'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openDatabase, openPool, type Database } from '../src/database.ts'
import { loadsDone, readLoads } from '../src/demo/loads.ts'
import { rankProducts } from '../src/ranking.ts'

const SEED = { products: 20, reviews: 1_000 }

let database: Database

beforeAll(async () => {
  database = await openDatabase({ seed: SEED })
})
afterAll(() => database?.close())

test('a schema that exists is neither filled nor dropped: it may belong to a run under way', async () => {
  const pool = openPool(database.url, 1)
  await expect(openDatabase({ seed: SEED, url: database.url })).rejects.toThrow('already has a schema cattlegrid_demo')
  const products = await pool.query('select 1 from cattlegrid_demo.products')
  expect(products.rowCount).toBe(20)
  await pool.end()
})

test('many connections with statements of their own do not get in each other’s way', async () => {
  const pool = openPool(database.url, 20)
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const found =
        index % 2 === 0
          ? await pool.query<{ value: number }>('select $1::integer as value', [index])
          : await pool.query<{ value: number }>('select $2::integer as value, $1::text as text', ['text', index])
      return found.rows[0]?.value
    }),
  )
  expect(answers).toEqual(Array.from({ length: 200 }, (_, index) => index))
  await pool.end()
})

test('a connection that is lost in the middle of a statement holds nobody up', async () => {
  const { hostname, port } = new URL(database.url)
  const socket = connect(Number(port), hostname)
  socket.write(startupMessage({ user: 'postgres', database: 'postgres' }))
  await said(socket, 'Z\0\0\0\u0005I')
  // Parse "select 1", and never the Sync that ends the batch.
  socket.write(message('P', Buffer.from('\0select 1\0\0\0')))
  await said(socket, '1\0\0\0\u0004')
  socket.destroy()

  const pool = openPool(database.url, 1)
  const found = await pool.query<{ value: number }>('select $1::integer as value', [7])
  expect(found.rows).toEqual([{ value: 7 }])
  await pool.end()
})

async function said(socket: Socket, text: string): Promise<void> {
  for await (const [chunk] of on(socket, 'data') as AsyncIterable<[Buffer]>) {
    if (chunk.toString('latin1').endsWith(text)) return
  }
}

function startupMessage(settings: Readonly<Record<string, string>>): Buffer {
  const text = Object.entries(settings).flatMap(([name, value]) => [`${name}\0`, `${value}\0`])
  const version = '\0\u0003\0\0'
  return sized(Buffer.from(`${version}${text.join('')}\0`))
}

function message(type: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(type), sized(body)])
}

function sized(body: Buffer): Buffer {
  const size = Buffer.alloc(4)
  size.writeInt32BE(body.length + 4)
  return Buffer.concat([size, body])
}

test('the database counts every load, however many come at once', async () => {
  const pool = openPool(database.url, 12)
  await rankProducts(pool, { app: 'here', route: 'strict' })
  await rankProducts(pool, { app: 'here', route: 'strict' })
  expect(await readLoads(pool, 'strict', ['here'], 1_000)).toMatchObject({ total: 2, mostAtOnce: 1 })

  await Promise.all(Array.from({ length: 12 }, () => rankProducts(pool, { app: 'here', route: 'unprotected' })))
  expect(await readLoads(pool, 'unprotected', ['here', 'there'], 1_000)).toMatchObject({ total: 12 })
  await loadsDone(pool)
  await pool.end()
})

test('loads that overlap are there at once, loads that only touch are not', async () => {
  const pool = openPool(database.url, 1)
  const at = (second: number): string => `timestamptz '2026-01-01 00:00:00Z' + interval '${second} s'`
  const spans = [
    [0, 3],
    [1, 4],
    [2, 3],
    [3, 5],
    [9, 10],
  ] as const
  const rows = spans.map(([from, to]) => `('here', 'ranking', ${at(from)}, ${at(to)})`)
  await pool.query(`insert into cattlegrid_demo.loads (app, route, began_at, ended_at) values ${rows.join(', ')}`)
  expect(await readLoads(pool, 'ranking', ['here'], 2_000)).toEqual({ total: 5, mostAtOnce: 3, expiries: 3 })
  await pool.end()
})

test('a load that is still open is waited for', async () => {
  const pool = openPool(database.url, 1)
  await pool.query("insert into cattlegrid_demo.loads (app, route) values ('here', 'open')")
  const done = loadsDone(pool)
  // The pool has one connection: this is asked after the first look of loadsDone.
  const ended = await pool.query("update cattlegrid_demo.loads set ended_at = clock_timestamp() where route = 'open'")
  await done
  expect(ended.rowCount).toBe(1)
  await pool.end()
})
