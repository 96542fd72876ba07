import { Readable } from 'node:stream'
import type { Answer } from '@cattlegrid/http'

export type AnswerPayload = string | Buffer | Readable | null | undefined

/**
 * Returns the payload as the hooks would get it from the handler. GET: text is decoded only for a hook. HEAD: text is always decoded; bytes stand for null;
 * an empty stream stands for no payload.
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
