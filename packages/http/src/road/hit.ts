import type { ReadResult } from '@cattlegrid/core'
import { satisfiesMaxAge } from '../response/age.ts'
import type { Answer } from '../response/answer.ts'
import { hitVerdict, type Verdict } from '../response/cache-status.ts'
import type { Exchange } from './exchange.ts'
import { isUsable, isVaryRecord, type Stored } from '../response/recorded-response.ts'
import type { Route } from '../route/route.ts'
import { presentResponse, preconditionsOf } from './present.ts'
import { isSelectedBy, variantKey } from '../response/vary.ts'

/**
 * Returns a fresh response that this process holds. Awaits nothing, and allocates nothing that only a miss
 * needs: the speed of hits depends on it.
 */
export function hitInProcess(exchange: Exchange, route: Route, key: string): Answer | undefined {
  try {
    const first = route.view.peek<Stored>(key)
    const variant = first === undefined ? undefined : variantKeyIn(exchange, key, first)
    const found = variant === undefined ? first : route.view.peek<Stored>(variant)
    return hitFrom(exchange, route, variant ?? key, found)
  } catch {
    // The cache is closed, for example: the lookup handles it.
    return undefined
  }
}

/**
 * Returns a fresh response whose current age is at most `maxAge` ms. Reads the store if this process holds
 * none. Rejects if the read rejects.
 */
export async function hitInStore(
  exchange: Exchange,
  route: Route,
  key: string,
  maxAge: number = Infinity,
): Promise<Answer | undefined> {
  const first = await route.view.read<Stored>(key)
  const variant = first === undefined ? undefined : variantKeyIn(exchange, key, first)
  const found = variant === undefined ? first : await route.view.read<Stored>(variant)
  return hitFrom(exchange, route, variant ?? key, found, maxAge)
}

/** The key of this client's variant; undefined where the entry of the URL is no record of variants. */
function variantKeyIn({ headers }: Exchange, key: string, { value }: ReadResult<Stored>): string | undefined {
  return isVaryRecord(value) ? variantKey(key, value, headers) : undefined
}

function hitFrom(
  exchange: Exchange,
  route: Route,
  key: string,
  found: ReadResult<Stored> | undefined,
  maxAge: number = Infinity,
): Answer | undefined {
  if (found?.state !== 'fresh') return undefined
  const { value, age, freshFor } = found
  if (isVaryRecord(value) || !isUsable(value, age) || !isSelectedBy(value.selectedBy, exchange.headers))
    return undefined
  if (!satisfiesMaxAge(value.initialAge, age, maxAge)) return undefined
  const verdict = (): Verdict => hitVerdict(freshFor)
  return presentResponse(exchange, route, value, preconditionsOf(exchange, route), {
    residentTime: age,
    key,
    verdict,
  })
}
