import { Readable } from 'node:stream'
import type { Answer } from '@cattlegrid/http'

export type AnswerPayload = string | Buffer | Readable | null | undefined

/**
 * Returns the payload of an answer in the form in which the hooks got it from the handler. Fastify declares the length of it, unless a hook sends another one;
 * for HEAD as well, whose payload its hooks get whole. There an empty stream stands for a payload without a length, and bytes for null, which HEAD routes
 * do not expect. A text that no hook sees is not decoded: Fastify would encode it again.
 */
export function payloadOf({ status, body, whole }: Answer, method: string, hasOnSend: () => boolean): AnswerPayload {
  const form = whole?.form
  const isHead = method === 'HEAD'
  const stored = whole?.body ?? body
  if (isHead && (stored === undefined || status === 204)) return Readable.from([])
  if (form === 'text' && (isHead || hasOnSend())) return stored?.toString()
  if (form === 'undefined') return undefined
  return form === 'null' && !isHead ? null : (stored ?? null)
}
