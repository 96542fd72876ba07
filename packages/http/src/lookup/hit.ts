import type { ReadResult } from '@cattlegrid/core'
import type { Answer } from '../response/answer.ts'
import { servedMember } from '../response/cache-status.ts'
import type { Exchange } from '../exchange.ts'
import { isUsable, isVaryRecord, type Stored } from '../response/recorded-response.ts'
import type { Route } from '../route/route.ts'
import { presentResponse, preconditionsOf } from './present.ts'
import { isChosenBy, variantKey } from '../response/vary.ts'

/**
 * The first exit of the road: a fresh answer that this process has at hand. Nothing is awaited for it and nothing is made that only a
 * longer way needs. undefined: the request goes on.
 */
export function hitInProcess<Req, Res>(
  exchange: Exchange<Req, Res>,
  route: Route<Req, Res>,
  key: string,
): Answer | undefined {
  try {
    const first = route.view.peek<Stored>(key)
    const variant = first === undefined ? undefined : variantKeyIn(exchange, key, first)
    return hitFrom(exchange, route, variant === undefined ? first : route.view.peek<Stored>(variant))
  } catch {
    // The cache was closed: what becomes of the request then is decided where others fail, too.
    return undefined
  }
}

/** The same, where the store may be asked. Rejects with what reading does. */
export async function hitInStore<Req, Res>(
  exchange: Exchange<Req, Res>,
  route: Route<Req, Res>,
  key: string,
): Promise<Answer | undefined> {
  const first = await route.view.read<Stored>(key)
  const variant = first === undefined ? undefined : variantKeyIn(exchange, key, first)
  return hitFrom(exchange, route, variant === undefined ? first : await route.view.read<Stored>(variant))
}

/** The key where this client's variant stands, if a record of variants stands at that of the URL. */
function variantKeyIn({ req }: Exchange, key: string, { value }: ReadResult<Stored>): string | undefined {
  return isVaryRecord(value) ? variantKey(key, value, req.headers) : undefined
}

function hitFrom<Req, Res>(
  exchange: Exchange<Req, Res>,
  route: Route<Req, Res>,
  found: ReadResult<Stored> | undefined,
): Answer | undefined {
  if (found?.state !== 'fresh') return undefined
  const { value, age, freshFor } = found
  if (isVaryRecord(value) || !isUsable(value, age) || !isChosenBy(value.chosenBy, exchange.req.headers))
    return undefined
  const member = (): string => servedMember({ status: 'fresh', role: 'none', freshFor, waited: 0 }, undefined)
  return presentResponse(exchange, route, value, preconditionsOf(exchange, route), { resident: age, waited: 0, member })
}
