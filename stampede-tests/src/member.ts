// One process of the application under test: it opens the driver, and calls it as the runner says.
import { pathToFileURL } from 'node:url'
import type { Driver, Opened, OpenOptions } from './driver.js'
import type { Answer, Order } from './member-client.js'

const [driverFile = '', sourceUrl = '', options = '{}'] = process.argv.slice(2)
const { default: driver } = (await import(pathToFileURL(driverFile).href)) as { default: Driver }
const cache: Opened = await driver.open(JSON.parse(options) as OpenOptions)

/** Values that many caches take for no value. */
const SPECIAL: Readonly<Record<string, unknown>> = {
  null: null,
  undefined: undefined,
  zero: 0,
  false: false,
  empty: '',
}

async function load(key: string): Promise<unknown> {
  const response = await fetch(`${sourceUrl}/load?key=${encodeURIComponent(key)}`)
  const text = await response.text()
  if (!response.ok) throw new Error(`the source failed for ${key}`)
  return key in SPECIAL ? SPECIAL[key] : text
}

async function call({ key = '', tags = [], leavesAfter, throws }: Order): Promise<Answer> {
  const began = performance.now()
  const signal = leavesAfter === undefined ? undefined : AbortSignal.timeout(leavesAfter)
  const loader = (): Promise<unknown> => {
    if (throws === true) throw new Error('thrown at once')
    return load(key)
  }
  try {
    const value = await cache.getOrSet(key, loader, { tags, signal })
    return { value, took: performance.now() - began }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error), took: performance.now() - began }
  }
}

async function obey(order: Order): Promise<readonly Answer[]> {
  const { what, key = '', callers = 1, tag = '' } = order
  if (what === 'get') return await Promise.all(Array.from({ length: callers }, () => call(order)))
  if (what === 'delete') await cache.delete?.(key)
  if (what === 'invalidateTag') await cache.invalidateTag?.(tag)
  return []
}

process.on('message', (order: Order) => {
  obey(order).then(
    (answers) => process.send?.({ id: order.id, answers }),
    (error: unknown) => process.send?.({ id: order.id, error: String(error) }),
  )
})
process.on('disconnect', () => process.exit())
// The runner may have ended while the driver opened.
if (!process.connected) process.exit()
process.send?.({ id: 0, answers: [] })
