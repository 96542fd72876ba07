import { createHash } from 'node:crypto'
import type { Cache } from '@cattlegrid/core'
import { TopKeys, type WeighedKey } from './top-keys.ts'

/** The keys with the most load time, and those with the most followers, since `explain(cache)`. */
export interface WeighedKeys {
  /** By the time that their loaders took, ms. */
  readonly loadTime: readonly WeighedKey[]
  /** By the calls and flights that waited for another one's load. */
  readonly followers: readonly WeighedKey[]
  /** The most that a key weighs that is not listed. */
  readonly unlisted: { readonly loadTime: number; readonly followers: number }
}

/** The keys of one cache in this process that cost most. */
export class HotKeys {
  readonly #loadTime: TopKeys
  readonly #followers: TopKeys
  readonly #plain: boolean

  /** `plain`: keys are shown as they are. */
  constructor(size: number, plain: boolean) {
    this.#loadTime = new TopKeys(size)
    this.#followers = new TopKeys(size)
    this.#plain = plain
  }

  /** Counts the loads and the waiting calls of a cache, until the returned function is called. */
  listenTo(cache: Pick<Cache, 'on'>): () => void {
    const stops = [
      cache.on('outcome', ({ key, took }) => this.#loadTime.add(key, took)),
      cache.on('join', ({ key }) => this.#followers.add(key, 1)),
      cache.on('follow', ({ key }) => this.#followers.add(key, 1)),
    ]
    return () => stops.forEach((stop) => stop())
  }

  list(): WeighedKeys {
    return {
      loadTime: this.#named(this.#loadTime),
      followers: this.#named(this.#followers),
      unlisted: { loadTime: this.#loadTime.unlisted, followers: this.#followers.unlisted },
    }
  }

  #named(keys: TopKeys): readonly WeighedKey[] {
    return keys.list().map(({ key, ...weight }) => ({ key: this.#plain ? key : hotKeyDigest(key), ...weight }))
  }
}

/**
 * The digest that `hotKeys` shows in place of a key, which may hold a name or an address.
 *
 * @example
 * import { hotKeyDigest } from '@cattlegrid/explain'
 *
 * console.log(hotKeyDigest('product:7'))
 */
export function hotKeyDigest(key: string): string {
  return `#${createHash('sha256').update(key).digest('hex').slice(0, 12)}`
}

/**
 * The keys of several processes, their weights added up. A key that a process does not list may weigh there
 * as much as the lightest one that it lists, and its `error` grows by that.
 */
export function mergeWeights(
  lists: readonly { readonly keys: readonly WeighedKey[]; readonly unlisted: number }[],
): readonly WeighedKey[] {
  const unlisted = lists.reduce((sum, list) => sum + list.unlisted, 0)
  const merged = new Map<string, { weight: number; error: number }>()
  for (const { keys, unlisted: here } of lists)
    for (const { key, weight, error } of keys) {
      const sum = merged.get(key) ?? { weight: unlisted, error: unlisted }
      merged.set(key, { weight: sum.weight + weight - here, error: sum.error + error - here })
    }
  return [...merged]
    .map(([key, { weight, error }]) => ({ key, weight, error }))
    .toSorted((one, other) => other.weight - one.weight)
}
