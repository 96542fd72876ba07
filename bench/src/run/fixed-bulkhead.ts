// Module hooks that give the bulkhead of @cattlegrid/core a fixed bound: each bound of its window becomes the same number.
import type { InitializeHook, LoadHook } from 'node:module'

const BULKHEAD = /\/bulkhead\.js$/
const BOUND = /^(const \w+_IN_FLIGHT = )\d+/gm
const BOUNDS = 4
let bound = 0

export const initialize: InitializeHook<number> = (given) => {
  bound = given
}

export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context)
  if (!BULKHEAD.test(url)) return loaded
  const source = Buffer.from(loaded.source as Uint8Array).toString()
  if (source.match(BOUND)?.length !== BOUNDS) throw new Error(`${url} has other bounds than the bench knows`)
  return { ...loaded, source: source.replace(BOUND, `$1${bound}`) }
}
