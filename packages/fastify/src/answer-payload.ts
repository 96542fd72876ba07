import { Readable } from 'node:stream'
import type { Answer } from '@cattlegrid/http'

export type AnswerPayload = string | Buffer | Readable | null | undefined

/**
 * Returns the payload of an answer in the form in which the hooks got it from the handler. For HEAD an empty stream stands for what Fastify would declare
 * the length of, and for null, which its HEAD routes do not expect. A text that no hook sees is not decoded: Fastify would encode it again.
 */
export function payloadOf({ status, body, whole }: Answer, method: string, hasOnSend: () => boolean): AnswerPayload {
  const form = whole?.form
  const isHead = method === 'HEAD'
  if (form === 'text' && (isHead || hasOnSend())) return whole?.body.toString()
  if (isHead && (form !== 'undefined' || status === 204)) return Readable.from([])
  if (form === 'undefined') return undefined
  return form === 'null' ? null : (whole?.body ?? body ?? null)
}
