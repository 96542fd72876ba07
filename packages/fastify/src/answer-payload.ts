import { Readable } from 'node:stream'
import type { Answer } from '@cattlegrid/http'

export type AnswerPayload = string | Buffer | Readable | null | undefined

/**
 * Returns the payload as the hooks would get it from the handler. For GET: as the handler gave it, but text
 * as bytes if no hook gets it. For HEAD: text as text, null as its bytes, and no body as an empty stream.
 */
export function payloadOf({ status, body, whole }: Answer, isHead: boolean, hasOnSend: boolean): AnswerPayload {
  const form = whole?.form
  const stored = whole?.body ?? body
  if (isHead && (stored === undefined || status === 204)) return Readable.from([])
  if (form === 'text' && (isHead || hasOnSend)) return stored?.toString()
  if (form === 'undefined') return undefined
  return form === 'null' && !isHead ? null : (stored ?? null)
}
