import type { Answer } from '../response/answer.ts'
import { hitInStore } from './hit.ts'
import type { RequestContext } from './admission.ts'
import { noteError } from './request-report.ts'

const GATEWAY_TIMEOUT: Answer = {
  status: 504,
  fields: { 'content-length': '0' },
  removed: [],
  body: Buffer.alloc(0),
}

/** The answer to `only-if-cached`: a stored response, or a 504 (RFC 9111 section 5.2.1.7). */
export async function answerOnlyIfCached({ exchange, route, key, directives }: RequestContext): Promise<Answer> {
  // Where the cache cannot be read, nothing of it can be served.
  const hit = await hitInStore(exchange, route, key, directives.maxAge).catch(() => undefined)
  if (hit === undefined) noteError(exchange, 'only-if-cached')
  return hit ?? GATEWAY_TIMEOUT
}
