import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { replaceField } from './normalise.ts'

/** Made to tell a request that comes back (RFC 8586): whoever passes a request's fields on passes this one on too. */
const FIELD = 'cdn-loop'
/** Our member, and the random name of a load in it. */
const MEMBER = /(?:^|,)\s*cattlegrid;\s*load=([^\s,;]+)\s*(?=,|$)/g

/** The loads of this process that run, by the names that their handlers are shown, with their keys. Nobody outside can guess one. */
const running = new Map<string, string>()

/** Names a load, until the returned function is called. */
export function registerLoad(name: string, key: string): () => void {
  running.set(name, key)
  return () => {
    running.delete(name)
  }
}

/** The field as the handler of that load is shown it. */
export function cdnLoopField(headers: IncomingHttpHeaders, name: string): Readonly<Record<string, string>> {
  const before = headers[FIELD]
  return { [FIELD]: `${before === undefined ? '' : `${String(before)}, `}cattlegrid; load=${name}` }
}

/** Whether this is a request of the very handler that makes the answer to it, and would wait for itself. */
export function isLoop({ headers }: IncomingMessage, key: string): boolean {
  const field = headers[FIELD]
  if (field === undefined) return false
  return [...String(field).matchAll(MEMBER)].some(([, name = '']) => running.get(name) === key)
}

/** Its handler is shown no name: one that goes on asking for itself waits for the first, until it has waited too long. */
export function removeLoopMembers(req: IncomingMessage): void {
  const left = String(req.headers[FIELD] ?? '').replaceAll(MEMBER, '')
  replaceField(req, FIELD, left.replace(/^\s*,\s*/, '') || undefined)
}
